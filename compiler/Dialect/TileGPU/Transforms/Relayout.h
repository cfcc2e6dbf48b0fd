// Addresses in another layout: computed again, as nothing that they are made of costs much.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_RELAYOUT_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_RELAYOUT_H

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// The layout of what is transposed to have `layout` behind it.
tilegpu::LayoutAttr layoutBefore(tile::TransOp trans, tilegpu::LayoutAttr layout);

/// Values of one loop's body.
class Relayout {
public:
  explicit Relayout(mlir::scf::ForOp loop) : loop(loop), rewriter(loop.getContext()) {}

  /// Notes that `value` is wanted in `layout`; false if it cannot be computed again: it hangs on
  /// memory, on threads that meet, or on what another loop or a branch carries.
  bool want(mlir::Value value, tilegpu::LayoutAttr layout);

  /// Behind all wishes: has the loop carry what it needs for them. Returns the loop in its place.
  mlir::scf::ForOp carry();
  /// The value in the layout.
  mlir::Value make(mlir::Value value, tilegpu::LayoutAttr layout);

private:
  using Wish = std::pair<mlir::Value, tilegpu::LayoutAttr>;

  bool isCarried(mlir::Value value);

  mlir::scf::ForOp loop;
  mlir::IRRewriter rewriter;
  llvm::DenseSet<Wish> wanted;
  /// Of what the loop carries: its number.
  llvm::MapVector<Wish, unsigned> carried;
  llvm::DenseMap<Wish, mlir::Value> made;
};

} // namespace kiln

#endif
