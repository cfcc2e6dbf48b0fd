// scf.if, scf.for and scf.while. Scalars pass through them as they are; tensors are in the buffers
// that the plan gives them.

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

/// Tensors are in these buffers from here on (null for scalars).
void KernelEmitter::bind(ValueRange values, ArrayRef<const Buffer *> arrays) {
  for (auto [value, buffer] : llvm::zip_equal(values, arrays))
    if (buffer)
      buffers[value] = buffer;
}

/// Region arguments or results: the same, and scalars take the emitted values in order.
void KernelEmitter::bind(ValueRange values, ValueRange emitted, ArrayRef<const Buffer *> arrays) {
  bind(values, arrays);
  unsigned next = 0;
  for (auto [value, buffer] : llvm::zip_equal(values, arrays))
    if (!buffer)
      setScalar(value, emitted[next++]);
}

/// The operations of a block, and the fills of the buffers that its tensors leave it in.
void KernelEmitter::emitRegion(Block &block) {
  emitBlock(block);
  emitFills(plan.of(block.getTerminator()).before);
}

void KernelEmitter::emitIf(scf::IfOp op) {
  ArrayRef<const Buffer *> results = plan.of(op).results;
  for (const Buffer *buffer : results)
    allocate(buffer);
  bool hasElse = !op.getElseRegion().empty();
  auto branch = scf::IfOp::create(*b, loc, scalarTypes(op.getResultTypes()),
                                  scalar(op.getCondition()), true, hasElse);
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard restore(*b);
    b->setInsertionPointToEnd(&to.front());
    emitRegion(from.front());
    Operation *yield = from.front().getTerminator();
    scf::YieldOp::create(*b, yield->getLoc(), emittedScalars(yield->getOperands()));
  }
  bind(op.getResults(), branch.getResults(), results);
}

void KernelEmitter::emitFor(scf::ForOp op) {
  ArrayRef<const Buffer *> carried = plan.of(op).carried;
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
    bind(op.getRegionIterArgs(), loop.getRegionIterArgs(), carried);
    emitRegion(*op.getBody());
    Operation *yield = op.getBody()->getTerminator();
    scf::YieldOp::create(*b, yield->getLoc(), emittedScalars(yield->getOperands()));
  }
  bind(op.getResults(), loop.getResults(), carried);
}

void KernelEmitter::emitWhile(scf::WhileOp op) {
  ArrayRef<const Buffer *> carried = plan.of(op).carried, forwarded = plan.of(op).results;
  for (const Buffer *buffer : forwarded)
    allocate(buffer);
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
  bind(op.getBeforeArguments(), before->getArguments(), carried);
  emitRegion(*op.getBeforeBody());
  scf::ConditionOp condition = op.getConditionOp();
  scf::ConditionOp::create(*b, condition.getLoc(), scalar(condition.getCondition()),
                           emittedScalars(condition.getArgs()));
  Block *after = enter(loop.getAfter(), afterTypes);
  bind(op.getAfterArguments(), after->getArguments(), forwarded);
  emitRegion(*op.getAfterBody());
  Operation *yield = op.getAfterBody()->getTerminator();
  scf::YieldOp::create(*b, yield->getLoc(), emittedScalars(yield->getOperands()));
  bind(op.getResults(), loop.getResults(), forwarded);
}

} // namespace kiln::cpu
