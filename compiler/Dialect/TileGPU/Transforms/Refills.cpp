#include "compiler/Dialect/TileGPU/Transforms/Refills.h"
#include "compiler/Dialect/TileGPU/Transforms/Rings.h"

using namespace mlir;

namespace kiln {
namespace {

/// The operation of the loop's body behind which nothing of the load's buffer has to be read: the
/// dot, where fragments are loaded for one, so that they can be loaded as it goes on.
Operation *lastRead(const StagedLoad &load, scf::ForOp loop) {
  Operation *last = nullptr;
  auto add = [&](Operation *op) {
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*op);
    if (!last || last->isBeforeInBlock(inBody))
      last = inBody;
  };
  for (Operation *reader : readersOf(load)) {
    add(reader);
    if (!isa<tilegpu::SharedLoadOp>(reader))
      continue;
    Operation *first = nullptr;
    for (Operation *user : reader->getUsers())
      if (isa<tilegpu::DotOp>(user) && user->getBlock() == loop.getBody() &&
          (!first || user->isBeforeInBlock(first)))
        first = user;
    if (first)
      add(first);
  }
  return last;
}

/// Whether threads meet in the operation, which a barrier may have to stand in front of.
bool exchanges(Operation &op, const StagedLoads &staged, const TargetInfo &target) {
  if (staged.addresses.contains(&op))
    return false;
  if (auto scratch = dyn_cast<tilegpu::ScratchOpInterface>(op))
    return scratch.getScratchBytes(target) > 0;
  auto store = dyn_cast<tilegpu::SharedStoreOp>(op);
  return store &&
         llvm::none_of(staged.loads, [&](const StagedLoad &load) { return load.store == store; });
}

} // namespace

SmallVector<Refill> findRefills(scf::ForOp loop, const StagedLoads &staged,
                                const TargetInfo &target, bool inOneGroup) {
  llvm::DenseMap<Operation *, SmallVector<unsigned>> endsAt;
  int64_t total = 0, free = 0;
  auto bytesOf = [&](unsigned load) {
    return tilegpu::AllocOp(staged.loads[load].buffer).getType().getBytes();
  };
  for (auto [number, load] : llvm::enumerate(staged.loads)) {
    endsAt[lastRead(load, loop)].push_back(number);
    total += bytesOf(number);
  }
  constexpr int64_t parts = 4;
  SmallVector<Refill> refills;
  Refill next;
  size_t left = staged.loads.size();
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isWorthIt = left == 0 || (!inOneGroup && free * parts >= total);
    if (!next.loads.empty() && isWorthIt && exchanges(op, staged, target)) {
      next.place = &op;
      next.isBefore = true;
      refills.push_back(std::exchange(next, {}));
      free = 0;
    }
    for (unsigned load : endsAt.lookup(&op)) {
      next.loads.push_back(load);
      next.place = &op;
      free += bytesOf(load);
      --left;
    }
  }
  if (!next.loads.empty())
    refills.push_back(next);
  return refills;
}

void addBarriers(RewriterBase &rewriter, MutableArrayRef<Refill> refills) {
  for (Refill &refill : refills) {
    if (refill.isBefore)
      rewriter.setInsertionPoint(refill.place);
    else
      rewriter.setInsertionPointAfter(refill.place);
    refill.barrier = tilegpu::BarrierOp::create(rewriter, refill.place->getLoc(), Value());
  }
}

void waitForRefills(RewriterBase &rewriter, ArrayRef<Refill> refills, const StagedLoads &staged,
                    Operation *arrival, unsigned distance, ValueRange rings) {
  SmallVector<Operation *> barriers{arrival};
  for (const Refill &refill : refills)
    barriers.push_back(refill.barrier);
  // The last group that has to be there behind each barrier (groups count from 1), and its rings.
  SmallVector<size_t> awaited(barriers.size(), 0);
  SmallVector<SmallVector<Value>> ringsOf(barriers.size());
  for (auto [number, refill] : llvm::enumerate(refills)) {
    SmallVector<StagedLoad> loads =
        llvm::map_to_vector(refill.loads, [&](unsigned load) { return staged.loads[load]; });
    size_t at = 0;
    while (at < number && barriers[at + 1]->isBeforeInBlock(firstReader(loads)))
      ++at;
    awaited[at] = number + 1;
    for (unsigned load : refill.loads)
      ringsOf[at].push_back(rings[load]);
  }
  for (auto [at, group] : llvm::enumerate(awaited)) {
    if (group == 0)
      continue;
    // Of this iteration, those behind the barriers in between have been started.
    size_t started = at == 0 ? 0 : at - 1;
    rewriter.setInsertionPoint(barriers[at]);
    tilegpu::WaitOp::create(rewriter, barriers[at]->getLoc(),
                            refills.size() * distance + started - group, ringsOf[at]);
  }
}

llvm::SmallPtrSet<Operation *, 16>
neededBy(ArrayRef<Operation *> copies, const llvm::SmallSetVector<Operation *, 16> &addresses) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Operation *> open(copies);
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!addresses.contains(op) || !needed.insert(op).second)
      continue;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          open.push_back(producer);
    });
  }
  return needed;
}

} // namespace kiln
