// scf.if, scf.for and scf.while. A tensor that passes through them has one buffer, which the
// branches or the iterations fill.

#include "compiler/Conversion/TileToCPU/Planner.h"

using namespace mlir;

namespace kiln::cpu {

void Planner::bind(ValueRange values, ArrayRef<const Buffer *> arrays) {
  for (auto [value, buffer] : llvm::zip_equal(values, arrays))
    if (buffer)
      buffers[value] = buffer;
}

bool Planner::reads(Value value, const Buffer *buffer, bool directToo) const {
  bool found = false;
  visitFused(value, [&](Value read, bool direct) {
    found |= buffers.lookup(read) == buffer && (directToo || !direct);
    return true;
  });
  return found;
}

/// A block, and at its end fills of the targets (null for scalars) from the tensors among `values`,
/// as if all at once: a target may be a buffer that other values still read.
void Planner::planRegion(Block &block, ValueRange values, ArrayRef<const Buffer *> targets) {
  planBlock(block);
  Operation *yield = block.getTerminator();
  std::vector<Fill> fills;
  SmallVector<std::pair<Value, const Buffer *>> remaining;
  for (auto [value, target] : llvm::zip_equal(values, targets))
    if (target && buffers.lookup(value) != target)
      remaining.push_back({value, target});
  // Buffers that stay as they are must not be overwritten either; they are targets of their own.
  auto isSafe = [&](size_t chosen) {
    for (size_t i = 0; i != remaining.size(); ++i)
      if (reads(remaining[i].first, remaining[chosen].second, i != chosen))
        return false;
    return true;
  };
  while (!remaining.empty()) {
    size_t chosen = 0;
    while (chosen != remaining.size() && !isSafe(chosen))
      ++chosen;
    if (chosen == remaining.size())
      break;
    fills.push_back(fill(yield->getLoc(), remaining[chosen].second, remaining[chosen].first));
    remaining.erase(remaining.begin() + chosen);
  }
  // What is left swaps buffers with each other: by way of copies.
  SmallVector<const Buffer *> copies;
  for (auto [value, target] : remaining) {
    copies.push_back(newBuffer(target->valueElement, target->shape));
    fills.push_back(fill(yield->getLoc(), copies.back(), value));
  }
  for (auto [pair, copy] : llvm::zip(remaining, copies)) {
    auto [value, target] = pair;
    const Buffer *own = buffers.lookup(value);
    buffers[value] = copy;
    fills.push_back(fill(yield->getLoc(), target, value));
    fills.back().source = copy;
    if (own)
      buffers[value] = own;
    else
      buffers.erase(value);
  }
  pending.clear();
  result.operations[yield].before = std::move(fills);
}

OperationPlan Planner::planIf(scf::IfOp op) {
  OperationPlan plan;
  plan.before = flush();
  plan.results = newBuffers(op.getResultTypes());
  for (Region &region : op->getRegions())
    if (!region.empty())
      planRegion(region.front(), region.front().getTerminator()->getOperands(), plan.results);
  bind(op.getResults(), plan.results);
  return plan;
}

OperationPlan Planner::planFor(scf::ForOp op) {
  OperationPlan plan;
  plan.before = flush();
  auto packedOutside = packed;
  llvm::append_range(plan.before, packInvariants(op));
  DenseSet<const Buffer *> taken;
  for (Value init : op.getInitArgs()) {
    const Buffer *buffer = nullptr;
    if (mayUpdateInPlace(init, op) && taken.insert(buffers.lookup(init)).second) {
      buffer = buffers.lookup(init);
    } else if ((buffer = newBuffer(init.getType()))) {
      plan.before.push_back(fill(op.getLoc(), buffer, init));
      taken.insert(buffer);
    }
    plan.carried.push_back(buffer);
  }
  bind(op.getRegionIterArgs(), plan.carried);
  planRegion(*op.getBody(), op.getYieldedValues(), plan.carried);
  packed = packedOutside;
  plan.results = plan.carried;
  bind(op.getResults(), plan.results);
  return plan;
}

OperationPlan Planner::planWhile(scf::WhileOp op) {
  OperationPlan plan;
  plan.before = flush();
  auto packedOutside = packed;
  llvm::append_range(plan.before, packInvariants(op));
  plan.carried = newBuffers(op.getInits().getTypes());
  for (auto [init, buffer] : llvm::zip_equal(op.getInits(), plan.carried))
    if (buffer)
      plan.before.push_back(fill(op.getLoc(), buffer, init));
  plan.results = newBuffers(op.getResultTypes());
  bind(op.getBeforeArguments(), plan.carried);
  planRegion(*op.getBeforeBody(), op.getConditionOp().getArgs(), plan.results);
  bind(op.getAfterArguments(), plan.results);
  planRegion(*op.getAfterBody(), op.getAfterBody()->getTerminator()->getOperands(), plan.carried);
  packed = packedOutside;
  bind(op.getResults(), plan.results);
  return plan;
}

} // namespace kiln::cpu
