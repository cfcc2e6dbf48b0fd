// The TileGPU operations: their semantics, an example each, and what their verifiers hold.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TILEGPUOPS_TD
#define KILN_COMPILER_DIALECT_TILEGPU_TILEGPUOPS_TD

include "compiler/Dialect/Tile/TileBase.td"
include "compiler/Dialect/TileGPU/TileGPUBase.td"
include "compiler/Dialect/TileGPU/TileGPUInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"

/// Shared memory as a resource of its own: it orders only among itself.
def TileGPU_SharedMemory : Resource<"::kiln::tilegpu::SharedMemory">;

def TileGPU_Scalar : AnyTypeOf<[AnySignlessInteger, AnyFloat, Tile_PtrType], "integer, float or pointer">;
def TileGPU_Tensor : RankedTensorOf<[AnySignlessInteger, AnyFloat, Tile_PtrType]>;
def TileGPU_PtrTensor : RankedTensorOf<[Tile_PtrType]>;
def TileGPU_BoolTensor : RankedTensorOf<[I1]>;

class TileGPU_Op<string mnemonic, list<Trait> traits = []> : Op<TileGPU_Dialect, mnemonic, traits>;

//===-- Layouts ----------------------------------------------------------------------------------------------------===//

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure, DeclareOpInterfaceMethods<TileGPU_ScratchOpInterface>]> {
  let summary = "The same tensor in another layout";
  let description = [{
    Register moves, warp shuffles or an exchange through shared memory, as compiler/Layout/LayoutConversion.h plans it from the
    two layouts. If it goes through shared memory, allocation puts the scratch's offset on it.
    Example: `tilegpu.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>`.
  }];
  let arguments = (ins TileGPU_Tensor:$source);
  let results = (outs TileGPU_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===-- Shared memory ----------------------------------------------------------------------------------------------===//

def TileGPU_AllocOp : TileGPU_Op<"alloc"> {
  let summary = "A buffer in shared memory";
  let description = [{
    Lives from here to its last use. Its contents are undefined. Example: `%b = tilegpu.alloc : !tilegpu.buffer<…>`.
  }];
  let results = (outs Res<TileGPU_BufferType, "", [MemAlloc<TileGPU_SharedMemory>]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_SharedStoreOp : TileGPU_Op<"shared_store", [MemoryEffects<[MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Writes a tensor to a buffer";
  let description = [{
    Other warps see it after the next barrier. Example: `tilegpu.shared_store %x, %b : tensor<64x32xf16, #l>, !tilegpu.buffer<…>`.
  }];
  let arguments = (ins TileGPU_Tensor:$value, TileGPU_BufferType:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def TileGPU_SharedLoadOp : TileGPU_Op<"shared_load", [MemoryEffects<[MemRead<TileGPU_SharedMemory>]>]> {
  let summary = "Reads a buffer as a tensor of any layout";
  let description = "Example: `%x = tilegpu.shared_load %b : !tilegpu.buffer<…> -> tensor<64x32xf16, #l>`.";
  let arguments = (ins TileGPU_BufferType:$buffer);
  let results = (outs TileGPU_Tensor:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_SlotOp : TileGPU_Op<"slot", [Pure, InferTypeOpAdaptor]> {
  let summary = "One tile of a ring";
  let description = [{
    `index` is less than the number of slots. Example: `%b = tilegpu.slot %ring[%i] : !tilegpu.buffer<…, slots 3>`.
  }];
  let arguments = (ins TileGPU_BufferType:$ring, I32:$index);
  let results = (outs TileGPU_BufferType:$result);
  let assemblyFormat = "$ring `[` $index `]` attr-dict `:` type($ring)";
}

def TileGPU_TransBufferOp : TileGPU_Op<"trans_buffer", [Pure, InferTypeOpAdaptor]> {
  let summary = "The same memory with the tile's axes permuted";
  let description = [{
    Axis `i` of the result is axis `order[i]` of the buffer; nothing is moved. Example:
    `%t = tilegpu.trans_buffer %b, [1, 0] : !tilegpu.buffer<64x32xf16, #s>`.
  }];
  let arguments = (ins TileGPU_BufferType:$buffer, DenseI32ArrayAttr:$order);
  let results = (outs TileGPU_BufferType:$result);
  let assemblyFormat = "$buffer `,` $order attr-dict `:` type($buffer)";
}

def TileGPU_CopyAsyncOp : TileGPU_Op<"copy_async", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Starts copying from global memory to a buffer";
  let description = [{
    As `tile.load` then `tilegpu.shared_store`, but the data arrive at some time before a `tilegpu.wait` for the group of the copy.
    Where `mask` is false zero arrives; if `condition` is, zero or nothing. `vector` neighbours of the buffer's rows, 4 to 16 bytes,
    are neighbours in memory, have one mask, and begin at a multiple of their size; a thread has as many. With `counted` they need not
    have one mask, but those of them for which it is true come first.
    Example: `tilegpu.copy_async %p, %b mask %m if %c vector 8 : …`.
  }];
  let arguments = (ins TileGPU_PtrTensor:$ptr, TileGPU_BufferType:$buffer, Optional<TileGPU_BoolTensor>:$mask,
      Optional<I1>:$condition, I32Attr:$vector, UnitAttr:$counted,
      DefaultValuedAttr<Tile_CacheModifierAttr, "::kiln::tile::CacheModifier::None">:$cache,
      DefaultValuedAttr<Tile_EvictionPolicyAttr, "::kiln::tile::EvictionPolicy::Normal">:$evict);
  let assemblyFormat = [{
    $ptr `,` $buffer (`mask` $mask^ (`counted` $counted^)?)? (`if` $condition^)? `vector` $vector attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

def TileGPU_CommitOp : TileGPU_Op<"commit", [MemoryEffects<[MemRead<TileGPU_SharedMemory>,
    MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Makes a group of the thread's copies started since the last one";
  let description = "Groups are waited for in their order, empty ones as well. Example: `tilegpu.commit`.";
  let assemblyFormat = "attr-dict";
}

def TileGPU_WaitOp : TileGPU_Op<"wait", [MemoryEffects<[MemRead<TileGPU_SharedMemory>, MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Waits until at most so many groups of the thread's copies are in flight";
  let description = [{
    What the others brought into the buffers is there for the threads that copied it; other threads need a barrier. Where the target
    counts instructions (`TargetInfo::warpCopies`) each of the pending groups has `copies` of a thread. Example:
    `tilegpu.wait pending 1 for %a, %b : !tilegpu.buffer<…>, !tilegpu.buffer<…>`.
  }];
  let arguments = (ins I32Attr:$pending, Variadic<TileGPU_BufferType>:$buffers, DefaultValuedAttr<I32Attr, "0">:$copies);
  let assemblyFormat = "`pending` $pending (`copies` $copies^)? (`for` $buffers^ `:` type($buffers))? attr-dict";
}

//===-- Copies of blocks -------------------------------------------------------------------------------------------===//

def TileGPU_TmaLoadOp : TileGPU_Op<"tma_load", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Starts copying a described block to a buffer, by the copy engine (Hopper's TMA)";
  let description = [{
    As `tile.descriptor_load` then `tilegpu.shared_store`, of the block with its axes in `order` (without those of one element, if
    the buffer has none of these), but the data arrive at some time
    before a `tilegpu.mbarrier_wait` for the mbarrier's phase, at which this is one arrival. One thread announces the bytes and
    starts the copy; with `by_one_thread` it is known that one comes here. Nothing happens if `condition` is false. The buffer has the swizzled rows that tensor maps tell
    (`swizzledShared` of Layout/StagedOperand.h) along the block's last axis. The descriptor is an argument with `tile.tensor_map`, or
    what `tile.make_tensor_map` gives.

    The engine does not see what threads have stored in the buffer's memory before, nor they what it writes, without
    `tilegpu.proxy_fence` of who stored, and a barrier.

    With `shared_by` n the n blocks of a cluster make the same copy at the same time: each starts a part of the boxes, which come to the
    buffers of all. Each announces all of the bytes at its own mbarrier.
    Example: `tilegpu.tma_load %d[%i, %j], %b, %m if %c order [0, 1] : …`.
  }];
  let arguments = (ins Tile_DescriptorType:$descriptor, Variadic<I64>:$offsets, TileGPU_BufferType:$buffer,
      TileGPU_BufferType:$mbarrier, Optional<I1>:$condition, DenseI32ArrayAttr:$order, UnitAttr:$isByOneThread,
      DefaultValuedAttr<I32Attr, "1">:$shared_by,
      DefaultValuedAttr<Tile_EvictionPolicyAttr, "::kiln::tile::EvictionPolicy::Normal">:$evict);
  let assemblyFormat = [{
    (`by_one_thread` $isByOneThread^)? $descriptor `[` $offsets `]` `,` $buffer `,` $mbarrier (`if` $condition^)? `order` $order attr-dict
    `:` qualified(type($descriptor)) `,` type($buffer) `,` type($mbarrier)
  }];
  let hasVerifier = 1;
}

def TileGPU_TmaStoreOp : TileGPU_Op<"tma_store", [MemoryEffects<[MemRead, MemWrite,
    MemRead<TileGPU_SharedMemory>]>]> {
  let summary = "Copies a buffer to a described block, or combines them, by the copy engine (Hopper's TMA)";
  let description = [{
    As `tilegpu.shared_load` then `tile.descriptor_store`, or, with a kind, `tile.descriptor_reduce`, of which the engine has those that
    kiln-use-tensor-maps knows. One thread starts the copy and waits until the engine has read the buffer, unless the buffer is
    `read_later`: then that is done behind `tilegpu.tma_read_wait`. What the engine writes is done behind `tilegpu.tma_store_wait`.
    Who stored in the buffer has `tilegpu.proxy_fence` before the barrier that stands in front.
    Examples: `tilegpu.tma_store %b, %d[%i, %j] : …`, `tilegpu.tma_store combine <fadd> %b, %d[%i, %j] : …`.
  }];
  let arguments = (ins TileGPU_BufferType:$buffer, Tile_DescriptorType:$descriptor, Variadic<I64>:$offsets,
      OptionalAttr<Tile_AtomicKindAttr>:$kind, UnitAttr:$isReadLater);
  let assemblyFormat = [{
    (`combine` $kind^)? $buffer `,` $descriptor `[` $offsets `]` (`read_later` $isReadLater^)? attr-dict `:` type($buffer) `,` qualified(type($descriptor))
  }];
  let hasVerifier = 1;
}

def TileGPU_TmaReadWaitOp : TileGPU_Op<"tma_read_wait", [MemoryEffects<[MemRead<TileGPU_SharedMemory>,
    MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Waits until the copy engine has read what it has been told to store";
  let description = [{
    The thread that started the copies of the buffer (`tilegpu.tma_store`) waits; others may write there behind a barrier. Where no
    copy has been started nobody waits. Example: `tilegpu.tma_read_wait %b : !tilegpu.buffer<…>`.
  }];
  let arguments = (ins TileGPU_BufferType:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
}

def TileGPU_TmaStoreWaitOp : TileGPU_Op<"tma_store_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until all that the copy engine has been told to write is in memory";
  let description = [{
    The thread that started the copies (`tilegpu.tma_store`) waits; others see what it waited for behind a barrier. The descriptor and kind
    are those of a store that it ends. Example: `tilegpu.tma_store_wait %d : !tile.descriptor<64x64xf32>`.
  }];
  let arguments = (ins Tile_DescriptorType:$descriptor, OptionalAttr<Tile_AtomicKindAttr>:$kind);
  let assemblyFormat = "(`combine` $kind^)? $descriptor attr-dict `:` qualified(type($descriptor))";
}

class TileGPU_MBarrierOp<string mnemonic> : TileGPU_Op<mnemonic,
    [MemoryEffects<[MemRead<TileGPU_SharedMemory>, MemWrite<TileGPU_SharedMemory>]>]>;

def TileGPU_MBarrierInitOp : TileGPU_MBarrierOp<"mbarrier_init"> {
  let summary = "Makes all mbarriers of a ring ready for phases of so many arrivals";
  let description = [{
    mbarriers are rings (or single ones) of one i64 each: PTX ISA, "mbarrier". One thread does it; the others, and the copy engine,
    see it behind the next barrier. The first phase has parity 0. Example: `tilegpu.mbarrier_init %m arrivals 2 : !tilegpu.buffer<…>`.
  }];
  let arguments = (ins TileGPU_BufferType:$mbarriers, I32Attr:$arrivals);
  let assemblyFormat = "$mbarriers `arrivals` $arrivals attr-dict `:` type($mbarriers)";
}

def TileGPU_MBarrierInvalOp : TileGPU_MBarrierOp<"mbarrier_inval"> {
  let summary = "The ring's memory holds no mbarriers any more";
  let description = "One thread does it, when nobody waits for them. Example: `tilegpu.mbarrier_inval %m : !tilegpu.buffer<…>`.";
  let arguments = (ins TileGPU_BufferType:$mbarriers);
  let assemblyFormat = "$mbarriers attr-dict `:` type($mbarriers)";
}

def TileGPU_MBarrierWaitOp : TileGPU_MBarrierOp<"mbarrier_wait"> {
  let summary = "Waits until the mbarrier's phase of this parity is complete";
  let description = [{
    Behind it the waiting threads see what the copies of that phase brought. Example:
    `tilegpu.mbarrier_wait %m parity %p : !tilegpu.buffer<…>`.
  }];
  let arguments = (ins TileGPU_BufferType:$mbarrier, I32:$parity);
  let assemblyFormat = "$mbarrier `parity` $parity attr-dict `:` type($mbarrier)";
}

def TileGPU_MBarrierArriveOp : TileGPU_MBarrierOp<"mbarrier_arrive"> {
  let summary = "One arrival of each warp";
  let description = [{
    What the warp's threads did before is done when the phase is complete. Nothing happens if `condition` is false. With
    `of_cluster` the warp arrives at this mbarrier of each block of the cluster. Example:
    `tilegpu.mbarrier_arrive %m if %c : !tilegpu.buffer<…>`.
  }];
  let arguments = (ins TileGPU_BufferType:$mbarrier, Optional<I1>:$condition, UnitAttr:$isOfCluster);
  let assemblyFormat = "(`of_cluster` $isOfCluster^)? $mbarrier (`if` $condition^)? attr-dict `:` type($mbarrier)";
}

//===-- Roles of warps ---------------------------------------------------------------------------------------------===//

def TileGPU_InProducerWarpOp : TileGPU_Op<"in_producer_warp", [Pure]> {
  let summary = "Whether the thread is in a warp beside the kernel's own";
  let description = "Kernels with `tilegpu.producer_warps` have such. Example: `%p = tilegpu.in_producer_warp`.";
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_SetRegistersOp : TileGPU_Op<"set_registers", [MemoryEffects<[MemRead<TileGPU_SharedMemory>,
    MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "From here on each thread of the warps' group of four has so many registers";
  let description = [{
    Taken from, or given back to, what the block was launched with (`tilegpu.launch_registers`); all warps of the group execute it.
    Example: `tilegpu.set_registers more 240`.
  }];
  let arguments = (ins I32Attr:$count, UnitAttr:$isMore);
  let assemblyFormat = "(`more` $isMore^)? $count attr-dict";
}

def TileGPU_IsProducerOp : TileGPU_Op<"is_producer", [Pure]> {
  let summary = "Whether the thread is the first of a producer's warp";
  let description = "Example: `%p = tilegpu.is_producer`.";
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier", [MemoryEffects<[MemRead<TileGPU_SharedMemory>,
    MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "All threads of the block arrive; accesses to shared and global memory before it happen before those after it";
  let description = [{
    Inserted by the barrier pass; `tile.barrier` is the user's. With a condition, which all threads of the block agree on, there is a
    barrier only if it holds. A producer's warp takes part in those `of_all_warps` alone, and in those `of_cluster`, which all threads of
    all blocks of a cluster meet at. One `of_shared` memory orders accesses to that alone, and one `of_reads` the
    reads of global memory before it before the writes after it, and nothing else (`MemoryFeatures::partialBarriers`).
    Examples: `tilegpu.barrier`, `tilegpu.barrier if %sameArray`, `tilegpu.barrier of_shared`, `tilegpu.barrier of_reads if %sameArray`.
  }];
  let arguments = (ins Optional<I1>:$condition, UnitAttr:$isOfAllWarps, UnitAttr:$isOfCluster,
      UnitAttr:$isOfShared, UnitAttr:$isOfReads);
  let builders = [OpBuilder<(ins "::mlir::Value":$condition), [{
    build($_builder, $_state, condition, false, false, false, false);
  }]>];
  let assemblyFormat = [{
    (`of_all_warps` $isOfAllWarps^)? (`of_cluster` $isOfCluster^)? (`of_shared` $isOfShared^)? (`of_reads` $isOfReads^)?
    (`if` $condition^)? attr-dict
  }];
}

def TileGPU_ClusterArriveOp : TileGPU_Op<"cluster_arrive", [MemoryEffects<[MemRead<TileGPU_SharedMemory>,
    MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "The thread comes to the cluster's barrier, and goes on";
  let description = [{
    What it did before comes before what others do behind their `tilegpu.cluster_wait`, which this thread has next. Example: `tilegpu.cluster_arrive`.
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_ClusterWaitOp : TileGPU_Op<"cluster_wait", [MemoryEffects<[MemRead<TileGPU_SharedMemory>,
    MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Waits until all threads of all blocks of the cluster have arrived";
  let description = "Example: `tilegpu.cluster_wait`.";
  let assemblyFormat = "attr-dict";
}

def TileGPU_ProxyFenceOp : TileGPU_Op<"proxy_fence", [MemoryEffects<[MemRead<TileGPU_SharedMemory>,
    MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "The thread's writes to memory come before what units and engines read there by themselves";
  let description = [{
    Who writes a buffer for a dot that reads it, by stores or by copies that it has waited for, has this between the write and the
    barrier (PTX ISA, "Async proxy"). With `global` also those to global memory, before what copy engines read there. Examples:
    `tilegpu.proxy_fence`, `tilegpu.proxy_fence global`.
  }];
  let arguments = (ins UnitAttr:$isGlobal);
  let assemblyFormat = "(`global` $isGlobal^)? attr-dict";
}

//===-- Computing --------------------------------------------------------------------------------------------------===//

def TileGPU_DotOp : TileGPU_Op<"dot", [AllTypesMatch<["c", "result"]>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Matrix product plus accumulator, on fragments";
  let description = [{
    `tile.dot` with the layouts that `unit` asks for (MatrixTiling::layout of A, B and C); without `unit` by fused
    multiply-adds, the operands in fmaOperandLayout of c's. On a unit that reads shared memory B is a buffer, from
    kiln-stage-operands on, and A may be one.

    With `async`, which such a unit permits, the result may only be an accumulator of another asynchronous dot, or what
    `tilegpu.dot_wait` waits for, and the buffers are read until then. Each is a group of its own.

    With `sum_depth` n other than 0, which such a unit permits too, the unit adds up at most the products of n neighbours along k (or of
    one instruction, if that has more), from zero; their sums are added to c in c's type.

    `scales`, which a unit for such products takes, are in MatrixTiling::scaleLayout.
    Example: `tilegpu.dot %a, %b, %c unit <"mma.m16n8k16.f16.f32", warps 2 x 2> : (…) -> tensor<64x64xf32, #c>`.
  }];
  let arguments = (ins AnyTypeOf<[TileGPU_Tensor, TileGPU_BufferType]>:$a, AnyTypeOf<[TileGPU_Tensor, TileGPU_BufferType]>:$b,
      TileGPU_Tensor:$c, Variadic<TileGPU_Tensor>:$scales, OptionalAttr<TileGPU_MatrixUnitAttr>:$unit,
      DefaultValuedAttr<Tile_InputPrecisionAttr, "::kiln::tile::InputPrecision::TF32">:$precision,
      UnitAttr:$isAsync, DefaultValuedAttr<I32Attr, "0">:$sum_depth);
  let results = (outs TileGPU_Tensor:$result);
  let assemblyFormat = "(`async` $isAsync^)? $a `,` $b `,` $c (`scales` $scales^)? (`unit` $unit^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    bool readsBuffers() { return ::llvm::isa<BufferType>(getB().getType()); }
  }];
  let hasVerifier = 1;
}

def TileGPU_DotWaitOp : TileGPU_Op<"dot_wait", [AllTypesMatch<["accumulators", "results"]>,
    MemoryEffects<[MemRead<TileGPU_SharedMemory>, MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Waits until at most so many asynchronous dots are in flight";
  let description = [{
    The results are the accumulators of dots that are complete then. Without any it says only that the buffers of older dots are no
    longer read by the threads that wait. Example: `%r = tilegpu.dot_wait pending 0 for %c : tensor<64x64xf32, #c>`.
  }];
  let arguments = (ins I32Attr:$pending, Variadic<TileGPU_Tensor>:$accumulators);
  let results = (outs Variadic<TileGPU_Tensor>:$results);
  let assemblyFormat = "`pending` $pending (`for` $accumulators^ `:` type($accumulators))? attr-dict";
}

//===-- Global memory with hardware bounds -------------------------------------------------------------------------===//

class TileGPU_BufferOp<string mnemonic, list<Trait> traits> : TileGPU_Op<mnemonic, [AttrSizedOperandSegments] # traits> {
  dag place = (ins Tile_PtrType:$base, I32:$bytes, Optional<TileGPU_BoolTensor>:$mask, Optional<TileGPU_Tensor>:$offset,
      Optional<I32>:$start, DenseI64ArrayAttr:$strides,
      I32Attr:$axis, I32Attr:$vector,
      DefaultValuedAttr<Tile_CacheModifierAttr, "::kiln::tile::CacheModifier::None">:$cache,
      DefaultValuedAttr<Tile_EvictionPolicyAttr, "::kiln::tile::EvictionPolicy::Normal">:$evict);
}

def TileGPU_BufferLoadOp : TileGPU_BufferOp<"buffer_load", [MemoryEffects<[MemRead]>]> {
  let summary = "A tile from a buffer, zero where it ends";
  let description = [{
    The element at index i is `strides` · i bytes behind `base`, and `start` more, or `offset` of it, each a number without sign. Those at `bytes` (0 to 2^31 - 1;
    with `offset` also 2^32 - 16) and behind, and those whose `mask` is false, are not accessed, and are zero. `vector` neighbours along `axis` are neighbours in memory, begin at a multiple of their
    size, and have one value of `mask`, or the first of them are in it alone; where elements are shorter than 4 bytes a word of 4 lies on one side of the end. Base and
    bytes are what a wave has once (`MemoryFeatures::boundedBuffers`). Example:
    `%x = tilegpu.buffer_load %p bytes %n strides [4] axis 0 vector 4 : (!tile.ptr<f32>, i32) -> tensor<1024xf32, #l>`.
  }];
  let arguments = place;
  let results = (outs TileGPU_Tensor:$result);
  let assemblyFormat = [{
    $base `bytes` $bytes (`mask` $mask^)? (`offset` $offset^)? (`start` $start^)? `strides` $strides `axis` $axis `vector` $vector attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TileGPU_BufferStoreOp : TileGPU_BufferOp<"buffer_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "A tile to a buffer, as far as that goes";
  let description = [{
    The counterpart of `tilegpu.buffer_load`: nothing is written from `bytes` on. Example:
    `tilegpu.buffer_store %x, %p bytes %n strides [4] axis 0 vector 4 : (tensor<1024xf32, #l>, !tile.ptr<f32>, i32) -> ()`.
  }];
  let arguments = !con((ins TileGPU_Tensor:$value), place);
  let assemblyFormat = [{
    $value `,` $base `bytes` $bytes (`mask` $mask^)? (`offset` $offset^)? (`start` $start^)? `strides` $strides `axis` $axis `vector` $vector attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TileGPU_BufferReduceOp : TileGPU_BufferOp<"buffer_reduce", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Atomically combines the elements of a buffer with a tile's; gives the old ones, if they are asked for";
  let description = [{
    What `tilegpu.buffer_store` would write is combined with what is there, each `vector` by one instruction of the target's
    (`bufferReductionBits`), in an order and at a scope as `tile.atomic_rmw` has them. The result is of a layout in which threads
    hold no element twice. Example:
    `tilegpu.buffer_reduce <fadd> %x, %p bytes %n strides [4] axis 0 vector 1 : (tensor<1024xf32, #l>, !tile.ptr<f32>, i32) -> ()`.
  }];
  let arguments = !con((ins Tile_AtomicKindAttr:$kind, TileGPU_Tensor:$value), place,
      (ins DefaultValuedAttr<Tile_MemorySemanticAttr, "::kiln::tile::MemorySemantic::AcquireRelease">:$semantic,
           DefaultValuedAttr<Tile_MemoryScopeAttr, "::kiln::tile::MemoryScope::GPU">:$scope));
  let results = (outs Optional<TileGPU_Tensor>:$result);
  let assemblyFormat = [{
    $kind $value `,` $base `bytes` $bytes (`mask` $mask^)? (`offset` $offset^)? (`start` $start^)? `strides` $strides `axis` $axis `vector` $vector attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TileGPU_BufferCopyOp : TileGPU_BufferOp<"buffer_copy", [MemoryEffects<[MemRead, MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Starts copying from a buffer of global memory to one of shared memory";
  let description = [{
    As `tilegpu.copy_async` of what `tilegpu.buffer_load` would load in `layout`: what is not in range arrives as zero. Example:
    `tilegpu.buffer_copy %b, %p bytes %n strides [256, 2] axis 1 vector 8 as #l : …`.
  }];
  let arguments = !con((ins TileGPU_BufferType:$to), place, (ins TileGPU_LayoutAttr:$layout));
  let assemblyFormat = [{
    $to `,` $base `bytes` $bytes (`mask` $mask^)? (`offset` $offset^)? (`start` $start^)? `strides` $strides `axis` $axis `vector` $vector
    `as` $layout attr-dict `:` type(operands)
  }];
  let extraClassDeclaration = "/// What the copy is of.\n    ::mlir::RankedTensorType getTileType();";
  let hasVerifier = 1;
}

//===-- Below the tensors: one thread's accesses -------------------------------------------------------------------===//

class TileGPU_AccessOp<string mnemonic, list<Trait> traits = []> : TileGPU_Op<mnemonic, traits>;

def TileGPU_GlobalLoadOp : TileGPU_AccessOp<"global_load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "One thread's predicated load from global memory";
  let description = [{
    The value is a scalar or a vector whose size in bits is 8 to 128. If `predicate` is false nothing is accessed and the result is
    `other`, or undefined without it. The address is a multiple of the value's size. A target operation. Example:
    `%v = tilegpu.global_load %p predicate %c other %z : (!llvm.ptr<1>, i1, vector<4xf32>) -> vector<4xf32>`.

    `elements` has a condition for each element of a vector: those before the first that is false are loaded, the others are `other`'s.
    Their memory may be read, as it is within the same aligned 16 bytes, but need not be the array's. The first one is `predicate`.
    Only on targets whose loads go beyond masks (`TargetInfo::loadsBeyondMasks`).
  }];
  let arguments = (ins LLVM_AnyPointer:$ptr, Optional<I1>:$predicate, Optional<AnyType>:$other, Variadic<I1>:$elements,
      DefaultValuedAttr<Tile_CacheModifierAttr, "::kiln::tile::CacheModifier::None">:$cache,
      DefaultValuedAttr<Tile_EvictionPolicyAttr, "::kiln::tile::EvictionPolicy::Normal">:$evict,
      UnitAttr:$is_volatile);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $ptr (`predicate` $predicate^)? (`other` $other^)? (`elements` $elements^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TileGPU_GlobalStoreOp : TileGPU_AccessOp<"global_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "One thread's predicated store to global memory";
  let description = [{
    The counterpart of `tilegpu.global_load`. Example:
    `tilegpu.global_store %p, %v predicate %c : (!llvm.ptr<1>, vector<4xf32>, i1) -> ()`.
  }];
  let arguments = (ins LLVM_AnyPointer:$ptr, AnyType:$value, Optional<I1>:$predicate,
      DefaultValuedAttr<Tile_CacheModifierAttr, "::kiln::tile::CacheModifier::None">:$cache,
      DefaultValuedAttr<Tile_EvictionPolicyAttr, "::kiln::tile::EvictionPolicy::Normal">:$evict);
  let assemblyFormat = "$ptr `,` $value (`predicate` $predicate^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def TileGPU_GlobalReduceOp : TileGPU_AccessOp<"global_reduce", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "One thread's predicated addition to global memory, without the old value";
  let description = [{
    Adds a float, or each of a vector of 16 to 128 bits to the element at its place: atomically each for itself, relaxed, at the
    given scope. The address is a multiple of the value's size. If `predicate` is false nothing is accessed. Which types a target
    has is `TargetInfo::reduction`. `is_device_memory` promises that the address is in ordinary memory of the device. A target
    operation. Example:
    `tilegpu.global_reduce %p, %v predicate %c : (!llvm.ptr<1>, vector<8xf16>, i1) -> ()`.
  }];
  let arguments = (ins LLVM_AnyPointer:$ptr, AnyType:$value, Optional<I1>:$predicate,
      DefaultValuedAttr<Tile_MemoryScopeAttr, "::kiln::tile::MemoryScope::GPU">:$scope, UnitAttr:$is_device_memory);
  let assemblyFormat = "$ptr `,` $value (`predicate` $predicate^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def TileGPU_GlobalCopyOp : TileGPU_AccessOp<"global_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "One thread's predicated copy from global to shared memory, in flight";
  let description = [{
    What NVVM's operation cannot say: if `predicate` is false nothing is copied, and nothing is written. Of the 4, 8 or 16 `bytes`
    those behind the first `copied` (absent: all) become zero. Belongs to the thread's groups of copies
    (`nvvm.cp.async.commit.group`). A target operation. Example:
    `tilegpu.global_copy %to, %from predicate %c copied %n {bytes = 16 : i32} : (!llvm.ptr<3>, !llvm.ptr<1>, i1, i32) -> ()`.
  }];
  let arguments = (ins LLVM_AnyPointer:$to, LLVM_AnyPointer:$from, I1:$predicate, Optional<I32>:$copied, I32Attr:$bytes);
  let assemblyFormat = [{
    $to `,` $from `predicate` $predicate (`copied` $copied^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TileGPU_WarpCopyOp : TileGPU_AccessOp<"warp_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A warp's copy from global to shared memory, 16 bytes a lane, in flight";
  let description = [{
    What lane i finds at its own `from` comes to `to` + 16 i; zeros if its `predicate` is false. All lanes of the warp come here with the
    same `to`. It is there when `rocdl.s.waitcnt` has waited for it (CDNA 4 ISA, "Memory loads to LDS": vmcnt), for other warps behind a
    barrier. A target operation. Example:
    `tilegpu.warp_copy %to, %from predicate %c : (!llvm.ptr<3>, !llvm.ptr<1>, i1) -> ()`.
  }];
  let arguments = (ins LLVM_AnyPointer:$to, LLVM_AnyPointer:$from, I1:$predicate);
  let assemblyFormat = "$to `,` $from `predicate` $predicate attr-dict `:` functional-type(operands, results)";
}

def TileGPU_WarpBufferCopyOp : TileGPU_AccessOp<"warp_buffer_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The same from a buffer";
  let description = [{
    As `tilegpu.warp_copy` of the 16 bytes that are `offset` behind the beginning of `from`, each lane's own; zeros where the buffer ends.
    A target operation. Example: `tilegpu.warp_buffer_copy %to, %from offset %n : (!llvm.ptr<3>, !llvm.ptr<8>, i32) -> ()`.
  }];
  let arguments = (ins LLVM_AnyPointer:$to, LLVM_AnyPointer:$from, I32:$offset);
  let assemblyFormat = "$to `,` $from `offset` $offset attr-dict `:` functional-type(operands, results)";
}

//===-- Below the tensors: tensor maps that the kernel makes --------------------------------------------------------===//

def TileGPU_ClaimMapsOp : TileGPU_AccessOp<"claim_maps", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A warp's threads together get a record for tensor maps in global memory, which is the block's until it releases it";
  let description = [{
    The library's code has an area of such records, of which so many that each block that the device can hold has one, be they of several
    launches: `blocks` on a processor. A record has 128 bytes of the library's own (MapRecord) and 128 for each of `maps`; it begins at a
    multiple of 128. A target operation. Example:
    `%r = tilegpu.claim_maps {maps = 2 : i32, blocks = 4 : i32} : !llvm.ptr<1>`.
  }];
  let arguments = (ins I32Attr:$maps, I32Attr:$blocks);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGPU_ReleaseMapsOp : TileGPU_AccessOp<"release_maps", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "One thread gives a record back, all copies by whose maps it has waited for";
  let description = "A target operation. Example: `tilegpu.release_maps %r : !llvm.ptr<1>`.";
  let arguments = (ins LLVM_AnyPointer:$record);
  let assemblyFormat = "$record attr-dict `:` type($record)";
}

def TileGPU_PublishMapOp : TileGPU_AccessOp<"publish_map", [MemoryEffects<[MemRead<TileGPU_SharedMemory>, MemWrite]>]> {
  let summary = "A warp's threads together copy a tensor map from shared to global memory, and release it for the engine";
  let description = [{
    PTX ISA, "tensormap.cp_fenceproxy". Who uses the map has an acquire (`nvvm.fence.proxy.acquire`) behind it. A target operation. Example: `tilegpu.publish_map %map, %image : !llvm.ptr<1>, !llvm.ptr<3>`.
  }];
  let arguments = (ins LLVM_AnyPointer:$map, LLVM_AnyPointer:$image);
  let assemblyFormat = "$map `,` $image attr-dict `:` type($map) `,` type($image)";
}

//===-- Below the tensors: products of warp groups -----------------------------------------------------------------===//

/// How a matrix operand or accumulator travels: a 64-bit descriptor of shared memory or a 32-bit register.
def TileGPU_HalfPair : FixedVectorOfLengthAndType<[2], [F16]>;
def TileGPU_Accumulator : AnyTypeOf<[F32, I32, TileGPU_HalfPair], "f32, i32 or vector<2xf16>">;

def TileGPU_WgmmaOp : TileGPU_AccessOp<"wgmma", [AttrSizedOperandSegments, AllTypesMatch<["accumulators", "products"]>,
    MemoryEffects<[MemRead<TileGPU_SharedMemory>, MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Four warps start multiplying matrices in shared memory (Hopper's wgmma)";
  let description = [{
    Steps of m64n`n`k, 256 bits of k each, in order and into the same accumulators: PTX ISA, "Asynchronous Warpgroup Level Matrix
    Instructions". `b` has a matrix descriptor for each step; `a` has one, too, or, with A in registers, four registers in the
    fragment layout of mma.m16n8k. A descriptor's matrix is K-major, with `transpose_a` or `transpose_b` (16-bit operands only)
    M- or N-major. Accumulators are n / 2 registers of a thread, n / 4 where they are f16. They are added to, unless
    `use_accumulator` is false (absent: true). Before the first step stands wgmma's fence, unless the product `follows` another one
    with nothing in between; nothing is committed (`nvvm.wgmma.commit.group.sync.aligned`).

    The results are not there yet: only another `tilegpu.wgmma`, as its accumulators, or `tilegpu.wgmma_wait` may take them, also
    by way of a loop. Until a wait that covers the group nobody may write what the descriptors describe. Writes to it by ordinary
    stores before need `nvvm.fence.proxy` of the writing threads, and then a barrier. A target operation. Example:
    `%d:4 = tilegpu.wgmma a(%x) b(%y) into(%c#0, %c#1, %c#2, %c#3) {n = 8 : i32, operand = "f16", accumulator = "f32"} :
    (i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)`.
  }];
  let arguments = (ins Variadic<AnyTypeOf<[I64, I32, TileGPU_HalfPair], "i64, i32 or vector<2xf16>">>:$a, Variadic<I64>:$b,
      Variadic<TileGPU_Accumulator>:$accumulators, Optional<I1>:$use_accumulator, I32Attr:$n, StrAttr:$operand,
      StrAttr:$accumulator, UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$follows);
  let results = (outs Variadic<TileGPU_Accumulator>:$products);
  let assemblyFormat = [{
    `a` `(` $a `)` `b` `(` $b `)` `into` `(` $accumulators `)` (`if` $use_accumulator^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether A is in registers, not in shared memory.
    bool hasRegistersOfA() { return !getA().empty() && !getA().front().getType().isInteger(64); }
    unsigned numSteps() { return getB().size(); }
    /// Elements along k of a step.
    unsigned stepSize();
  }];
}

def TileGPU_WgmmaWaitOp : TileGPU_AccessOp<"wgmma_wait", [AllTypesMatch<["accumulators", "released"]>,
    MemoryEffects<[MemRead<TileGPU_SharedMemory>, MemWrite<TileGPU_SharedMemory>]>]> {
  let summary = "Waits for products of the warp group and gives their accumulators back";
  let description = [{
    At most `pending` committed groups are in flight afterwards. The results are the accumulators, now readable if their group
    is not one of these. A target operation. Example:
    `%r:2 = tilegpu.wgmma_wait %d#0, %d#1 pending 0 : f32, f32`.
  }];
  let arguments = (ins Variadic<TileGPU_Accumulator>:$accumulators, I32Attr:$pending);
  let results = (outs Variadic<TileGPU_Accumulator>:$released);
  let assemblyFormat = "($accumulators^)? `pending` $pending attr-dict (`:` type($accumulators)^)?";
  let hasVerifier = 1;
}

//===-- Messages ---------------------------------------------------------------------------------------------------===//

def TileGPU_PrintOp : TileGPU_AccessOp<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "One thread prints a line";
  let description = [{
    `format` is printf's and ends in a newline; arguments are as C promotes them: i32, i64 or f64. A target operation. Example: `tilegpu.print "pid (%i) x: %f\n"(%p, %x) : i32, f64`.
  }];
  let arguments = (ins StrAttr:$format, Variadic<AnyTypeOf<[I32, I64, F64]>>:$values);
  let assemblyFormat = "$format (`(` $values^ `)` `:` type($values))? attr-dict";
}

def TileGPU_FailOp : TileGPU_AccessOp<"fail", [MemoryEffects<[MemWrite]>]> {
  let summary = "One thread stops the launch with a message";
  let description = [{
    The message names the assertion; the place is the operation's location. A target operation. Example: `tilegpu.fail "x > 0"`.
  }];
  let arguments = (ins StrAttr:$message);
  let assemblyFormat = "$message attr-dict";
}

#endif
