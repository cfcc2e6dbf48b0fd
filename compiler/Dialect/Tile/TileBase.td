// The Tile dialect itself, its pointer type and its enumerations. The operations are in TileOps.td.

#ifndef KILN_COMPILER_DIALECT_TILE_TILEBASE_TD
#define KILN_COMPILER_DIALECT_TILE_TILEBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::kiln::tile";
  let summary = "Device-independent tile programs";
  let description = [{
    What a tile kernel computes, before any decision about a device: tensors of static, power-of-two shape,
    raw pointers, and the operations on them that `arith`, `math` and `scf` lack. A kernel is one `func.func` with the
    unit attribute `tile.kernel` and the launch options `tile.num_warps`, `tile.num_stages` and `tile.num_ctas` (i32);
    its body runs once per program instance. Rank-0 values are plain scalars, never `tensor<f32>`.

    An operation here ignores the tensors' encoding: TileGPU uses it for layouts and checks it there.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    /// On the `func.func` of a kernel.
    static constexpr llvm::StringLiteral kernelAttr = "tile.kernel";
    static constexpr llvm::StringLiteral numWarpsAttr = "tile.num_warps";
    static constexpr llvm::StringLiteral numStagesAttr = "tile.num_stages";
    /// What is asked for, and from kiln-split-programs on the blocks that share a program instance.
    static constexpr llvm::StringLiteral numCtasAttr = "tile.num_ctas";
    /// What is asked for of AMD's matrix instructions: rows and columns, and how many are for elements
    /// that a thread reads together. Absent: the compiler's choice.
    static constexpr llvm::StringLiteral matrixSizeAttr = "tile.matrix_instr_nonkdim";
    static constexpr llvm::StringLiteral kPackAttr = "tile.kpack";
    /// On an scf.if with two sides: the condition hardly ever holds.
    static constexpr llvm::StringLiteral unlikelyAttr = "tile.unlikely";
    /// On a loop: warps of their own may bring what its products read.
    static constexpr llvm::StringLiteral warpSpecializeAttr = "tile.warp_specialize";
    /// All that the kernel's pointers reach is ordinary memory of the device that runs it.
    static constexpr llvm::StringLiteral deviceMemoryAttr = "tile.device_memory";
    /// All that a kernel reads and writes by a pointer argument is less than 2 GiB behind it, in bytes and at no
    /// negative offset; pointers that loops move on begin within 2^31 - 32 bytes on either side.
    static constexpr llvm::StringLiteral smallArraysAttr = "tile.small_arrays";
    /// On a kernel argument: the value (for a pointer, the address in bytes) is a multiple of this.
    static constexpr llvm::StringLiteral divisibilityAttr = "tile.divisibility";
    /// On a kernel argument that the launcher makes of others: a tile.TensorMapAttr.
    static constexpr llvm::StringLiteral tensorMapAttr = "tile.tensor_map";
    /// On a kernel: some of its tensor maps are of arrays that are only pointers in its source.
    static constexpr llvm::StringLiteral mapsOfPointersAttr = "tile.maps_of_pointers";
  }];
}

def Tile_PtrType : TypeDef<Tile_Dialect, "Ptr"> {
  let mnemonic = "ptr";
  let summary = "Address of an element in global memory";
  let description = [{
    Arithmetic on it (`tile.addptr`) counts in elements of the pointee, not bytes. A pointee of one bit does not
    exist: booleans in memory are bytes, `!tile.ptr<i8>`. The pointee may itself be a pointer.
  }];
  let parameters = (ins "::mlir::Type":$pointee);
  let assemblyFormat = "`<` $pointee `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee), [{
    return $_get(pointee.getContext(), pointee);
  }]>];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes between neighbouring elements.
    int64_t getElementBytes() const;
  }];
}

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::kiln::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<EnumAttrInfo info, string mnem> : EnumAttr<Tile_Dialect, info, mnem> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_CacheModifier : Tile_Enum<"CacheModifier", "which caches an access goes through", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"CA", 1, "ca">, I32EnumAttrCase<"CG", 2, "cg">,
  I32EnumAttrCase<"CS", 3, "cs">, I32EnumAttrCase<"CV", 4, "cv">, I32EnumAttrCase<"WB", 5, "wb">,
  I32EnumAttrCase<"WT", 6, "wt">]>;
def Tile_EvictionPolicy : Tile_Enum<"EvictionPolicy", "how long a line stays in the cache", [
  I32EnumAttrCase<"Normal", 0, "normal">, I32EnumAttrCase<"First", 1, "evict_first">,
  I32EnumAttrCase<"Last", 2, "evict_last">]>;
def Tile_InputPrecision : Tile_Enum<"InputPrecision", "how a matrix unit may round f32 operands", [
  I32EnumAttrCase<"TF32", 0, "tf32">, I32EnumAttrCase<"TF32x3", 1, "tf32x3">, I32EnumAttrCase<"IEEE", 2, "ieee">,
  I32EnumAttrCase<"BF16x3", 3, "bf16x3">, I32EnumAttrCase<"BF16x6", 4, "bf16x6">]>;
def Tile_AtomicKind : Tile_Enum<"AtomicKind", "what an atomic read-modify-write stores", [
  I32EnumAttrCase<"And", 0, "and">, I32EnumAttrCase<"Or", 1, "or">, I32EnumAttrCase<"Xor", 2, "xor">,
  I32EnumAttrCase<"Add", 3, "add">, I32EnumAttrCase<"FAdd", 4, "fadd">, I32EnumAttrCase<"SMax", 5, "smax">,
  I32EnumAttrCase<"SMin", 6, "smin">, I32EnumAttrCase<"UMax", 7, "umax">, I32EnumAttrCase<"UMin", 8, "umin">,
  I32EnumAttrCase<"FMax", 9, "fmax">, I32EnumAttrCase<"FMin", 10, "fmin">, I32EnumAttrCase<"Exchange", 11, "xchg">]>;
def Tile_MemorySemantic : Tile_Enum<"MemorySemantic", "what an atomic orders", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">, I32EnumAttrCase<"AcquireRelease", 3, "acq_rel">]>;
def Tile_MemoryScope : Tile_Enum<"MemoryScope", "between whom an atomic orders", [
  I32EnumAttrCase<"CTA", 0, "cta">, I32EnumAttrCase<"GPU", 1, "gpu">, I32EnumAttrCase<"System", 2, "sys">]>;
def Tile_Padding : Tile_Enum<"Padding", "what elements outside of a described tensor are loaded as", [
  I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"NaN", 1, "nan">]>;
def Tile_DeviceRegister : Tile_Enum<"DeviceRegister", "what a processor tells about itself", [
  I32EnumAttrCase<"Processor", 0, "processor">, I32EnumAttrCase<"Nanoseconds", 1, "nanoseconds">]>;

def Tile_CacheModifierAttr : Tile_EnumAttr<Tile_CacheModifier, "cache">;
def Tile_EvictionPolicyAttr : Tile_EnumAttr<Tile_EvictionPolicy, "evict">;
def Tile_InputPrecisionAttr : Tile_EnumAttr<Tile_InputPrecision, "precision">;
def Tile_AtomicKindAttr : Tile_EnumAttr<Tile_AtomicKind, "atomic">;
def Tile_MemorySemanticAttr : Tile_EnumAttr<Tile_MemorySemantic, "semantic">;
def Tile_MemoryScopeAttr : Tile_EnumAttr<Tile_MemoryScope, "scope">;
def Tile_DeviceRegisterAttr : Tile_EnumAttr<Tile_DeviceRegister, "register">;

def Tile_TensorMapAttr : AttrDef<Tile_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "Of which of the kernel's arguments a launcher makes a descriptor that it passes";
  let description = [{
    On an argument of a descriptor's type, as `tile.tensor_map`: the number of the argument that is the base, and for each extent,
    and each stride but the last, a product of a constant (`extents`, `strides`) and of arguments, of which these are the
    numbers; -1 stands for none. Of rows of %2 elements, 32 of which are in the tensor:
    `%d: !tile.descriptor<64x32xf16> {tile.tensor_map = #tile.tensor_map<base = 0, extentArguments = [1, -1],
    extents = [1, 32], strideArguments = [2], strideFactors = [-1], strides = [1]>}`.
  }];
  let parameters = (ins "unsigned":$base, "::mlir::DenseI64ArrayAttr":$extentArguments, "::mlir::DenseI64ArrayAttr":$extents,
                        "::mlir::DenseI64ArrayAttr":$strideArguments, "::mlir::DenseI64ArrayAttr":$strideFactors,
                        "::mlir::DenseI64ArrayAttr":$strides);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_DescriptorType : TypeDef<Tile_Dialect, "Descriptor"> {
  let mnemonic = "descriptor";
  let summary = "A tensor in global memory that is accessed in blocks of one shape";
  let description = [{
    `!tile.descriptor<64x32xf16>` describes a tensor of rank 2 and its blocks of 64x32 elements: where it is, its extents and
    its strides. Its first element is at a multiple of 16 bytes, elements of the last axis stand side by side, and all other
    strides are multiples of 16 bytes; otherwise behaviour is undefined. What a block covers outside of the tensor is not
    accessed: it loads as zero, or, of `!tile.descriptor<64x32xf16, nan>`, as NaN, and is not stored. Descriptors pass through
    control flow; they are not kept in memory.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        DefaultValuedParameter<"::kiln::tile::Padding", "::kiln::tile::Padding::Zero">:$padding);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes that the base and all strides but the last are multiples of.
    static constexpr int64_t alignment = 16;

    int64_t getRank() const { return getShape().size(); }
    /// A tensor of the block's elements.
    ::mlir::RankedTensorType getBlockType() const;
    /// The axes along which the block has more than one element.
    ::llvm::SmallVector<int64_t> getLongAxes() const;
    /// A tensor of the block's elements without its axes of one element.
    ::mlir::RankedTensorType getSqueezedBlockType() const;
    int64_t getElementBytes() const;
    /// The number of elements that each stride but the last is a multiple of.
    int64_t getStrideFactor() const;
  }];
}

#endif
