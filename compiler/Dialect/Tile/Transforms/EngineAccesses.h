// Which accesses to described blocks the copy engine (NVIDIA's TMA) makes, and as well as threads
// or better, whoever makes the tensor map that it is told the tensor by.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_ENGINEACCESSES_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_ENGINEACCESSES_H

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

/// For what a map is: one for each, since an empty tensor is made in another way for each
/// (runtime/tensor_map.h), and comparisons go by the map's type.
enum class MapUse { Read, Written, ComparedSigned };
MapUse mapUseOf(tile::AtomicKind kind);

class EngineAccesses {
public:
  explicit EngineAccesses(mlir::func::FuncOp kernel);

  /// Loads of blocks that products multiply as they are.
  bool brings(tile::DescriptorLoadOp load) const;
  /// Of a store or reduction: all but `beginsInside` and `endsWithPiece`.
  bool writes(tile::DescriptorStoreOp store) const;
  bool combines(tile::DescriptorReduceOp reduce) const;

  /// Of a box to be written: an H200 stops with an illegal instruction at one that begins before
  /// the tensor.
  bool beginsInside(mlir::ValueRange offsets) const;
  /// Whether rows of the tensor end between two pieces of 16 bytes: the engine writes the whole
  /// piece (measured on an H200; the PTX ISA does not say so).
  bool endsWithPiece(tile::MakeDescriptorOp make) const;

  /// Rows of whole 16-byte pieces, eight at least, so that swizzled rows fill their pattern; of
  /// other axes one element.
  static bool isBlockOfRows(tile::DescriptorType type);
  /// Whether nobody but dots takes the block, in an order in which matrix units read it in place:
  /// they transpose 16-bit elements alone.
  static bool isMultiplied(mlir::Value block, tile::DescriptorType type, unsigned axisOfRows);

private:
  bool begins(tile::DescriptorType type, mlir::ValueRange offsets) const;
  bool areWholePieces(tile::DescriptorType type, mlir::Value elements) const;

  bool hasProducts;
  AxisInfoAnalysis facts;
};

/// The value that hints tell of.
mlir::Value withoutHints(mlir::Value value);

} // namespace kiln

#endif
