#include "compiler/Conversion/TileGPUToLLVM/AtomicOrder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

/// Whether the kernel touches memory, or meets, behind the operation.
static bool isFollowedByAccesses(Operation *op) {
  for (; !isa<func::FuncOp>(op); op = op->getParentOp()) {
    if (!isa<func::FuncOp, scf::IfOp>(op->getParentOp()))
      return true;
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
      if (!next->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(next))
        return true;
  }
  return false;
}

AtomicOrder::AtomicOrder(Operation *op, tile::MemorySemantic semantic, tile::MemoryScope scope)
    : releases(tilegpu::releases(semantic)),
      acquires(tilegpu::acquires(semantic) && isFollowedByAccesses(op)), scope(scope) {}

void AtomicOrder::releaseBlock(const ScalarBuilder &s, const Lowering &lowering) const {
  if (!releases)
    return;
  if (!lowering.target().cumulativeFences && lowering.numWarps > 1 &&
      scope != tile::MemoryScope::CTA)
    lowering.device.waitForStores(s.builder(), s.location());
  lowering.device.barrier(s.builder(), s.location());
}

void AtomicOrder::acquireBlock(const ScalarBuilder &s, const Lowering &lowering) const {
  if (acquires)
    lowering.device.barrier(s.builder(), s.location());
}

void AtomicOrder::performByOwners(
    const ScalarBuilder &s, const Lowering &lowering, Value owner,
    function_ref<void(const ScalarBuilder &, Value owner)> make) const {
  auto perform = [&](const ScalarBuilder &s, Value owner) {
    betweenFences(s, lowering, [&] { make(s, owner); });
  };
  if (!owner || (!releases && !acquires))
    return perform(s, owner);
  scf::IfOp::create(s.builder(), s.location(), owner, [&](OpBuilder &b, Location loc) {
    perform(ScalarBuilder(b, loc), /*owner=*/Value());
    scf::YieldOp::create(b, loc);
  });
}

void AtomicOrder::fence(const ScalarBuilder &s, const Lowering &lowering,
                        LLVM::AtomicOrdering ordering) const {
  LLVM::FenceOp::create(s.builder(), s.location(), ordering, lowering.device.syncScope(scope));
}

} // namespace kiln
