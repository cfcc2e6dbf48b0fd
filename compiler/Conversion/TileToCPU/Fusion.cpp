// What is fused: see the header. One walk against program order meets every use before its
// definition.

#include "compiler/Conversion/TileToCPU/Fusion.h"
#include "compiler/Conversion/TileToCPU/AddressRange.h"
#include "compiler/Conversion/TileToCPU/MathFunctions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln::cpu {

/// Costs are in simple vector operations per vector. From here on a buffer is cheaper than
/// computing again.
static constexpr unsigned worthABuffer = 6;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

bool keepsIndices(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) ||
         isa<tile::LoadOp, tile::AddPtrOp, tile::BitcastOp, tile::HintOp, tile::MapOp>(op);
}

bool isProducer(Operation *op) {
  if (op->getNumResults() == 0 || !isTensor(op->getResult(0)))
    return false;
  return keepsIndices(op) ||
         isa<tile::ArangeOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
             tile::TransOp, tile::GatherOp, arith::ConstantOp, ub::PoisonOp>(op);
}

bool isVolatile(tile::LoadOp load) {
  return load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV;
}

static bool writes(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return isVolatile(load);
  return isa<tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp, tile::BarrierOp, tile::FenceOp>(
      op);
}

void visitFused(Value root, function_ref<bool(Value)> isInBuffer,
                function_ref<bool(Value, bool)> visit) {
  SmallVector<std::pair<Value, bool>> worklist{{root, true}};
  DenseSet<std::pair<Value, char>> seen;
  while (!worklist.empty()) {
    auto [next, direct] = worklist.pop_back_val();
    if (!isTensor(next) || !seen.insert({next, direct}).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (!visit(next, direct) || isInBuffer(next) || !op || !isProducer(op))
      continue;
    for (Value operand : op->getOperands())
      worklist.push_back({operand, direct && keepsIndices(op)});
  }
}

Fusion::Fusion(func::FuncOp kernel, IndexFacts &facts) : facts(facts) {
  SmallVector<Operation *> order;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    positions[op] = order.size();
    order.push_back(op);
    if (writes(op))
      for (Operation *holder = op; holder; holder = holder->getParentOp())
        writers.insert(holder);
    unsigned cost = ownCost(op);
    if (isProducer(op))
      for (Value operand : op->getOperands())
        cost += costs.lookup(operand);
    for (Value result : op->getResults())
      costs[result] = isProducer(op) ? std::min(cost, 1000u) : 1;
  });
  for (Operation *op : llvm::reverse(order))
    for (Value result : op->getResults())
      if (isTensor(result)) {
        collectConsumers(result);
        if (isProducer(op) && shouldMaterialise(op, result))
          materialised.insert(result);
      }
  kernel.walk([&](Block *block) {
    for (Value argument : block->getArguments())
      if (isTensor(argument))
        collectConsumers(argument);
  });
}

ArrayRef<Consumer> Fusion::consumers(Value value) const {
  auto found = consumerLists.find(value);
  return found == consumerLists.end() ? ArrayRef<Consumer>() : ArrayRef<Consumer>(found->second);
}

ArrayRef<Operation *> Fusion::guardedLoads(Operation *store) const {
  auto found = guarded.find(store);
  return found == guarded.end() ? ArrayRef<Operation *>() : ArrayRef<Operation *>(found->second);
}

void Fusion::addConsumer(Value value, Consumer consumer) {
  SmallVector<Consumer, 2> &list = consumerLists[value];
  auto same =
      llvm::find_if(list, [&](const Consumer &other) { return other.root == consumer.root; });
  // A root in a loop inside the value's block computes it in every iteration.
  for (Operation *holder = consumer.root->getParentOp();
       holder != value.getParentBlock()->getParentOp(); holder = holder->getParentOp())
    consumer.repeated |= isa<scf::ForOp, scf::WhileOp>(holder);
  if (same == list.end()) {
    list.push_back(consumer);
    return;
  }
  same->direct &= consumer.direct;
  same->repeated |= consumer.repeated;
}

void Fusion::collectConsumers(Value value) {
  for (Operation *user : value.getUsers()) {
    if (!isProducer(user)) {
      addConsumer(value, {user, true, false});
      continue;
    }
    bool direct = keepsIndices(user);
    // A gather may ask for one element any number of times.
    bool repeated = isa<tile::BroadcastOp, tile::GatherOp>(user) &&
                    cast<RankedTensorType>(value.getType()).getNumElements() > 1;
    for (Value result : user->getResults()) {
      if (materialised.contains(result)) {
        addConsumer(value, {user, direct, repeated});
        continue;
      }
      for (Consumer consumer : SmallVector<Consumer>(consumers(result)))
        addConsumer(value,
                    {consumer.root, consumer.direct && direct, consumer.repeated || repeated});
    }
  }
}

unsigned Fusion::ownCost(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    bool uniform = true;
    for (unsigned axis = 0, rank = tile::shapeOf(load.getType()).size(); axis != rank; ++axis) {
      std::optional<int64_t> stride = facts.stride(load.getPtr(), axis);
      if (stride == 1)
        return 2;
      uniform &= stride == 0;
    }
    return uniform ? 1 : 8;
  }
  if (isMathFunction(op))
    return 12;
  if (isa<tile::GatherOp>(op))
    return 8;
  if (isa<tile::MapOp>(op))
    return 20;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::DivFOp,
          arith::RemFOp, math::SqrtOp, math::RsqrtOp>(op))
    return 6;
  return OpTrait::hasElementwiseMappableTraits(op) ? 1 : 0;
}

bool Fusion::shouldMaterialise(Operation *op, Value value) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    if (mustStandWhereItIs(load))
      return true;
  // Changes of shape cost nothing; what they change is materialised before, where it is smaller.
  if (!keepsIndices(op) || isa<tile::HintOp>(op))
    return false;
  ArrayRef<Consumer> list = consumers(value);
  bool again = list.size() > 1 || llvm::any_of(list, [](const Consumer &c) { return c.repeated; });
  // These go element by element, so that vector work is better done before.
  bool elementwise = llvm::any_of(list, [](const Consumer &c) {
    return isa<tile::ScanOp, tile::HistogramOp, tile::AtomicRMWOp, tile::AtomicCASOp>(c.root);
  });
  return (again && costs.lookup(value) >= worthABuffer) || (elementwise && costs.lookup(value) > 2);
}

bool Fusion::writesBetween(Operation *from, Operation *to) const {
  for (Operation *end = to;;) {
    Block *block = end->getBlock();
    Operation *begin = block == from->getBlock() ? from->getNextNode() : &block->front();
    for (Operation *op = begin; op && op != end; op = op->getNextNode())
      if (writers.contains(op))
        return true;
    if (block == from->getBlock())
      return false;
    end = block->getParentOp();
    // A write anywhere in a loop comes before the loop's next iteration.
    if (isa<scf::ForOp, scf::WhileOp>(end) && writers.contains(end))
      return true;
  }
}

/// The addresses are all different, and root and load go through them in the same order.
static bool sameAddressesInStep(tile::LoadOp load, tile::StoreOp store, const Consumer &consumer,
                                IndexFacts &facts) {
  ArrayRef<int64_t> shape = tile::shapeOf(load.getType());
  if (load.getPtr() != store.getPtr() || !consumer.direct)
    return false;
  // Of several axes only one may be longer than 1: strides of others could overlap.
  std::optional<unsigned> moving;
  for (unsigned axis = 0; axis != shape.size(); ++axis) {
    if (shape[axis] == 1)
      continue;
    if (moving)
      return false;
    moving = axis;
  }
  if (!moving)
    return true;
  std::optional<int64_t> stride = facts.stride(load.getPtr(), *moving);
  return stride && *stride != 0;
}

bool Fusion::mustStandWhereItIs(tile::LoadOp load) {
  if (isVolatile(load))
    return true;
  SmallVector<Operation *> toGuard;
  for (const Consumer &consumer : consumers(load.getResult())) {
    if (writesBetween(load, consumer.root))
      return true;
    if (isa<tile::AtomicRMWOp, tile::AtomicCASOp>(consumer.root))
      return true;
    auto store = dyn_cast<tile::StoreOp>(consumer.root);
    if (!store || sameAddressesInStep(load, store, consumer, facts))
      continue;
    if (!hasRange(load.getPtr()) || !hasRange(store.getPtr()))
      return true;
    toGuard.push_back(store);
  }
  for (Operation *store : toGuard)
    guarded[store].push_back(load);
  return false;
}

} // namespace kiln::cpu
