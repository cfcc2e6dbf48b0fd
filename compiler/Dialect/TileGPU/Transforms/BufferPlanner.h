// An access of a tile as one of a buffer: its base, its bytes and what lanes add (UseBuffers.cpp).

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_BUFFERPLANNER_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_BUFFERPLANNER_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/ScalarPolynomials.h"
#include "compiler/Dialect/TileGPU/Transforms/ShortOffsets.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {

/// `index * scale` bytes are in range below `bound` of them, by a part of the mask.
struct BufferBound {
  Polynomial bound, uniform;
  int64_t scale;
  bool isNarrow;         ///< the comparison is one of 32 bits: neither side is more
  mlir::Value mask;      ///< what it is of
  Polynomial first = {}; ///< none is in range unless this is below the bound
};

/// A part of the mask that is one for the tile, of numbers that are.
struct TileComparison {
  mlir::arith::CmpIPredicate predicate;
  Polynomial lhs, rhs;
  unsigned bits; ///< of the numbers compared
};

/// Where an access is, and what is in range.
struct BufferPlace {
  mlir::Operation *access;
  mlir::BlockArgument argument;
  Polynomial offset; ///< elements from there
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<BufferBound> bounds;
  llvm::SmallVector<mlir::Value> conditions; ///< i1, of the tile
  llvm::SmallVector<TileComparison> comparisons;
  llvm::SmallVector<mlir::Value> masks; ///< the rest
  unsigned axis = 0, vector = 1;
  int64_t span = 0;                    ///< bytes from the first to behind the last element
  bool isShort = false;                ///< offsets are of 32 bits by a promise
  bool isMoved = false;                ///< of such: loops move the base
  std::optional<Polynomial> rest = {}; ///< of such: ShortOffsets::steadyRest
  Polynomial start = {};               ///< elements that lanes move by in place of the base
};

class BufferPlanner {
public:
  BufferPlanner(mlir::func::FuncOp kernel, const TargetInfo &target);

  /// `condition`: i1 or null; without it nothing is in range.
  std::optional<BufferPlace> plan(mlir::Operation *op, mlir::Value pointers, mlir::Value mask,
                                  mlir::Value condition = {});

  /// The same of an access that is in no loop, where lanes compare whatever bounds it, as they do
  /// for another access: what they know costs less than a number of bytes.
  std::optional<BufferPlace> planInLanes(const BufferPlace &bounded, mlir::Value pointers,
                                         mlir::Value mask);

  struct Buffer {
    mlir::Value base, bytes, mask, offset, start;
  };
  /// At the access.
  Buffer write(const BufferPlace &place, mlir::Value pointers, mlir::OpBuilder &b);

  /// Has lanes move in place of the base where the loop around the access goes up to what bounds
  /// it: the number of bytes is that of the first iteration then, and an iteration's first lane is
  /// in the array, or the one's before. Or, where no loop is around it, where the bound is of all
  /// that the base would move by: nothing is in range unless the first lane is. So no offset comes
  /// to 2^32. Nor does it where all of the tile is accessed in each iteration.
  void moveLanes(BufferPlace &place);

  /// Has lanes that move in a loop begin at the argument, where the bounds are of all that they
  /// have moved by then: as those of an access behind the loop do. Whether they do now.
  bool moveAll(BufferPlace &place);

  /// As it was before.
  void moveBase(BufferPlace &place);

private:
  /// A number: what all of the tile has, and by axis what the element's index is multiplied by.
  struct Split {
    Polynomial uniform;
    llvm::SmallVector<int64_t> strides;
  };

  Polynomial movedIn(const Polynomial &polynomial, mlir::scf::ForOp loop) const;
  bool canMoveBy(const Polynomial &start, mlir::Operation *access);
  bool mayMoveWhole(const BufferPlace &place);
  bool isUpTo(mlir::scf::ForOp loop, const BufferBound &bound);
  Polynomial endBehind(mlir::scf::ForOp loop);
  mlir::Value startOf(const BufferPlace &place, mlir::OpBuilder &b);
  mlir::Value movedBase(const BufferPlace &place, mlir::OpBuilder &b);
  bool mayMoveOffsets(const BufferPlace &place, mlir::Value pointers, mlir::Value mask) const;
  static bool movesAsWell(const BufferPlace &offsets, const BufferPlace &strides);
  bool planStrides(mlir::Value pointers, mlir::Value mask, BufferPlace &place);
  bool comesByScalars(mlir::Value pointers, mlir::Value mask) const;
  bool planOffsets(mlir::Value pointers, mlir::Value mask, BufferPlace &place);
  mlir::Value offsetOf(const BufferPlace &place, mlir::Value pointers, mlir::OpBuilder &b);
  static int64_t bytesOf(const BufferPlace &place);
  mlir::Value number(int64_t value, mlir::OpBuilder &b) const;
  mlir::Value bytesBelow(const BufferBound &bound, int64_t span, mlir::OpBuilder &b);
  std::optional<Split> splitOf(mlir::Value value);
  void takeConditions(mlir::Value mask, BufferPlace &place);
  void splitMask(mlir::Value mask, BufferPlace &place);
  std::optional<TileComparison> uniformComparison(mlir::Value mask);
  mlir::Value compare(const TileComparison &comparison, mlir::OpBuilder &b);
  void takeMask(mlir::Value mask, BufferPlace &place);
  bool takeBound(mlir::Value mask, BufferPlace &place);
  static int64_t scaleBetween(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> bytes);
  bool endsBetweenWords(mlir::arith::CmpIOp comparison, int64_t scale,
                        llvm::ArrayRef<int64_t> strides) const;
  int64_t widestAccess() const;
  bool chooseVector(mlir::Value pointers, mlir::Value mask, BufferPlace &place) const;
  int64_t vectorLength(mlir::Value pointers, mlir::Value mask, const BufferPlace &place,
                       unsigned axis) const;
  int64_t lengthElsewhere(mlir::Value pointers, mlir::Value mask) const;

  const TargetInfo &target;
  AxisInfoAnalysis facts;
  IndexPolynomials polynomials;
  ScalarPolynomials scalars;
  ShortOffsets shortOffsets;
  bool isSmall;
  bool hasProducts;
  llvm::DenseSet<mlir::Value> written; ///< arrays that the kernel stores to
  mlir::Operation *at = nullptr;
  int64_t elementBytes = 0;
};

} // namespace kiln

#endif
