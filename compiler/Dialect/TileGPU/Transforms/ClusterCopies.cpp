#include "compiler/Dialect/TileGPU/Transforms/ClusterCopies.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

/// Whether scalars are the same in all blocks of a cluster: nothing that they are computed of is a
/// block's own.
class AlikeScalars {
public:
  bool areAlike(ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return isAlike(value); });
  }

private:
  bool isAlike(Value value) {
    if (!seen.insert(value).second)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isArgumentAlike(argument);
    Operation *op = value.getDefiningOp();
    if (isa<tile::ClusterRankOp>(op) || !isMemoryEffectFree(op))
      return false;
    return !op->walk([&](Operation *inner) {
                return areAlike(inner->getOperands()) ? WalkResult::advance()
                                                      : WalkResult::interrupt();
              }).wasInterrupted();
  }

  bool isArgumentAlike(BlockArgument argument) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(owner))
      return true;
    auto loop = dyn_cast<scf::ForOp>(owner);
    if (!loop)
      return false;
    if (argument == loop.getInductionVar())
      return areAlike({loop.getLowerBound(), loop.getStep()});
    return areAlike(
        {loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get()});
  }

  DenseSet<Value> seen;
};

} // namespace

ClusterCopies::ClusterCopies(func::FuncOp kernel) : blocks(tilegpu::clusterBlocksOf(kernel)) {}

/// The same block, as often in all blocks of threads.
bool ClusterCopies::isAlike(tile::DescriptorLoadOp load) const {
  AlikeScalars scalars;
  if (!scalars.areAlike(load.getOffsets()))
    return false;
  for (Operation *op = load->getParentOp(); !isa<func::FuncOp>(op); op = op->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !scalars.areAlike({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}))
      return false;
  }
  return true;
}

unsigned ClusterCopies::sharersOf(tile::DescriptorLoadOp load) const {
  auto map = dyn_cast<BlockArgument>(load.getDescriptor());
  if (blocks == 1 || !map || !tilegpu::sharedBoxOf(load.getDescriptor().getType(), blocks))
    return 1;
  bool areAlike = llvm::all_of(map.getUsers(), [&](Operation *user) {
    auto other = dyn_cast<tile::DescriptorLoadOp>(user);
    return other && isAlike(other);
  });
  return areAlike ? blocks : 1;
}

} // namespace kiln
