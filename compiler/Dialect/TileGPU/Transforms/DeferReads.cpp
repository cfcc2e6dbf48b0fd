// Blocks that the copy engine reads while threads go on.
//
//     for …: …; store(x, a); …; dot(a, …); store(sum, b); tma_store b, d[i]
//
// The thread that starts a copy waits until the engine has read the buffer, and the others for that
// thread, at the next barrier: the engine takes as long as half an iteration. What needs it is the
// next iteration's store to the buffer, behind a barrier. So the wait goes in front of the last
// barrier before that one that is there anyway: of what is stored to another buffer and read by
// other threads before the block is (here that for `a`). A last wait stands behind the loop. Where
// there is no such barrier threads wait as they did: that of a loop over a product's tiles took a
// hundredth longer with a wait in front of the next tile's store (H200).
//
// The buffer is the loop's own then, in memory that nothing in it shares. That is not done where
// fewer blocks of the kernel would fit a processor for it.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

/// A copy of a loop's buffer to memory.
struct LoopStore {
  scf::ForOp loop;
  tilegpu::AllocOp buffer;
  tilegpu::SharedStoreOp filled;
  tilegpu::TmaStoreOp copy;
};

/// The copy and who fills its buffer, if both are done once in each iteration and nobody else
/// writes there.
std::optional<LoopStore> loopStoreOf(tilegpu::TmaStoreOp copy) {
  auto buffer = copy.getBuffer().getDefiningOp<tilegpu::AllocOp>();
  auto loop = copy->getParentOfType<scf::ForOp>();
  if (!buffer || !loop || buffer->getBlock() != loop.getBody())
    return std::nullopt;
  tilegpu::SharedStoreOp filled;
  for (Operation *user : buffer->getUsers()) {
    if (user == copy || isa<tilegpu::SharedLoadOp>(user))
      continue;
    auto store = dyn_cast<tilegpu::SharedStoreOp>(user);
    if (!store || filled || store->getBlock() != loop.getBody())
      return std::nullopt;
    filled = store;
  }
  if (!filled)
    return std::nullopt;
  return LoopStore{loop, buffer, filled, copy};
}

/// Behind the last store to another buffer before the block's own, which has a barrier behind it
/// for those who read it; null if there is none.
Operation *placeOfWait(LoopStore store) {
  Operation *found = nullptr;
  for (Operation &op : llvm::make_range(Block::iterator(store.loop.getBody()->begin()),
                                        Block::iterator(store.filled)))
    if (isa<tilegpu::SharedStoreOp>(op))
      found = op.getNextNode();
  return found;
}

class Deferral {
public:
  Deferral(func::FuncOp kernel, const TargetInfo &target) : kernel(kernel), target(target) {}

  void run() {
    SmallVector<LoopStore> stores;
    kernel.walk([&](tilegpu::TmaStoreOp copy) {
      if (std::optional<LoopStore> store = loopStoreOf(copy); store && placeOfWait(*store))
        stores.push_back(*store);
    });
    if (stores.empty())
      return;
    int64_t blocks = StoragePlan::blocksOf(kernel, target);
    for (LoopStore &store : stores) {
      Operation *next = store.buffer->getNextNode();
      store.buffer->moveBefore(store.loop);
      OpBuilder b(placeOfWait(store));
      auto wait = tilegpu::TmaReadWaitOp::create(b, store.copy.getLoc(), store.buffer);
      b.setInsertionPointAfter(store.loop);
      auto last = tilegpu::TmaReadWaitOp::create(b, store.copy.getLoc(), store.buffer);
      if (StoragePlan::blocksOf(kernel, target) >= blocks) {
        store.copy.setIsReadLater(true);
        continue;
      }
      last.erase();
      wait.erase();
      store.buffer->moveBefore(next);
    }
  }

private:
  func::FuncOp kernel;
  const TargetInfo &target;
};

struct DeferReadsPass : PassWrapper<DeferReadsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeferReadsPass)

  StringRef getArgument() const override { return "kiln-defer-reads"; }
  StringRef getDescription() const override {
    return "Let threads go on while the copy engine reads what they have stored for it";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    Deferral(getOperation(), *target).run();
  }
};

} // namespace

std::unique_ptr<Pass> createDeferReadsPass() { return std::make_unique<DeferReadsPass>(); }

} // namespace kiln
