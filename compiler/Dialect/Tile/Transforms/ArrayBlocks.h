// Blocks of arrays that pointers address, recognised.
//
//     a + (first + arange(0, 128))[:, None] * stride + (k * 64 + arange(0, 64))[None, :]
//
// under the mask `k * 64 + arange(0, 64) < K` is the block of 128 x 64 elements at (first, 64·k) of
// an array at `a` with K columns and rows `stride` elements apart: what a descriptor would say. The
// addresses and masks are compared as polynomials (IndexPolynomial.h).
//
// Arrays may have more axes, of which a block has one element: of
//
//     a + batch * stride_b + head * stride_h + rows[:, None] * stride_m + columns[None, :]
//
// it is the block of 1 x 1 x 128 x 64 at (batch, head, first, 64·k). Nothing masks these
// coordinates; what is at them is read, so that they are inside of whatever extents are said to be.
//
// Indices that are kept inside an array without a mask, as in `rows % M`, are other elements than a
// descriptor's zeros; where nobody sees what is computed of them, they may differ.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_ARRAYBLOCKS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_ARRAYBLOCKS_H

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Analysis/IndexPolynomial.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/DenseSet.h"

namespace kiln {

/// The number of the argument that all of these pointers come from.
std::optional<unsigned> arrayOf(mlir::Value pointers, mlir::func::FuncOp kernel);
/// Of the one that a descriptor's tensor begins at.
std::optional<unsigned> arrayOfDescriptor(mlir::Value descriptor, mlir::func::FuncOp kernel);

/// A number that a launcher knows: the product of a constant and of up to two of the kernel's
/// arguments.
struct LaunchValue {
  static constexpr unsigned mostArguments = 2;

  llvm::SmallVector<unsigned, mostArguments> arguments;
  int64_t constant = 1;
};

/// A block of an array of rank 2 to 5: of rows and columns, the last two axes, and of one element
/// along each axis before.
struct ArrayBlock {
  static constexpr unsigned mostAxes = 5;

  /// The kernel's argument that is the address of the first element.
  unsigned base = 0;
  /// Elements between neighbours along each axis but the last, along which they lie side by side.
  std::vector<LaunchValue> strides;
  /// Elements along each axis: beyond them the block has zeros.
  std::vector<LaunchValue> extents;
  /// The coordinates of the block's first element, at least 0 or masked below.
  std::vector<Polynomial> origin;
  /// The loaded tensor's axis 0 is that of columns.
  bool isTransposed = false;
};

/// Recognises the loads of a kernel. Stale after its IR changes, but for replaced loads.
class ArrayBlocks {
public:
  explicit ArrayBlocks(mlir::func::FuncOp kernel);

  /// The block that `load` is of, if the kernel only reads the array: an engine does not see what
  /// other programs have written and said so by atomics. What lies outside of the array loads as
  /// zero; it does so, too, where the load has other values there that never leave the kernel.
  std::optional<ArrayBlock> blockOf(tile::LoadOp load);

  /// Whether what is computed of the elements of `value` from the position `from` on along `axis`
  /// never leaves the kernel.
  bool isUnseen(mlir::Value value, unsigned axis, int64_t from) {
    return isDropped(value, axis, Polynomial::constant(0), Polynomial::constant(from));
  }

  /// A coordinate as an i32 at the builder's place, where `at` is; null if it cannot be computed
  /// there.
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Operation *at,
                          const Polynomial &coordinate);

private:
  friend class BlockReader;

  bool isNonNegative(const Polynomial &sum) const;
  bool isMultipleOf(const Polynomial &sum, int64_t number) const;
  /// Whether what is computed of the elements of `value` at positions i along `axis` with
  /// first + i >= limit never leaves the kernel.
  bool isDropped(mlir::Value value, unsigned axis, const Polynomial &first,
                 const Polynomial &limit);
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Operation *at, Symbol symbol,
                          int64_t &factor);

  mlir::func::FuncOp kernel;
  AxisInfoAnalysis axisInfo;
  mlir::DominanceInfo dominance;
  /// The arguments that the kernel writes to, or that it writes somewhere else as well.
  llvm::SmallDenseSet<unsigned> written;
  bool writesAnywhere = false;
  IndexPolynomials polynomials;
};

} // namespace kiln

#endif
