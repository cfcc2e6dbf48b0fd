// The Tile operations: their semantics, an example each, and what their verifiers hold.
//
// Value types. "T-like" is a scalar of type T or a tensor whose elements are T. Two T-likes "of the same shape" are both
// scalars or both tensors of equal shape (and, below layout assignment, equal encoding).

#ifndef KILN_COMPILER_DIALECT_TILE_TILEOPS_TD
#define KILN_COMPILER_DIALECT_TILE_TILEOPS_TD

include "compiler/Dialect/Tile/TileBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Tile_Scalar : AnyTypeOf<[AnySignlessInteger, AnyFloat, Tile_PtrType], "integer, float or pointer">;
def Tile_Tensor : RankedTensorOf<[AnySignlessInteger, AnyFloat, Tile_PtrType]>;
def Tile_Value : AnyTypeOf<[Tile_Scalar, Tile_Tensor], "scalar or tensor">;
def Tile_IntLike : AnyTypeOf<[AnySignlessInteger, RankedTensorOf<[AnySignlessInteger]>], "integer or tensor of integers">;
def Tile_BoolLike : AnyTypeOf<[I1, RankedTensorOf<[I1]>], "i1 or tensor of i1">;
def Tile_PtrLike : AnyTypeOf<[Tile_PtrType, RankedTensorOf<[Tile_PtrType]>], "pointer or tensor of pointers">;
def Tile_ArithTensor : RankedTensorOf<[AnySignlessInteger, AnyFloat]>;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

//===-- Where in the grid ------------------------------------------------------------------------------------------===//

class Tile_GridOp<string mnemonic> : Tile_Op<mnemonic, [Pure]> {
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}
def Tile_ProgramIdOp : Tile_GridOp<"program_id"> {
  let summary = "Index of this program instance along a grid axis";
  let description = "Example: `%pid = tile.program_id 0 : i32`. At least 0 and less than `tile.num_programs` of the axis.";
}
def Tile_NumProgramsOp : Tile_GridOp<"num_programs"> {
  let summary = "Extent of the grid along an axis";
  let description = "Example: `%n = tile.num_programs 0 : i32`. At least 1.";
}

def Tile_ClusterRankOp : Tile_Op<"cluster_rank", [Pure]> {
  let summary = "Index of this block among the blocks that run one program instance together";
  let description = [{
    Kernels whose `tile.num_ctas` is more than 1 have such blocks (kiln-split-programs). Example: `%r = tile.cluster_rank : i32`. At least
    0 and less than `tile.num_ctas`.
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_ReadRegisterOp : Tile_Op<"read_register", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "What the processor that runs this program instance tells: its number (i32), or the time (i64)";
  let description = [{
    `processor` numbers what runs the instance: a multiprocessor or compute unit, or a CPU of the host. `nanoseconds` is a
    clock that never goes back, from an unspecified start; all threads of the instance get one reading.
    Example: `%t = tile.read_register <nanoseconds> : i64`.
  }];
  let arguments = (ins Tile_DeviceRegisterAttr:$reg);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$reg attr-dict `:` type($result)";
}

//===-- Making tensors and changing their shape --------------------------------------------------------------------===//

def Tile_ArangeOp : Tile_Op<"arange", [Pure]> {
  let summary = "The integers from start (included) to end (excluded)";
  let description = "Example: `%r = tile.arange 0, 128 : tensor<128xi32>`.";
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "$start `,` $end attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A tensor of one scalar";
  let description = "Example: `%t = tile.splat %s : f32 -> tensor<16x32xf32>`.";
  let arguments = (ins Tile_Scalar:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Repeats a tensor along its axes of extent 1";
  let description = "Same rank on both sides. Example: `tile.broadcast %c : tensor<16x1xi32> -> tensor<16x32xi32>`.";
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "Inserts an axis of extent 1";
  let description = "Example: `tile.expand_dims %r, 1 : tensor<16xi32> -> tensor<16x1xi32>` (`x[:, None]`).";
  let arguments = (ins Tile_Tensor:$source, ConfinedAttr<I32Attr, [IntNonNegative]>:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "The same elements, in row-major order, in another shape";
  let description = [{
    With `any_order` the elements may come in any order (Triton's `can_reorder`), so that no data need move.
    Example: `tile.reshape %x : tensor<16x32xf32> -> tensor<512xf32>`.
  }];
  let arguments = (ins Tile_Tensor:$source, UnitAttr:$any_order);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source (`any_order` $any_order^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_TransOp : Tile_Op<"trans", [Pure]> {
  let summary = "Permutes the axes";
  let description = [{
    Axis `i` of the result is axis `order[i]` of the source.
    Example: `tile.trans %x, [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>`.
  }];
  let arguments = (ins Tile_Tensor:$source, DenseI32ArrayAttr:$order);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source `,` $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===-- Pointers ---------------------------------------------------------------------------------------------------===//

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, AllTypesMatch<["ptr", "result"]>]> {
  let summary = "Moves pointers by offsets counted in elements";
  let description = [{
    The offset is signed, of any integer width, and of the pointers' shape.
    Example: `tile.addptr %p, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi32>`.
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_IntLike:$offset);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BitcastOp : Tile_Op<"bitcast", [Pure]> {
  let summary = "The same bits as another type";
  let description = [{
    Between integers and floats of equal width, between pointers of different pointees, and between a pointer and i64 (its
    address). Example: `tile.bitcast %x : tensor<128xf32> -> tensor<128xi32>`.
  }];
  let arguments = (ins Tile_Value:$source);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_WideFloat : AnyTypeOf<[F16, BF16, F32], "f16, bf16 or f32">;
def Tile_ByteFloat : AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ], "float of 8 bits">;

def Tile_NarrowOp : Tile_Op<"narrow", !listconcat([Pure, SameOperandsAndResultShape], ElementwiseMappable.traits)> {
  let summary = "Rounds to a float of 8 bits";
  let description = [{
    To nearest even. What is too large becomes the largest finite number, infinities too; NaN becomes the NaN of its sign
    whose mantissa is all ones (0x7f, 0xff), or the only one that there is (0x80). `arith.truncf` has no such result: it
    makes infinities of what is too large, and constants of other NaNs. There is no `arith.truncf` to these types.
    Example: `tile.narrow %x : tensor<128xf32> to tensor<128xf8E5M2>`.
  }];
  let arguments = (ins AnyTypeOf<[Tile_WideFloat, RankedTensorOf<[Tile_WideFloat]>]>:$source);
  let results = (outs AnyTypeOf<[Tile_ByteFloat, RankedTensorOf<[Tile_ByteFloat]>]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasFolder = 1;
}

def Tile_ByteLike : AnyTypeOf<[I8, RankedTensorOf<[I8]>], "i8 or tensor of i8">;
def Tile_ScaledNumber : AnyTypeOf<[I8, F8E4M3FN, F8E5M2], "i8, f8E4M3FN or f8E5M2">;

def Tile_WidenScaledOp : Tile_Op<"widen_scaled", !listconcat([Pure, SameOperandsAndResultShape], ElementwiseMappable.traits)> {
  let summary = "Numbers of 4 or 8 bits times powers of two; targets with instructions for it alone";
  let description = [{
    Each number times 2^(scale - 127), where a scale is the unsigned byte (e8m0), rounded once, to nearest even: to an infinity
    where that is too large, and to a subnormal number or zero where it is too small. A scale of 255 gives NaN, whatever the
    number; numbers that are infinities or NaN stay so. A byte of i8 is two e2m1 numbers, of which the result is the lower
    one, or with `upper` the other.
    Example: `tile.widen_scaled upper %bytes by %scales : tensor<128xi8>, tensor<128xi8> to tensor<128xbf16>`.
  }];
  let arguments = (ins AnyTypeOf<[Tile_ScaledNumber, RankedTensorOf<[Tile_ScaledNumber]>]>:$source, Tile_ByteLike:$scale,
                   UnitAttr:$upper);
  let results = (outs AnyTypeOf<[Tile_WideFloat, RankedTensorOf<[Tile_WideFloat]>]>:$result);
  let assemblyFormat = "(`upper` $upper^)? $source `by` $scale attr-dict `:` type($source) `,` type($scale) `to` type($result)";
  let hasVerifier = 1;
}

def Tile_WordLike : AnyTypeOf<[I32, RankedTensorOf<[I32]>], "i32 or tensor of i32">;

def Tile_PermuteBytesOp : Tile_Op<"permute_bytes", !listconcat([Pure, SameOperandsAndResultType], ElementwiseMappable.traits)> {
  let summary = "Words of bytes that selectors choose; NVIDIA GPUs alone";
  let description = [{
    Each of the four lowest hexadecimal digits of `selectors` chooses a byte of the result, the lowest digit the lowest: its lower three
    bits number the bytes of `low`, and from 4 on of `high`; where its upper bit is set the result is that byte's sign, eight times.
    Example: `tile.permute_bytes %low, %high, %selectors : tensor<128xi32>`.
  }];
  let arguments = (ins Tile_WordLike:$low, Tile_WordLike:$high, Tile_WordLike:$selectors);
  let results = (outs Tile_WordLike:$result);
  let assemblyFormat = "$low `,` $high `,` $selectors attr-dict `:` type($result)";
}

//===-- Memory -----------------------------------------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Reads the elements that pointers address";
  let description = [{
    Where `mask` is false nothing is read and the element is `other`, or unspecified without `other`.
    Example: `%x = tile.load %p mask %m other %z : (tensor<128x!tile.ptr<f32>>, tensor<128xi1>, tensor<128xf32>) -> tensor<128xf32>`.
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Optional<Tile_BoolLike>:$mask, Optional<Tile_Value>:$other,
      DefaultValuedAttr<Tile_CacheModifierAttr, "::kiln::tile::CacheModifier::None">:$cache,
      DefaultValuedAttr<Tile_EvictionPolicyAttr, "::kiln::tile::EvictionPolicy::Normal">:$evict,
      UnitAttr:$is_volatile);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $ptr (`mask` $mask^)? (`other` $other^)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, CArg<"::mlir::Value", "{}">:$mask,
                                 CArg<"::mlir::Value", "{}">:$other)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes elements where pointers say";
  let description = [{
    Where `mask` is false nothing is written. Two lanes that write different values to one address leave one of them.
    Example: `tile.store %p, %x mask %m : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>, tensor<128xi1>) -> ()`.
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_Value:$value, Optional<Tile_BoolLike>:$mask,
      DefaultValuedAttr<Tile_CacheModifierAttr, "::kiln::tile::CacheModifier::None">:$cache,
      DefaultValuedAttr<Tile_EvictionPolicyAttr, "::kiln::tile::EvictionPolicy::Normal">:$evict);
  let assemblyFormat = "$ptr `,` $value (`mask` $mask^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_AtomicRMWOp : Tile_Op<"atomic_rmw", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Atomically replaces elements by a function of them; gives the old ones";
  let description = [{
    Where `mask` is false nothing happens and the result is unspecified.
    Example: `tile.atomic_rmw <fadd> %p, %x mask %m : (!tile.ptr<f32>, f32, i1) -> f32`.
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_PtrLike:$ptr, Tile_Value:$value, Optional<Tile_BoolLike>:$mask,
      DefaultValuedAttr<Tile_MemorySemanticAttr, "::kiln::tile::MemorySemantic::AcquireRelease">:$semantic,
      DefaultValuedAttr<Tile_MemoryScopeAttr, "::kiln::tile::MemoryScope::GPU">:$scope);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$kind $ptr `,` $value (`mask` $mask^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tile_AtomicCASOp : Tile_Op<"atomic_cas", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Atomically replaces elements that equal `compare` by `value`; gives the old ones";
  let description = [{
    Where `mask` is false nothing happens and the result is unspecified.
    Example: `tile.atomic_cas %p, %c, %v : (!tile.ptr<i32>, i32, i32) -> i32`.
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_Value:$compare, Tile_Value:$value, Optional<Tile_BoolLike>:$mask,
      DefaultValuedAttr<Tile_MemorySemanticAttr, "::kiln::tile::MemorySemantic::AcquireRelease">:$semantic,
      DefaultValuedAttr<Tile_MemoryScopeAttr, "::kiln::tile::MemoryScope::GPU">:$scope);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$ptr `,` $compare `,` $value (`mask` $mask^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===-- Blocks of tensors in memory --------------------------------------------------------------------------------===//

def Tile_MakeDescriptorOp : Tile_Op<"make_descriptor", [Pure, AttrSizedOperandSegments]> {
  let summary = "Describes a tensor in global memory";
  let description = [{
    From the address of its first element, its extents, and its strides in elements, without that of the last axis, which is
    1. The descriptor's type says what must hold of them. Extents are at least 0.
    Example: `%d = tile.make_descriptor %p, [%m, %n], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>`.
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I64>:$extents, Variadic<I64>:$strides);
  let results = (outs Tile_DescriptorType:$result);
  let assemblyFormat = [{
    $base `,` `[` $extents `]` `,` `[` $strides `]` attr-dict `:` qualified(type($base)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_MakeTensorMapOp : Tile_Op<"make_tensor_map", [Pure, AttrSizedOperandSegments]> {
  let summary = "Describes a tensor in global memory to the copy engine, by a tensor map that the kernel makes";
  let description = [{
    As `tile.make_descriptor`, for accesses that the engine makes alone, for which the descriptor is where they use it: it passes through no
    control flow. The next one that the same operation makes takes its place, as in a loop. A map is for reading or for what is `written`;
    comparisons go by `signed` numbers or by those without. Extents are from 0 to 2^31 - 1.
    Example: `%d = tile.make_tensor_map written %p, [%m, %n], [%stride] : !tile.ptr<f16> -> !tile.descriptor<64x32xf16>`.
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I64>:$extents, Variadic<I64>:$strides, UnitAttr:$isWritten, UnitAttr:$isSigned);
  let results = (outs Tile_DescriptorType:$result);
  let assemblyFormat = [{
    (`written` $isWritten^)? (`signed` $isSigned^)? $base `,` `[` $extents `]` `,` `[` $strides `]` attr-dict
    `:` qualified(type($base)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_DescriptorExtentOp : Tile_Op<"descriptor_extent", [Pure]> {
  let summary = "The extent of a described tensor along an axis";
  let description = "Example: `%m = tile.descriptor_extent %d, 0 : !tile.descriptor<64x32xf16>`, an i64.";
  let arguments = (ins Tile_DescriptorType:$descriptor, ConfinedAttr<I32Attr, [IntNonNegative]>:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$descriptor `,` $axis attr-dict `:` qualified(type($descriptor))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_DescriptorStrideOp : Tile_Op<"descriptor_stride", [Pure]> {
  let summary = "The stride of a described tensor along an axis, in elements";
  let description = "Example: `%s = tile.descriptor_stride %d, 0 : !tile.descriptor<64x32xf16>`, an i64. That of the last axis is 1.";
  let arguments = (ins Tile_DescriptorType:$descriptor, ConfinedAttr<I32Attr, [IntNonNegative]>:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$descriptor `,` $axis attr-dict `:` qualified(type($descriptor))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_DescriptorLoadOp : Tile_Op<"descriptor_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads the block whose first element has the given coordinates";
  let description = [{
    Coordinates are signed; the block may begin and end outside of the tensor. The result may leave out the block's axes of one
    element, all of them: `tensor<64x32xf16>` of `!tile.descriptor<1x64x1x32xf16>`.
    Example: `%x = tile.descriptor_load %d[%i, %j] : !tile.descriptor<64x32xf16> -> tensor<64x32xf16>`.
  }];
  let arguments = (ins Tile_DescriptorType:$descriptor, Variadic<I64>:$offsets,
      DefaultValuedAttr<Tile_CacheModifierAttr, "::kiln::tile::CacheModifier::None">:$cache,
      DefaultValuedAttr<Tile_EvictionPolicyAttr, "::kiln::tile::EvictionPolicy::Normal">:$evict);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $descriptor `[` $offsets `]` attr-dict `:` qualified(type($descriptor)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_DescriptorStoreOp : Tile_Op<"descriptor_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes the block whose first element has the given coordinates";
  let description = "Example: `tile.descriptor_store %d[%i, %j], %x : !tile.descriptor<64x32xf16>, tensor<64x32xf16>`.";
  let arguments = (ins Tile_DescriptorType:$descriptor, Variadic<I64>:$offsets, Tile_Tensor:$value);
  let assemblyFormat = [{
    $descriptor `[` $offsets `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_DescriptorReduceOp : Tile_Op<"descriptor_reduce", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Atomically combines the elements of a block with a tensor's; gives nothing back";
  let description = [{
    Every element on its own, without order (relaxed, between all of the device). `xchg` is not among the kinds.
    Example: `tile.descriptor_reduce <fadd> %d[%i, %j], %x : !tile.descriptor<64x32xf32>, tensor<64x32xf32>`.
  }];
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_DescriptorType:$descriptor, Variadic<I64>:$offsets, Tile_Tensor:$value);
  let assemblyFormat = [{
    $kind $descriptor `[` $offsets `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_RowIndices : RankedTensorOf<[AnySignlessInteger]>;

def Tile_DescriptorGatherOp : Tile_Op<"descriptor_gather", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads parts of the rows with the given numbers";
  let description = [{
    Of a descriptor of rank 2 whose blocks are one row, from a column on; row numbers are signed.
    Example: `%x = tile.descriptor_gather %d[%rows, %j] : !tile.descriptor<1x32xf16>, tensor<16xi32> -> tensor<16x32xf16>`.
  }];
  let arguments = (ins Tile_DescriptorType:$descriptor, Tile_RowIndices:$rows, I64:$column);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $descriptor `[` $rows `,` $column `]` attr-dict `:` qualified(type($descriptor)) `,` type($rows) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_DescriptorScatterOp : Tile_Op<"descriptor_scatter", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes parts of the rows with the given numbers";
  let description = [{
    The counterpart of `tile.descriptor_gather`. Of a row that is named twice one of the values is kept.
    Example: `tile.descriptor_scatter %d[%rows, %j], %x : !tile.descriptor<1x32xf16>, tensor<16xi32>, tensor<16x32xf16>`.
  }];
  let arguments = (ins Tile_DescriptorType:$descriptor, Tile_RowIndices:$rows, I64:$column, Tile_Tensor:$value);
  let assemblyFormat = [{
    $descriptor `[` $rows `,` $column `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,` type($rows) `,` type($value)
  }];
  let hasVerifier = 1;
}

//===-- Order ------------------------------------------------------------------------------------------------------===//

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "All of this program instance's earlier accesses happen before its later ones";
  let description = "Triton's `debug_barrier`. Example: `tile.barrier`.";
  let assemblyFormat = "attr-dict";
}

def Tile_FenceOp : Tile_Op<"fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Orders this thread's earlier accesses before its later ones, as seen by the threads of the scope";
  let description = [{
    PTX's `fence.acq_rel` and, with `sequential`, `fence.sc`. It waits for nobody. Example: `tile.fence <gpu>`.
  }];
  let arguments = (ins Tile_MemoryScopeAttr:$scope, UnitAttr:$sequential);
  let assemblyFormat = "$scope (`sequential` $sequential^)? attr-dict";
}

def Tile_AssemblyOp : Tile_Op<"assembly", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "The target's own assembly, as it stands: nothing checks what it does";
  let description = [{
    Every thread runs `text` once for each element that it holds, or once where there are scalars only; threads that hold the
    same element run it for it each. `$0`, `$1` … are the results, then the sources, in registers of LLVM's inline
    assembly: `constraints` is a list of theirs (`=r,r,~{memory}`). Tensors are of one shape; a scalar is the same for all elements. Without `pure`
    it may have any effect, and what it gives may differ between threads.
    ```mlir
    %lane = tile.assembly "mov.u32 $0, %laneid;" "=r"() pure : () -> i32
    ```
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$constraints, Variadic<Tile_Value>:$sources, UnitAttr:$pure);
  let results = (outs Variadic<Tile_Value>:$results);
  let assemblyFormat = "$text $constraints `(` $sources `)` (`pure` $pure^)? attr-dict `:` functional-type($sources, $results)";
  let hasVerifier = 1;
}

//===-- Computing across elements ----------------------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure]> {
  let summary = "Matrix product plus accumulator";
  let description = [{
    `result = a · b + c` over the last two axes, a: [batch x] M x K, b: [batch x] K x N, c and result: [batch x] M x N. Products
    are summed in the type of c, in any order. `precision` says how f32 operands may be rounded.

    With `scales`, of rank 2, every 32 neighbours along K of a row of a, and of a column of b, are multiplied by a power of two: M x K / 32
    and N x K / 32 biased exponents (e8m0; 255 is NaN). Operands of i8 then are pairs of e2m1 numbers, neighbours along K, the first in
    the low bits, and have half as many along K. Targets with such instructions only.
    Example: `tile.dot %a, %b, %c : (tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>`.
  }];
  let arguments = (ins Tile_ArithTensor:$a, Tile_ArithTensor:$b, Tile_ArithTensor:$c,
      Variadic<Tile_ArithTensor>:$scales,
      DefaultValuedAttr<Tile_InputPrecisionAttr, "::kiln::tile::InputPrecision::TF32">:$precision,
      DefaultValuedAttr<I32Attr, "0">:$max_imprecise_acc);
  let results = (outs Tile_ArithTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $c (`scales` $scales^)? attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$c,
      "InputPrecision":$precision, "uint32_t":$maxImpreciseAcc), [{
    build($_builder, $_state, type, a, b, c, ::mlir::ValueRange(), precision, maxImpreciseAcc);
  }]>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

class Tile_FoldingOp<string mnemonic> : Tile_Op<mnemonic, [RecursiveMemoryEffects, SingleBlock, SameVariadicOperandSize]> {
  let regions = (region SizedRegion<1>:$combine);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  code combinerDeclaration = [{
    /// The only operation of the region besides the yield, when it is a binary operation on the two block
    /// arguments; null otherwise.
    ::mlir::Operation *getSingleCombiner();
  }];
}

def Tile_ReduceOp : Tile_FoldingOp<"reduce"> {
  let summary = "Combines all elements along an axis";
  let description = [{
    One or more tensors of one shape are reduced together by the region, which takes an accumulated element of each
    and another element of each, and yields the combination. It is associative; elements are combined in any bracketing,
    neighbours in increasing order unless it commutes (`Combiners.h`). Reducing a rank-1 tensor gives a scalar.
    ```mlir
    %s = tile.reduce(%x) axis 1 : (tensor<16x32xf32>) -> tensor<16xf32> {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      tile.yield %t : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_ArithTensor>:$sources, ConfinedAttr<I32Attr, [IntNonNegative]>:$axis);
  let results = (outs Variadic<Tile_Value>:$results);
  let assemblyFormat = "`(` $sources `)` `axis` $axis attr-dict `:` functional-type(operands, results) $combine";
  let hasCanonicalizer = 1;
  let extraClassDeclaration = combinerDeclaration;
}

def Tile_ScanOp : Tile_FoldingOp<"scan"> {
  let summary = "Running combination of the elements along an axis";
  let description = [{
    Element `i` of a result combines elements 0 to `i` of its source (from the other end with `reverse`). Region as
    for `tile.reduce`; results have the sources' types. Example:
    `tile.scan(%x) axis 0 : (tensor<128xi32>) -> tensor<128xi32> { … }`.
  }];
  let arguments = (ins Variadic<Tile_ArithTensor>:$sources, ConfinedAttr<I32Attr, [IntNonNegative]>:$axis,
                       UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Value>:$results);
  let assemblyFormat = [{
    `(` $sources `)` `axis` $axis (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results) $combine
  }];
  let extraClassDeclaration = combinerDeclaration;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure]> {
  let summary = "Elements picked along an axis";
  let description = [{
    Element `i` of the result is the source's element at `i` with the coordinate along the axis replaced by `indices[i]`
    (signed). The shapes agree but for the source's extent along the axis. An index outside that extent gives an
    unspecified element. Example:
    `tile.gather %x, %i axis 1 : (tensor<16x32xf32>, tensor<16x8xi32>) -> tensor<16x8xf32>`.
  }];
  let arguments = (ins Tile_Tensor:$source, RankedTensorOf<[AnySignlessInteger]>:$indices,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source `,` $indices `axis` $axis attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure]> {
  let summary = "How often each number occurs";
  let description = [{
    Element `i` of the result counts the source's elements that are `i`, of those where the mask holds. What is no number of an
    element of the result is not counted. Example:
    `tile.histogram %x, %m : (tensor<1024xi32>, tensor<1024xi1>) -> tensor<256xi32>`.
  }];
  let arguments = (ins 1DTensorOf<[I32]>:$source, Optional<1DTensorOf<[I1]>>:$mask);
  let results = (outs 1DTensorOf<[I32]>:$result);
  let assemblyFormat = "$source (`,` $mask^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "A function of scalars, once for each element";
  let description = [{
    The region takes one element of each source and yields one of each result, all of one shape. Unlike elementwise
    operations it may branch and loop, for each element on its own. It has no effects on memory.
    ```mlir
    %y = tile.map(%x) : (tensor<128xf32>) -> tensor<128xf32> {
    ^bb0(%e: f32):
      %r = scf.if %c -> f32 { … }
      tile.yield %r : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$sources);
  let results = (outs Variadic<Tile_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $sources `)` attr-dict `:` functional-type(operands, results) $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ReduceOp", "ScanOp", "MapOp"]>]> {
  let summary = "Ends the region of a reduce, scan or map";
  let arguments = (ins Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

//===-- Messages from a running kernel -----------------------------------------------------------------------------===//

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints a line, or one for each element of a tensor";
  let description = [{
    A line is `pid (x, y, z) ` and, with a value, `idx (i, j)` with each index as wide as the axis needs, followed by `format`.
    `format` is printf's, with one conversion for the value and none without: `%i`, `%u` or `%x` for i32, with `ll` for
    i64, `%f` for f32 and f64, `%p` for pointers. Each element is printed once; the lines' order is unspecified.
    Example: `tile.print " x: %f"(%x) : tensor<128xf32>`.
  }];
  let arguments = (ins StrAttr:$format, Optional<Tile_Value>:$value);
  let assemblyFormat = "$format (`(` $value^ `)` `:` type($value))? attr-dict";
  let hasVerifier = 1;
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stops the launch with a message unless every element of the condition holds";
  let description = "Example: `tile.assert %c, \"x > 0\" : tensor<128xi1>`.";
  let arguments = (ins Tile_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

//===-- Facts ------------------------------------------------------------------------------------------------------===//

def Tile_HintOp : Tile_Op<"hint", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "The same value, with facts that the author vouches for";
  let description = [{
    One number per axis (one for a scalar) in each list that is given. Along an axis: the first of every
    `contiguity` aligned neighbours is a multiple of `divisibility`; the neighbours count up by one; every `constancy` aligned
    neighbours are equal (Triton's `multiple_of`, `max_contiguous`, `max_constancy`). Wrong facts are undefined behaviour.
    Example: `tile.hint %x divisibility = [16] : tensor<128xi32>`.
  }];
  let arguments = (ins Tile_Value:$source, OptionalAttr<DenseI64ArrayAttr>:$divisibility,
                       OptionalAttr<DenseI64ArrayAttr>:$contiguity, OptionalAttr<DenseI64ArrayAttr>:$constancy);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = [{
    $source (`divisibility` `=` $divisibility^)? (`contiguity` `=` $contiguity^)? (`constancy` `=` $constancy^)?
    attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "The condition holds; if not, behaviour is undefined";
  let description = "Example: `tile.assume %c : i1`. Analyses read the comparison that made it.";
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict `:` type($condition)";
}

#endif
