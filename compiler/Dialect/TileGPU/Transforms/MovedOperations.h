// Operations that moved to another place of their block, and can go back.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_MOVEDOPERATIONS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_MOVEDOPERATIONS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

class MovedOperations {
public:
  void before(mlir::Operation *op, mlir::Operation *place) {
    moved.push_back({op, op->getNextNode()});
    op->moveBefore(place);
  }
  void undo() {
    for (auto [op, next] : llvm::reverse(moved))
      op->moveBefore(next);
    moved.clear();
  }
  bool empty() const { return moved.empty(); }

private:
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> moved;
};

} // namespace kiln

#endif
