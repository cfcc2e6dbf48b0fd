// The TileGPU dialect: tile programs on a GPU. TileGPUOps.td is the specification.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TILEGPU_H
#define KILN_COMPILER_DIALECT_TILEGPU_TILEGPU_H

#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Layout/LinearLayout.h"
#include "compiler/Layout/MatrixUnits.h"
#include "compiler/Layout/SharedExchange.h"
#include "compiler/Target/DeviceBinary.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

namespace kiln::tilegpu {

/// Shared memory, for memory effects.
struct SharedMemory : public mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "SharedMemory"; }
};

} // namespace kiln::tilegpu

#include "compiler/Dialect/TileGPU/TileGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/TileGPU/TileGPUAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/Dialect/TileGPU/TileGPUTypes.h.inc"

#include "compiler/Dialect/TileGPU/TileGPUInterfaces.h.inc"

#define GET_OP_CLASSES
#include "compiler/Dialect/TileGPU/TileGPUOps.h.inc"

namespace kiln::tilegpu {

/// The layout of a tensor that has one; null encoding otherwise.
LayoutAttr layoutAttrOf(mlir::Type type);
/// The layout of a tensor, which must have one.
const LinearLayout &layoutOf(mlir::Type type);
inline const LinearLayout &layoutOf(mlir::Value value) { return layoutOf(value.getType()); }
/// The tensor type with this layout as its encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, LayoutAttr layout);
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const LinearLayout &layout);

/// Shape and element type of a dot's operand, a tensor or a buffer.
llvm::ArrayRef<int64_t> shapeOfOperand(mlir::Value operand);
mlir::Type elementOfOperand(mlir::Value operand);

/// Bits of one element as a register or shared memory holds it: pointers 64, booleans 8.
unsigned storageBits(mlir::Type elementType);
/// What tensor maps call such an element. They tell signed integers from others only where they
/// compare them, of 32 bits and 64.
TensorMapElement tensorMapElement(mlir::Type elementType, bool isSigned);

/// What one copy by tensor map brings of a descriptor's block: as long rows as shared memory
/// swizzles, and as many of them as the engine takes.
struct TensorBox {
  llvm::SmallVector<int64_t, 5> shape;
  /// 32, 64 or 128; 0: rows are one piece of 16 bytes, or the block lies as in a dense tensor.
  unsigned swizzleBytes = 0;
};
TensorBox tensorBoxOf(tile::DescriptorType type);
/// The same for a copy that `sharers` blocks of a cluster make together, each as many boxes as the
/// others; none where they cannot. `sharers` is a power of two.
std::optional<TensorBox> sharedBoxOf(tile::DescriptorType type, unsigned sharers);
/// How many boxes a block has.
int64_t numBoxes(tile::DescriptorType type, const TensorBox &box);
/// What the launcher's map is made for: the box of the copies by this argument.
TensorBox boxOfMap(mlir::BlockArgument map);
/// Whether a block of this shape has swizzled rows along `axis`: of the others one has more than
/// one element, and as many as the pattern has rows. Others lie as in a dense tensor.
bool hasSwizzledRows(llvm::ArrayRef<int64_t> shape, unsigned axis);
/// The layout of a buffer of a block with rows along `axis`, the last where they are not swizzled.
SharedLayout boxedShared(llvm::ArrayRef<int64_t> shape, unsigned axis, unsigned elementBits);
/// Of a descriptor that the launcher makes; null for others.
tile::TensorMapAttr tensorMapOf(mlir::Value descriptor);
/// Whether the copy engine is told of the tensor: by the launcher or by the kernel.
bool hasTensorMap(mlir::Value descriptor);
/// The pointer to the described tensor's first element, where there is a tensor map.
mlir::Value baseOfMap(mlir::Value descriptor);

/// A ring of mbarriers for phases of so many arrivals.
mlir::Value allocateMBarriers(mlir::OpBuilder &b, mlir::Location loc, unsigned slots,
                              unsigned arrivals);
/// A barrier behind which all see them, and which stands between what threads have stored so far,
/// in global memory too if `isGlobal`, and what the copy engine reads and writes from here on. All:
/// of the kernel's own warps, of producers too, or also of the other blocks of the cluster.
void publishMBarriers(mlir::OpBuilder &b, mlir::Location loc, bool isGlobal, bool toAllWarps,
                      bool toCluster = false);
/// Nobody waits for them any more.
void releaseMBarriers(mlir::OpBuilder &b, mlir::Location loc, mlir::Value mbarriers);

/// The target that the enclosing module names; an error if it names none or an unknown one.
llvm::Expected<TargetInfo> targetOf(mlir::Operation *op);
/// Of a kernel whose described blocks are all served by tensor maps, as passes behind
/// kiln-tile-to-tilegpu expect it; else an error at the operation that is not.
std::optional<TargetInfo> targetOfKernel(mlir::Operation *kernel);

/// What of the target's shared memory exchanges are planned for. Everyone who plans one uses this.
SharedMemoryShape sharedMemoryOf(const TargetInfo &target);

/// Whether one thread makes a load for all that hold the element, and gives them what it read: the
/// element may change between two reads (volatile), and threads that saw it differently would go
/// different ways.
bool isReadForAll(tile::LoadOp load);

/// Bits of the target's widest single addition to memory of elements of this type
/// (tilegpu.global_reduce); 0: it has none.
unsigned reductionBits(mlir::Type element, const TargetInfo &target);
/// The same of what the atomic can be made of; 0 also where it is no addition of floats, or it is a
/// scalar, or its result is used and the target gives no old values of pairs.
unsigned reductionBits(tile::AtomicRMWOp atomic, const TargetInfo &target);

/// Bits of the instruction that the atomic can be made of as an operation on a buffer
/// (tilegpu.buffer_reduce): one element, or two of 16 bits; 0: there is none, or the kernel does
/// not promise that arrays are where the hardware has it, or threads hand out what was there.
unsigned bufferReductionBits(tile::AtomicRMWOp atomic, const TargetInfo &target);

/// Whether an atomic orders what came before it, and what comes after it.
inline bool releases(tile::MemorySemantic semantic) {
  return semantic == tile::MemorySemantic::Release ||
         semantic == tile::MemorySemantic::AcquireRelease;
}
inline bool acquires(tile::MemorySemantic semantic) {
  return semantic == tile::MemorySemantic::Acquire ||
         semantic == tile::MemorySemantic::AcquireRelease;
}

/// Number of warps of the kernel around `op` (`tile.num_warps`).
unsigned numWarpsOf(mlir::Operation *op);

/// Whether the operation, or one in its regions, is a product of matrices.
bool multiplies(mlir::Operation *op);

/// Number of blocks that run a program instance together (`tile.num_ctas`).
unsigned clusterBlocksOf(mlir::Operation *op);

/// Number of warps beside them that only start copies (`tilegpu.producer_warps`).
unsigned producerWarpsOf(mlir::Operation *op);

/// The matrix unit's name for an element type in a dot (f32 with TF32 precision: TF32), if any.
std::optional<MatrixElement> matrixElementOf(mlir::Type type, tile::InputPrecision precision);

} // namespace kiln::tilegpu

#endif
