// scf.if, scf.for and scf.while. Scalars pass through them as they are; a tensor that does has one
// array, which the branches or the loop write.

#include "compiler/Conversion/TileToCPU/Emitter.h"

using namespace mlir;

namespace kiln::cpu {

static bool isTensorType(Type type) { return isa<RankedTensorType>(type); }

SmallVector<Value> KernelEmitter::emittedScalars(ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values)
    if (!isTensorType(value.getType()))
      result.push_back(scalar(value));
  return result;
}

SmallVector<Type> KernelEmitter::scalarTypes(TypeRange types) {
  SmallVector<Type> result;
  for (Type type : types)
    if (!isTensorType(type))
      result.push_back(lowered(type));
  return result;
}

/// An array for each tensor type; null for scalars.
SmallVector<Buffer *> KernelEmitter::newBuffers(TypeRange types) {
  SmallVector<Buffer *> result;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    result.push_back(tensor ? arena.create(loc, lowered(tensor.getElementType()), tensor.getShape())
                            : nullptr);
  }
  return result;
}

/// Region arguments or results: scalars take the emitted values in order, tensors their arrays.
void KernelEmitter::bindRegion(ValueRange values, ValueRange emitted, ArrayRef<Buffer *> arrays) {
  unsigned next = 0;
  for (auto [value, buffer] : llvm::zip(values, arrays))
    if (buffer)
      buffers[value] = buffer;
    else
      setScalar(value, emitted[next++]);
}

/// The array of `value` is read for the last time by `last`, in the same iteration that made it.
bool KernelEmitter::mayUpdateInPlace(Value value, Operation *last) {
  return buffers.contains(value) && value.getParentBlock() == last->getBlock() &&
         llvm::all_of(plan.consumers(value), [&](const Consumer &c) {
           return plan.position(c.sink) <= plan.position(last);
         });
}

/// Writes the tensors among `values` into the targets (null for scalars), as if all at once: a
/// target may be an array that other values still read.
void KernelEmitter::emitYield(Operation *yield, ValueRange values, ArrayRef<Buffer *> targets) {
  SmallVector<std::pair<Value, Buffer *>> remaining;
  for (auto [value, target] : llvm::zip(values, targets))
    if (target && buffers.lookup(value) != target)
      remaining.push_back({value, target});
  auto reads = [&](Value value, Buffer *target, bool directToo) {
    bool found = false;
    visitPulled(value, true, [&](Value read, bool direct) {
      found |= buffers.lookup(read) == target && (directToo || !direct);
      return true;
    });
    return found;
  };
  auto isSafe = [&](size_t chosen) {
    for (size_t i = 0; i != remaining.size(); ++i)
      if (reads(remaining[i].first, remaining[chosen].second, i != chosen))
        return false;
    // Arrays that stay as they are must not be overwritten either; they are targets of their own.
    return true;
  };
  while (!remaining.empty()) {
    size_t chosen = 0;
    while (chosen != remaining.size() && !isSafe(chosen))
      ++chosen;
    if (chosen == remaining.size())
      break;
    loc = yield->getLoc();
    fillInto(remaining[chosen].second, remaining[chosen].first);
    remaining.erase(remaining.begin() + chosen);
  }
  // What is left swaps arrays with each other: by way of copies.
  SmallVector<Buffer *> copies;
  for (auto [value, target] : remaining) {
    copies.push_back(arena.create(loc, target->valueElement, target->shape));
    fillInto(copies.back(), value);
  }
  for (auto [pair, copy] : llvm::zip(remaining, copies)) {
    auto before = buffers.find(pair.first);
    Buffer *own = before == buffers.end() ? nullptr : before->second;
    buffers[pair.first] = copy;
    fillInto(pair.second, pair.first);
    if (own)
      buffers[pair.first] = own;
    else
      buffers.erase(pair.first);
  }
  pending.clear();
}

void KernelEmitter::emitIf(scf::IfOp op) {
  flushPending();
  SmallVector<Buffer *> results = newBuffers(op.getResultTypes());
  bool hasElse = !op.getElseRegion().empty();
  auto branch = scf::IfOp::create(*b, loc, scalarTypes(op.getResultTypes()),
                                  scalar(op.getCondition()), true, hasElse);
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard restore(*b);
    b->setInsertionPointToEnd(&to.front());
    emitBlock(from.front());
    Operation *yield = from.front().getTerminator();
    emitYield(yield, yield->getOperands(), results);
    scf::YieldOp::create(*b, yield->getLoc(), emittedScalars(yield->getOperands()));
  }
  bindRegion(op.getResults(), branch.getResults(), results);
}

void KernelEmitter::emitFor(scf::ForOp op) {
  flushPending();
  auto packedOutside = packed;
  packInvariants(op);
  Location place = op.getLoc();
  SmallVector<Buffer *> carried;
  DenseSet<Buffer *> taken;
  for (Value init : op.getInitArgs()) {
    Buffer *buffer = nullptr;
    if (isTensorType(init.getType())) {
      if (mayUpdateInPlace(init, op) && taken.insert(buffers[init]).second) {
        carried.push_back(buffers[init]);
        continue;
      }
      buffer = newBuffers(init.getType())[0];
      fillInto(buffer, init);
      taken.insert(buffer);
    }
    carried.push_back(buffer);
  }
  loc = place;
  auto loop = scf::ForOp::create(*b, loc, scalar(op.getLowerBound()), scalar(op.getUpperBound()),
                                 scalar(op.getStep()), emittedScalars(op.getInitArgs()), nullptr,
                                 op.getUnsignedCmp());
  {
    OpBuilder::InsertionGuard restore(*b);
    Block *body = loop.getBody();
    if (!body->empty())
      body->getTerminator()->erase();
    b->setInsertionPointToEnd(body);
    setScalar(op.getInductionVar(), loop.getInductionVar());
    bindRegion(op.getRegionIterArgs(), loop.getRegionIterArgs(), carried);
    emitBlock(*op.getBody());
    Operation *yield = op.getBody()->getTerminator();
    emitYield(yield, yield->getOperands(), carried);
    scf::YieldOp::create(*b, yield->getLoc(), emittedScalars(yield->getOperands()));
  }
  packed = packedOutside;
  bindRegion(op.getResults(), loop.getResults(), carried);
}

void KernelEmitter::emitWhile(scf::WhileOp op) {
  flushPending();
  auto packedOutside = packed;
  packInvariants(op);
  SmallVector<Buffer *> carried = newBuffers(op.getInits().getTypes());
  for (auto [init, buffer] : llvm::zip(op.getInits(), carried))
    if (buffer)
      fillInto(buffer, init);
  loc = op.getLoc();
  SmallVector<Buffer *> forwarded = newBuffers(op.getResultTypes());
  SmallVector<Value> inits = emittedScalars(op.getInits());
  SmallVector<Type> beforeTypes = scalarTypes(op.getInits().getTypes()),
                    afterTypes = scalarTypes(op.getResultTypes());
  auto loop = scf::WhileOp::create(*b, loc, afterTypes, inits);
  OpBuilder::InsertionGuard restore(*b);
  auto enter = [&](Region &region, TypeRange types) {
    SmallVector<Location> locations(types.size(), op.getLoc());
    return b->createBlock(&region, {}, types, locations);
  };
  Block *before = enter(loop.getBefore(), beforeTypes);
  bindRegion(op.getBeforeArguments(), before->getArguments(), carried);
  emitBlock(*op.getBeforeBody());
  scf::ConditionOp condition = op.getConditionOp();
  emitYield(condition, condition.getArgs(), forwarded);
  scf::ConditionOp::create(*b, condition.getLoc(), scalar(condition.getCondition()),
                           emittedScalars(condition.getArgs()));
  Block *after = enter(loop.getAfter(), afterTypes);
  bindRegion(op.getAfterArguments(), after->getArguments(), forwarded);
  emitBlock(*op.getAfterBody());
  Operation *yield = op.getAfterBody()->getTerminator();
  emitYield(yield, yield->getOperands(), carried);
  scf::YieldOp::create(*b, yield->getLoc(), emittedScalars(yield->getOperands()));
  packed = packedOutside;
  bindRegion(op.getResults(), loop.getResults(), forwarded);
}

} // namespace kiln::cpu
