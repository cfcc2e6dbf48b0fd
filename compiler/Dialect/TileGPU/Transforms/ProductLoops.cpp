#include "compiler/Dialect/TileGPU/Transforms/ProductLoops.h"
#include "compiler/Dialect/TileGPU/Transforms/GlobalAccesses.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

//===-- which loops
//--------------------------------------------------------------------------------===//

/// By maps of the launcher's: those that the kernel makes its own threads make, and use.
static bool readsBlocksOnly(ProductLoop &candidate) {
  return llvm::all_of(candidate.staged.loads, [](const StagedLoad &staged) {
    auto load = dyn_cast<tile::DescriptorLoadOp>(staged.load);
    return load && isa<BlockArgument>(load.getDescriptor());
  });
}

/// Whether what comes before, in an iteration of a loop around too, writes no array that the
/// producer reads ahead. Arrays of different arguments are taken to be different ones here.
static bool isOrdered(ProductLoop &candidate, const TargetInfo &target) {
  GlobalOrder order(target);
  return llvm::none_of(candidate.staged.loads, [&](const StagedLoad &load) {
    return order.behindWrites(load.load).always;
  });
}

/// Whether nothing but loops is around them, and one branch of the kernel at most around all; none
/// where blocks of a cluster copy for each other, of which some might not come there.
bool ProductLoops::areInOnePlace(func::FuncOp kernel) {
  place = outermostLoop(loops.front().loop)->getBlock();
  branch = dyn_cast<scf::IfOp>(place->getParentOp());
  return (branch ? branch->getParentOp() : place->getParentOp()) == kernel &&
         !(branch && shares()) && llvm::all_of(loops, [&](const ProductLoop &each) {
           return outermostLoop(each.loop)->getBlock() == place;
         });
}

static bool paysForReworkedSums(ProductLoop &candidate, func::FuncOp kernel,
                                const TargetInfo &target) {
  constexpr unsigned warpsOfGroup = 4;
  DotsInFlight flight(candidate.loop, candidate.staged);
  return flight.isReworked() && tilegpu::numWarpsOf(kernel) > warpsOfGroup &&
         RingBudget(kernel, target)
                 .planFor(candidate.loop, candidate.staged, flight,
                          RingBudget::buffersOf(candidate.staged), candidate.loop)
                 .blocks <= 1;
}

ProductLoops::ProductLoops(func::FuncOp kernel, const TargetInfo &target) : copies(kernel) {
  AxisInfoAnalysis facts(kernel);
  kernel.walk([&](scf::ForOp loop) {
    if (!isInnermost(loop))
      return;
    ProductLoop candidate{loop, findStagedLoads(loop, facts, target)};
    if (!candidate.staged.loads.empty())
      loops.push_back(std::move(candidate));
  });
  isServed = llvm::any_of(loops, [&](ProductLoop &each) { return pays(each, kernel, target); }) &&
             areInOnePlace(kernel) && llvm::all_of(loops, [&](ProductLoop &candidate) {
               return readsBlocksOnly(candidate) && isOrdered(candidate, target) &&
                      slotTypes(candidate) == slotTypes(loops.front());
             });
}

bool ProductLoops::pays(ProductLoop &candidate, func::FuncOp kernel,
                        const TargetInfo &target) const {
  scf::ForOp loop = candidate.loop;
  return outermostLoop(loop) != loop || shares(candidate) ||
         loop->hasAttr(tile::TileDialect::warpSpecializeAttr) ||
         paysForReworkedSums(candidate, kernel, target);
}

bool ProductLoops::shares() const {
  return llvm::any_of(loops, [&](const ProductLoop &each) { return shares(each); });
}

bool ProductLoops::shares(const ProductLoop &candidate) const {
  return llvm::any_of(candidate.staged.loads, [&](const StagedLoad &staged) {
    auto load = dyn_cast<tile::DescriptorLoadOp>(staged.load);
    return load && copies.sharersOf(load) > 1;
  });
}

//===-- their slots
//--------------------------------------------------------------------------------===//

SmallVector<tilegpu::BufferType> ProductLoops::slotTypes(const ProductLoop &candidate) {
  return llvm::map_to_vector(candidate.staged.loads, [](const StagedLoad &load) {
    return tilegpu::AllocOp(load.buffer).getType();
  });
}

RingPlan ProductLoops::plan(func::FuncOp kernel, const TargetInfo &target) {
  SmallVector<Operation *> replaced;
  for (ProductLoop &product : loops)
    llvm::append_range(replaced, RingBudget::buffersOf(product.staged));
  RingPlan all;
  for (ProductLoop &product : loops) {
    RingPlan plan =
        RingBudget(kernel, target)
            .planFor(product.loop, product.staged, DotsInFlight(product.loop, product.staged),
                     replaced, outermostLoop(product.loop));
    if (plan.stages >= 2 && plan.slots > all.slots)
      all = plan;
  }
  return all;
}

static SmallVector<LoadGroup> groupsOf(const ProductLoop &product) {
  SmallVector<std::pair<Operation *, LoadGroup>> groups;
  for (auto [number, load] : llvm::enumerate(product.staged.loads)) {
    Operation *reader = firstReader(load);
    auto found = llvm::find_if(groups, [&](const auto &group) { return group.first == reader; });
    if (found == groups.end())
      groups.push_back({reader, {unsigned(number)}});
    else
      found->second.push_back(unsigned(number));
  }
  llvm::sort(groups,
             [](const auto &a, const auto &b) { return a.first->isBeforeInBlock(b.first); });
  return llvm::map_to_vector(groups, [](const auto &group) { return group.second; });
}

/// Whether a product reads its slot in the next iteration, too, while there is no slot but that
/// one's.
static bool blocksCopies(const ProductLoop &product, const RingPlan &plan) {
  DotsInFlight flight(product.loop, product.staged);
  flight.withoutSpareSlot();
  return plan.slots == 2 && flight.any();
}

SmallVector<LoadGroup> ProductLoops::groups(const RingPlan &plan) const {
  SmallVector<LoadGroup> groups = groupsOf(loops.front());
  if (llvm::all_of(loops, [&](const ProductLoop &each) {
        return blocksCopies(each, plan) && groupsOf(each) == groups;
      }))
    return groups;
  return {llvm::to_vector_of<unsigned>(llvm::seq(loops.front().staged.loads.size()))};
}

//===-- what the producer computes
//-----------------------------------------------------------------===//

static SmallVector<Value> outsideOf(Operation *op, Operation *inner) {
  SmallVector<Value> values;
  for (Value operand : inner->getOperands())
    if (inner == op || !op->isAncestor(operand.getParentBlock()->getParentOp()))
      values.push_back(operand);
  return values;
}

ProducerSlice::ProducerSlice(ProductLoops &served) {
  SmallVector<Value> wanted;
  if (served.branch)
    wanted.push_back(served.branch.getCondition());
  for (ProductLoop &candidate : served.loops) {
    for (const StagedLoad &load : candidate.staged.loads)
      llvm::append_range(wanted, cast<tile::DescriptorLoadOp>(load.load).getOffsets());
    for (Operation *op = candidate.loop; auto loop = dyn_cast<scf::ForOp>(op);
         op = op->getParentOp())
      if (around.insert(loop).second)
        wanted.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  }
  while (!wanted.empty() && isScalar)
    add(wanted.pop_back_val(), wanted);
}

void ProducerSlice::add(Value value, SmallVectorImpl<Value> &wanted) {
  if (!values.insert(value).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return addArgument(argument, wanted);
  Operation *op = value.getDefiningOp();
  if (around.contains(op) || !isMemoryEffectFree(op) ||
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>)) {
    isScalar = false;
    return;
  }
  op->walk([&](Operation *inner) { llvm::append_range(wanted, outsideOf(op, inner)); });
}

void ProducerSlice::addArgument(BlockArgument argument, SmallVectorImpl<Value> &wanted) {
  Operation *owner = argument.getOwner()->getParentOp();
  if (isa<func::FuncOp>(owner))
    return;
  auto loop = dyn_cast<scf::ForOp>(owner);
  if (!loop || !around.contains(loop)) {
    isScalar = false;
    return;
  }
  if (argument == loop.getInductionVar())
    return;
  if (isa<RankedTensorType>(argument.getType()))
    isScalar = false;
  wanted.push_back(loop.getTiedLoopInit(argument)->get());
  wanted.push_back(loop.getTiedLoopYieldedValue(argument)->get());
}

} // namespace kiln
