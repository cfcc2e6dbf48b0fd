#include "compiler/Dialect/TileGPU/Transforms/ScalarAddresses.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {

static bool isOnlyAccessed(Value pointer) {
  return llvm::all_of(pointer.getUses(), [](OpOperand &use) {
    auto load = dyn_cast<tile::LoadOp>(use.getOwner());
    auto store = dyn_cast<tile::StoreOp>(use.getOwner());
    return (load && &load.getPtrMutable() == &use) || (store && &store.getPtrMutable() == &use);
  });
}

static bool isOfKernel(Value pointer) {
  auto argument = dyn_cast<BlockArgument>(pointer);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

void addIndicesFirst(func::FuncOp kernel) {
  if (!kernel->hasAttr(tile::TileDialect::smallArraysAttr))
    return;
  SmallVector<tile::AddPtrOp> replaced;
  kernel.walk([&](tile::AddPtrOp second) {
    auto first = second.getPtr().getDefiningOp<tile::AddPtrOp>();
    bool isShort = first && first.getOffset().getType().isInteger(32) &&
                   second.getOffset().getType().isInteger(32);
    if (!isShort || !first->hasOneUse() || !isOfKernel(first.getPtr()) || !isOnlyAccessed(second) ||
        matchPattern(second.getOffset(), m_Constant()))
      return;
    OpBuilder b(second);
    Value sum = arith::AddIOp::create(b, second.getLoc(), first.getOffset(), second.getOffset());
    second.getPtrMutable().assign(first.getPtr());
    second.getOffsetMutable().assign(sum);
    replaced.push_back(first);
  });
  for (tile::AddPtrOp first : replaced)
    first.erase();
}

} // namespace kiln
