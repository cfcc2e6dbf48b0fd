// Pointers of a tile as a base that loops move on and an offset of 32 bits for each element.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_SHORTOFFSETS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_SHORTOFFSETS_H

#include "compiler/Dialect/TileGPU/Transforms/ScalarPolynomials.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace kiln {

class ShortOffsets {
public:
  ShortOffsets(IndexPolynomials &polynomials, ScalarPolynomials &scalars)
      : polynomials(polynomials), scalars(scalars) {}

  /// Elements by which loops around the access have moved the pointers on: of the tile, and such as
  /// can be written. None where the rest has no offsets that `write` could write.
  std::optional<Polynomial> moves(mlir::Value pointers, mlir::Operation *at);

  /// The elements less `moves`. None where that may differ between iterations of a loop around the
  /// access.
  std::optional<Polynomial> steadyRest(mlir::Value pointers, mlir::Operation *at);

  /// For each element its bytes from the argument, less those of `moves`; modulo 2^32.
  mlir::Value write(mlir::Value pointers, mlir::Operation *at, mlir::OpBuilder &b);

private:
  std::optional<Polynomial> elementsOf(mlir::Value pointers);
  void findLoops(const Polynomial &elements, mlir::Operation *at);
  bool hasMoved(mlir::Value value);
  bool canFollow(mlir::Value value);
  bool isOfLowWords(mlir::Value value);
  mlir::Value follow(mlir::Value value, mlir::OpBuilder &b);
  mlir::Value followOperation(mlir::Operation *op, mlir::OpBuilder &b);

  IndexPolynomials &polynomials;
  ScalarPolynomials &scalars;
  /// Those that move the base; offsets are of their first iterations.
  llvm::SmallPtrSet<mlir::Operation *, 4> loops;
  llvm::DenseMap<mlir::Value, mlir::Value> written;
};

} // namespace kiln

#endif
