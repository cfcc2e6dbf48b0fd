// The walk over the kernel: which nests there are, what each computes and stores. See the header.

#include "compiler/Conversion/TileToCPU/Planner.h"
#include "compiler/Conversion/TileToCPU/MathFunctions.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::cpu {

LoopPlan planLoops(func::FuncOp kernel, const CPUOptions &options) {
  return Planner(kernel, options).plan();
}

Planner::Planner(func::FuncOp kernel, const CPUOptions &options)
    : result(kernel, options), fusion(kernel, result.facts->indices),
      nests(*result.facts, result.options, buffers) {}

LoopPlan Planner::plan() && {
  planBlock(result.kernel.getBody().front());
  return std::move(result);
}

void Planner::planBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    planOperation(&op);
}

void Planner::planOperation(Operation *op) {
  if (auto map = dyn_cast<tile::MapOp>(op)) {
    // Tensors that wait are the business of the nests around the function, not of branches in it.
    llvm::SetVector<Value> outside;
    std::swap(pending, outside);
    planBlock(map.getBody().front());
    std::swap(pending, outside);
  }
  if (isProducer(op)) {
    for (Value value : op->getResults())
      if (fusion.isMaterialised(value))
        pending.insert(value);
    return;
  }
  auto plan = llvm::TypeSwitch<Operation *, std::optional<OperationPlan>>(op)
                  .Case([&](tile::StoreOp store) { return planStore(store); })
                  .Case([&](tile::ReduceOp reduce) { return planReduce(reduce); })
                  .Case([&](tile::ScanOp scan) { return planScan(scan); })
                  .Case([&](tile::HistogramOp histogram) { return planHistogram(histogram); })
                  .Case([&](tile::DotOp dot) { return planDot(dot); })
                  .Case([&](scf::IfOp branch) { return planIf(branch); })
                  .Case([&](scf::ForOp loop) { return planFor(loop); })
                  .Case([&](scf::WhileOp loop) { return planWhile(loop); })
                  .Case<tile::AtomicRMWOp, tile::AtomicCASOp, tile::PrintOp, tile::AssertOp>(
                      [&](Operation *other) { return planElements(other); })
                  .Default([&](Operation *other) { return planScalar(other); });
  if (plan)
    result.operations[op] = std::move(*plan);
}

//--- Buffers and the nests that fill them ---

const Buffer *Planner::newBuffer(Type element, ArrayRef<int64_t> shape, unsigned minorAxis) {
  return &result.buffers.emplace_back(result.buffers.size(), element, shape, minorAxis);
}

const Buffer *Planner::newBuffer(Type element, ArrayRef<int64_t> shape) {
  return newBuffer(element, shape, shape.empty() ? 0 : shape.size() - 1);
}

const Buffer *Planner::newBuffer(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? newBuffer(lowered(tensor.getElementType()), tensor.getShape()) : nullptr;
}

SmallVector<const Buffer *> Planner::newBuffers(TypeRange types) {
  return llvm::map_to_vector(types, [&](Type type) { return newBuffer(type); });
}

bool Planner::mayUpdateInPlace(Value value, Operation *last) const {
  return isInBuffer(value) && value.getParentBlock() == last->getBlock() &&
         llvm::all_of(fusion.consumers(value), [&](const Consumer &c) {
           return fusion.position(c.root) <= fusion.position(last);
         });
}

void Planner::visitFused(Value root, function_ref<bool(Value, bool)> visit) const {
  cpu::visitFused(
      root, [&](Value value) { return isInBuffer(value); }, visit);
}

std::vector<Fill> Planner::flush() {
  std::vector<Fill> fills;
  while (!pending.empty())
    fills.push_back(materialise(pending.front()));
  return fills;
}

std::vector<Fill> Planner::prepare(ArrayRef<Value> roots, llvm::SetVector<Value> &stored) {
  DenseSet<Value> atIndex, elsewhere;
  for (Value root : roots)
    visitFused(root, [&](Value value, bool direct) {
      if (pending.contains(value))
        (direct ? atIndex : elsewhere).insert(value);
      return direct || !pending.contains(value);
    });
  std::vector<Fill> fills;
  SmallVector<Value> order(pending.getArrayRef());
  for (Value value : order)
    if (elsewhere.contains(value) && pending.contains(value))
      fills.push_back(materialise(value));
  for (Value value : order)
    if (atIndex.contains(value) && pending.contains(value))
      stored.insert(value);
  return fills;
}

void Planner::complete(Nest &nest, ArrayRef<Value> roots, const llvm::SetVector<Value> &stored) {
  llvm::SetVector<Value> fused, read;
  for (Value root : roots)
    visitFused(root, [&](Value value, bool) {
      (isInBuffer(value) ? read : fused).insert(value);
      return true;
    });
  SmallVector<Value> order = fused.takeVector();
  auto place = [&](Value value) {
    return std::pair(fusion.position(value.getDefiningOp()),
                     cast<OpResult>(value).getResultNumber());
  };
  llvm::sort(order, [&](Value a, Value b) { return place(a) < place(b); });
  nest.fused.insert(order.begin(), order.end());
  for (Value value : read)
    nest.read.push_back({value, buffers.lookup(value)});
  addAccesses(nest, roots);
  for (Value value : stored) {
    auto type = cast<RankedTensorType>(value.getType());
    unsigned minor = nest.lanes > 1 ? nest.vectorAxis : type.getRank() - 1;
    const Buffer *buffer = newBuffer(lowered(type.getElementType()), type.getShape(), minor);
    nest.stored.push_back({value, buffer});
    buffers[value] = buffer;
    pending.remove(value);
  }
}

/// The loads that a nest computes, along the axes that the nest's vector axis is of them. Reshapes
/// and gathers have no such axis.
void Planner::addAccesses(Nest &nest, ArrayRef<Value> roots) {
  SmallVector<std::pair<Value, unsigned>> worklist;
  for (Value root : roots)
    worklist.push_back({root, nest.vectorAxis});
  DenseSet<std::pair<Value, unsigned>> seen;
  while (!worklist.empty()) {
    auto [value, axis] = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!isa<RankedTensorType>(value.getType()) || isInBuffer(value) ||
        !seen.insert({value, axis}).second || isa<tile::ReshapeOp, tile::GatherOp>(op))
      continue;
    if (isa<tile::LoadOp>(op))
      nest.accesses.push_back({op, axis});
    unsigned from = axis;
    if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
      if (axis == unsigned(expand.getAxis()))
        continue;
      from = axis - (axis > expand.getAxis());
    } else if (auto trans = dyn_cast<tile::TransOp>(op)) {
      from = trans.getOrder()[axis];
    }
    for (Value operand : op->getOperands())
      worklist.push_back({operand, from});
  }
  llvm::sort(nest.accesses, [&](const Nest::Access &a, const Nest::Access &b) {
    return std::pair(fusion.position(a.op), a.axis) < std::pair(fusion.position(b.op), b.axis);
  });
}

Fill Planner::fill(Location loc, const Buffer *buffer, Value value) {
  Fill made(loc, value, buffer);
  llvm::SetVector<Value> stored;
  made.before = prepare(value, stored);
  // The buffer's own order decides between equals; an access is never worse off for it.
  made.nest = nests.choose(buffer->shape, value);
  complete(made.nest, value, stored);
  return made;
}

Fill Planner::materialise(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  pending.remove(value);
  unsigned minor = nests.choose(type.getShape(), value).vectorAxis;
  const Buffer *buffer = newBuffer(lowered(type.getElementType()), type.getShape(), minor);
  Fill made = fill(value.getLoc(), buffer, value);
  made.isMaterialised = true;
  buffers[value] = buffer;
  return made;
}

//--- Operations ---

/// A nest without vectors: elements go one by one, in row-major order.
Nest Planner::elementNest(ArrayRef<int64_t> shape, ValueRange roots) {
  Nest nest;
  nest.shape.assign(shape.begin(), shape.end());
  nest.vectorAxis = shape.empty() ? 0 : shape.size() - 1;
  complete(nest, SmallVector<Value>(roots), {});
  return nest;
}

OperationPlan Planner::planStore(tile::StoreOp op) {
  OperationPlan plan;
  plan.before = flush();
  auto type = dyn_cast<RankedTensorType>(op.getPtr().getType());
  if (!type)
    return plan;
  for (Operation *guarded : fusion.guardedLoads(op)) {
    auto load = cast<tile::LoadOp>(guarded);
    auto loaded = cast<RankedTensorType>(load.getType());
    unsigned minor = nests.choose(loaded.getShape(), load.getResult()).vectorAxis;
    const Buffer *copy = newBuffer(lowered(loaded.getElementType()), loaded.getShape(), minor);
    plan.guards.push_back({load, fill(op.getLoc(), copy, load.getResult())});
  }
  SmallVector<Value> roots{op.getValue()};
  if (op.getMask())
    roots.push_back(op.getMask());
  plan.nest = nests.choose(type.getShape(), roots, op.getPtr());
  roots.push_back(op.getPtr());
  complete(plan.nest, roots, {});
  plan.nest.accesses.push_back({op, plan.nest.vectorAxis});
  return plan;
}

OperationPlan Planner::planReduce(tile::ReduceOp op) {
  OperationPlan plan;
  SmallVector<Value> roots(op.getSources());
  llvm::SetVector<Value> stored;
  plan.before = prepare(roots, stored);
  // Several vectors at once hide the combiner's latency, unless the elements are long work
  // themselves.
  bool heavy = false;
  for (Value root : roots)
    visitFused(root, [&](Value value, bool) {
      Operation *maker = value.getDefiningOp();
      heavy |= maker && isMathFunction(maker) && !isInBuffer(value);
      return true;
    });
  plan.nest = nests.choose(tile::shapeOf(roots[0].getType()), roots, {}, heavy ? 2 : 4);
  complete(plan.nest, roots, stored);
  unsigned axis = op.getAxis(), vectors = plan.nest.vectorAxis;
  for (Value value : op.getResults()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    unsigned minor = !type ? 0 : vectors == axis ? type.getRank() - 1 : vectors - (vectors > axis);
    plan.results.push_back(type ? newBuffer(lowered(type.getElementType()), type.getShape(), minor)
                                : nullptr);
  }
  bind(op.getResults(), plan.results);
  return plan;
}

/// Along the innermost axis elements follow one another; along another, the innermost runs in
/// vectors.
OperationPlan Planner::planScan(tile::ScanOp op) {
  OperationPlan plan;
  plan.before = flush();
  SmallVector<Value> roots(op.getSources());
  ArrayRef<int64_t> shape = tile::shapeOf(roots[0].getType());
  plan.results = newBuffers(op.getResultTypes());
  plan.nest.shape.assign(shape.begin(), shape.end());
  plan.nest.vectorAxis = shape.size() - 1;
  if (unsigned(op.getAxis()) != plan.nest.vectorAxis)
    plan.nest.lanes = unsigned(
        std::min<uint64_t>(nests.nativeLanes(roots), llvm::bit_floor(uint64_t(shape.back()))));
  complete(plan.nest, roots, {});
  bind(op.getResults(), plan.results);
  return plan;
}

OperationPlan Planner::planHistogram(tile::HistogramOp op) {
  OperationPlan plan;
  plan.before = flush();
  plan.results = newBuffers(op->getResultTypes());
  plan.nest = elementNest(op.getSource().getType().getShape(), op->getOperands());
  bind(op->getResults(), plan.results);
  return plan;
}

/// Only what orders memory accesses: loads that wait stay before it.
std::optional<OperationPlan> Planner::planScalar(Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!isa<tile::BarrierOp, tile::FenceOp>(op) && !(load && isVolatile(load)))
    return std::nullopt;
  OperationPlan plan;
  plan.before = flush();
  return plan;
}

/// Atomics, printing and assertions, whose elements go one by one.
OperationPlan Planner::planElements(Operation *op) {
  OperationPlan plan;
  plan.before = flush();
  for (Value value : op->getResults())
    plan.results.push_back(value.use_empty() ? nullptr : newBuffer(value.getType()));
  if (op->getNumOperands() != 0)
    if (auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType()))
      plan.nest = elementNest(type.getShape(), op->getOperands());
  bind(op->getResults(), plan.results);
  return plan;
}

} // namespace kiln::cpu
