#include "compiler/Dialect/Tile/Transforms/TensorViews.h"
#include "compiler/Dialect/Tile/Tile.h"
#include <numeric>

using namespace mlir;

namespace kiln {

bool isView(Operation *op) {
  return isa<tile::BroadcastOp, tile::SplatOp, tile::ExpandDimsOp, tile::TransOp>(op);
}

bool TensorView::stepToSource() {
  Operation *op = value.getDefiningOp();
  if (!op || !isView(op))
    return false;
  if (isa<tile::SplatOp>(op))
    axes.clear();
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    axes.erase(axes.begin() + expand.getAxis());
  if (auto trans = dyn_cast<tile::TransOp>(op)) {
    SmallVector<unsigned, 4> moved(axes.size());
    for (auto [axis, source] : llvm::enumerate(trans.getOrder()))
      moved[source] = axes[axis];
    axes = std::move(moved);
  }
  value = op->getOperand(0);
  return true;
}

TensorView TensorView::source() const {
  TensorView view = *this;
  while (view.stepToSource()) {
  }
  return view;
}

TensorView viewOf(Value tensor) {
  TensorView view{tensor, {}};
  view.axes.resize(tile::shapeOf(tensor.getType()).size());
  std::iota(view.axes.begin(), view.axes.end(), 0);
  return view;
}

} // namespace kiln
