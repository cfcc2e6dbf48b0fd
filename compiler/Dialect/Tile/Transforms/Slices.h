// Slices of tensors along an axis, computed again from slices of what these are made of.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SLICES_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_SLICES_H

#include "compiler/Dialect/Tile/Tile.h"
#include <map>

namespace kiln {

class Slices {
public:
  /// Of `extent` elements from `start` (i32) on. Operations are made where `b` stands when a slice
  /// is asked for.
  Slices(mlir::OpBuilder &b, mlir::Value start, int64_t extent)
      : b(b), start(start), extent(extent) {}

  /// Known, or made of a tensor of numbers, or of what its operands' slices are made of; else
  /// picked out of the whole.
  mlir::Value of(mlir::Value value, unsigned axis);
  /// The operation of slices along its own axis (SliceAxes.h).
  mlir::Operation *clone(mlir::Operation *op, unsigned own);
  void set(mlir::Value whole, unsigned axis, mlir::Value part) {
    known[{whole.getAsOpaquePointer(), axis}] = part;
  }

private:
  mlir::Value make(mlir::Value value, unsigned axis);
  mlir::Value numbersFrom(mlir::Location loc, mlir::Value first);
  mlir::RankedTensorType typeOf(mlir::Type type, unsigned axis) const;
  void weaken(tile::HintOp hint, unsigned axis) const;

  mlir::OpBuilder &b;
  mlir::Value start;
  int64_t extent;
  std::map<std::pair<void *, unsigned>, mlir::Value> known;
};

} // namespace kiln

#endif
