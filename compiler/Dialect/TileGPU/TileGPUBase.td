// The TileGPU dialect itself, its attributes and types. The operations are in TileGPUOps.td.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TILEGPUBASE_TD
#define KILN_COMPILER_DIALECT_TILEGPU_TILEGPUBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tilegpu";
  let cppNamespace = "::kiln::tilegpu";
  let summary = "Tile programs on a GPU: layouts, shared memory, matrix units";
  let description = [{
    Tile, arith, math and scf operations stay what they are; every ranked tensor carries a `#tilegpu.layout` as its
    encoding, which says which register of which lane of which warp holds an element. This dialect adds what those
    have no words for: changes of layout, buffers in shared memory, asynchronous copies, dots on a chosen matrix
    instruction, and the predicated memory accesses that remain at the LLVM level.

    Elementwise operations have operands and results of one layout. Scalars have none: every thread holds them.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::kiln::tile::TileDialect"];
  let extraClassDeclaration = [{
    /// On the module: the target, as parseTarget reads it ("cuda:sm_90a").
    static constexpr llvm::StringLiteral targetAttr = "tilegpu.target";
    /// On the module: of the target MatrixFeatures::takeOperandsAsLoaded (unit).
    static constexpr llvm::StringLiteral wholeOperandsAttr = "tilegpu.whole_operands";
    /// On the module: of the target no MatrixFeatures::neighboursOfResults (unit).
    static constexpr llvm::StringLiteral plainResultsAttr = "tilegpu.plain_results";
    /// On the kernel, after allocation: bytes of shared memory it uses (i32).
    static constexpr llvm::StringLiteral sharedBytesAttr = "tilegpu.shared_bytes";
    /// On an operation, after allocation: byte offset of its scratch or buffer (i32).
    static constexpr llvm::StringLiteral offsetAttr = "tilegpu.offset";
    /// On a convert_layout, where allocation found no room for all at once: in how many slices the
    /// tile goes through its scratch (i32).
    static constexpr llvm::StringLiteral slicesAttr = "tilegpu.slices";

    /// On the kernel: warps beside `tile.num_warps` that only start copies (i32).
    static constexpr llvm::StringLiteral producerWarpsAttr = "tilegpu.producer_warps";
    /// On the kernel: registers that each thread is launched with (i32); no such attribute: the back end's choice.
    static constexpr llvm::StringLiteral launchRegistersAttr = "tilegpu.launch_registers";
    /// On a load: for how many of its registers it starts ahead of all that follows (i32).
    static constexpr llvm::StringLiteral startedAttr = "tilegpu.started";

    void registerAttributesAndTypes();
    /// What operations of the tile dialect answer as ScratchOpInterface.
    void attachScratchModels();
  }];
}

/// Stored once per context, handed out by reference.
def TileGPU_LinearLayout : AttrOrTypeParameter<"::kiln::LinearLayout", "a linear layout", "const ::kiln::LinearLayout &">;

class TileGPU_Attr<string name, string mnem> : AttrDef<TileGPU_Dialect, name> {
  let mnemonic = mnem;
}

def TileGPU_LayoutAttr : TileGPU_Attr<"Layout", "layout"> {
  let summary = "Where every element of a tensor lives";
  let description = [{
    A linear layout with the inputs register, lane, warp and block, in the text form of compiler/Layout/LinearLayout.h:
    `#tilegpu.layout<"register: 0,1; lane: 0,2 1,0; warp: ; block: -> 2x4">`. It is the encoding of tensors.
  }];
  let parameters = (ins TileGPU_LinearLayout:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TileGPU_SharedLayoutAttr : TileGPU_Attr<"SharedLayout", "shared"> {
  let summary = "Where every element of a buffer in shared memory lives";
  let description = [{
    A bijective linear layout with the inputs offset (counted in elements) and block, and optional padding:
    `#tilegpu.shared<"offset: 0,1 0,2 1,1 -> 2x4">`, `#tilegpu.shared<"…", pad 32 + 4>` (4 unused elements after every 32).
  }];
  let parameters = (ins TileGPU_LinearLayout:$map, "unsigned":$padInterval, "unsigned":$padAmount);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::kiln::SharedLayout getShared() const { return {getMap(), getPadInterval(), getPadAmount()}; }
  }];
}

def TileGPU_MatrixUnitAttr : TileGPU_Attr<"MatrixUnit", "matrix_unit"> {
  let summary = "The matrix instruction of a dot, and how warps share it";
  let description = [{
    `#tilegpu.matrix_unit<"mma.m16n8k16.f16.f32", warps 2 x 2>`, with `swapped` after the name if the unit computes
    the transposed product, and `, neighbours 8` where lanes have so many neighbours of a result. Names are those of
    compiler/Layout/MatrixUnits.def.
  }];
  let parameters = (ins "::mlir::StringAttr":$instruction, "bool":$swapped, "unsigned":$warpsM, "unsigned":$warpsN,
                        "unsigned":$neighbours);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::kiln::MatrixTiling getTiling() const;
    static MatrixUnitAttr get(::mlir::MLIRContext *context, const ::kiln::MatrixTiling &tiling);
  }];
}

class TileGPU_Type<string name, string mnem> : TypeDef<TileGPU_Dialect, name> {
  let mnemonic = mnem;
}

def TileGPU_BufferType : TileGPU_Type<"Buffer", "buffer"> {
  let summary = "A tile in shared memory, or a ring of tiles";
  let description = [{
    `!tilegpu.buffer<64x32xf16, #tilegpu.shared<…>>`: one block's tile, at an offset that allocation gives. With `, slots 3` behind
    the layout three such tiles, one after the other: a ring, of which `tilegpu.slot` gives one.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "::kiln::tilegpu::SharedLayoutAttr":$layout, DefaultValuedParameter<"unsigned", "1">:$slots);
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                                   "::kiln::tilegpu::SharedLayoutAttr":$layout), [{
    return $_get($_ctxt, shape, elementType, layout, 1);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of a tile with the tensor's shape and elements, laid out like this.
    static BufferType of(::mlir::RankedTensorType tensor, const ::kiln::SharedLayout &shared);
    /// Bytes of one slot, padding included, and of all.
    int64_t getSlotBytes() const;
    int64_t getBytes() const { return getSlotBytes() * getSlots(); }
    bool isRing() const { return getSlots() > 1; }
    BufferType withSlots(unsigned slots) const;
  }];
}

#endif
