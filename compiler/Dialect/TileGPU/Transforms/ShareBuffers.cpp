// Tiles that dots read from shared memory twice, and such as wait in registers for their buffers.
//
//     store(x, a); dot(a, …); …; store(x, b); dot(b, …)
//
// holds x in registers between the dots. With the buffers laid out alike the second dot reads the
// first buffer, which is not written again: no registers, no second store, and no barrier for it.
// So it is where x itself was read from a buffer, as of a block that the copy engine brings, and
// where one is the other's transposition. A buffer lives longer then, so that it is not done where
// fewer blocks would fit a processor, unless threads do not have registers for what they hold.
//
// Where they still do not, tiles that are only stored go to their buffers ahead of the products
// behind which they would; and of operands that a loop's products take from registers, and that do
// not change in the loop, each product reads what it needs.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedTiles.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace kiln {
namespace {

class BufferSharing {
public:
  BufferSharing(func::FuncOp kernel, const TargetInfo &target)
      : kernel(kernel), target(target), dominance(kernel),
        blocks(StoragePlan::blocksOf(kernel, target)) {
    kernel.walk([&](tilegpu::SharedStoreOp store) { stores.push_back(store); });
  }

  /// Readers of a store's buffer read what holds the same already.
  void readEarlierBuffers();
  /// Until threads have registers for the rest: stores go ahead of products, and operands are read
  /// where they are used.
  void saveRegisters();

private:
  /// The buffer's tile with its axes in `order`, as the store's buffer is laid out; null if it is
  /// laid out in another way, or does not hold it where the store stands.
  Value viewOf(tilegpu::SharedStoreOp store, Value buffer, ArrayRef<int32_t> order) const;
  Value earlierView(tilegpu::SharedStoreOp store) const;
  bool readEarlier(tilegpu::SharedStoreOp store);
  void storeEarlier(tilegpu::SharedStoreOp store);
  void readWhereUsed(tilegpu::ConvertLayoutOp operand);
  /// Units read what threads stored behind a fence of theirs; a barrier follows for other readers.
  void announce(Value view) const;

  bool lacksRegisters() const {
    return estimateRegisters(kernel, target) + uncountedRegisters(target) >
           registersOfThread(kernel, target);
  }

  func::FuncOp kernel;
  const TargetInfo &target;
  DominanceInfo dominance;
  SmallVector<tilegpu::SharedStoreOp> stores;
  int64_t blocks;
};

/// Erases the operation, and what was computed for it alone.
void eraseWithOperands(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (Operation *computed = operand.getDefiningOp(); computed && isOpTriviallyDead(computed))
      eraseWithOperands(computed);
}

} // namespace

Value BufferSharing::viewOf(tilegpu::SharedStoreOp store, Value buffer,
                            ArrayRef<int32_t> order) const {
  auto alloc = buffer.getDefiningOp<tilegpu::AllocOp>();
  if (!alloc || buffer == store.getBuffer())
    return {};
  // It holds one tile all through its life.
  Operation *writer = onlyWriter(alloc);
  if (!writer || writer->getBlock() != alloc->getBlock() ||
      !dominance.properlyDominates(writer, store))
    return {};
  if (llvm::is_sorted(order))
    return buffer.getType() == store.getBuffer().getType() ? buffer : Value();
  OpBuilder b(store);
  Value view = tilegpu::TransBufferOp::create(b, store.getLoc(), buffer, order);
  if (view.getType() == store.getBuffer().getType())
    return view;
  view.getDefiningOp()->erase();
  return {};
}

Value BufferSharing::earlierView(tilegpu::SharedStoreOp store) const {
  Content content = contentOf(store);
  if (auto load = content.tile.getDefiningOp<tilegpu::SharedLoadOp>())
    if (Value view = viewOf(store, load.getBuffer(), content.order))
      return view;
  for (tilegpu::SharedStoreOp other : stores) {
    if (other == store)
      break;
    if (!other)
      continue;
    Content earlier = contentOf(other);
    if (earlier.tile != content.tile)
      continue;
    SmallVector<int32_t> order;
    for (int32_t axis : content.order)
      order.push_back(int32_t(llvm::find(earlier.order, axis) - earlier.order.begin()));
    if (Value view = viewOf(store, other.getBuffer(), order))
      return view;
  }
  return {};
}

void BufferSharing::announce(Value view) const {
  if (auto trans = view.getDefiningOp<tilegpu::TransBufferOp>())
    view = trans.getBuffer();
  auto store = dyn_cast<tilegpu::SharedStoreOp>(onlyWriter(view.getDefiningOp<tilegpu::AllocOp>()));
  if (!store || !isReadByDots(view))
    return;
  if (isa_and_present<tilegpu::ProxyFenceOp>(store->getNextNode()))
    return;
  OpBuilder b(store);
  b.setInsertionPointAfter(store);
  tilegpu::ProxyFenceOp::create(b, store.getLoc(), /*isGlobal=*/false);
}

bool BufferSharing::readEarlier(tilegpu::SharedStoreOp store) {
  auto buffer = store.getBuffer().getDefiningOp<tilegpu::AllocOp>();
  if (!buffer || onlyWriter(buffer) != store)
    return false;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : buffer->getUses()) {
    // In a loop others may read what an earlier iteration stored.
    if (use.getOwner() != store && !dominance.properlyDominates(store, use.getOwner()))
      return false;
    uses.push_back(&use);
  }
  Value view = earlierView(store);
  if (!view)
    return false;
  unsigned least = lacksRegisters() ? 1 : blocks;
  auto replaceUses = [&](Value value) {
    for (OpOperand *use : uses)
      use->set(value);
  };
  Operation *next = buffer->getNextNode();
  replaceUses(view);
  buffer->remove();
  if (StoragePlan::blocksOf(kernel, target) < least) {
    next->getBlock()->getOperations().insert(next->getIterator(), buffer);
    replaceUses(buffer);
    if (auto trans = view.getDefiningOp<tilegpu::TransBufferOp>())
      trans.erase();
    return false;
  }
  buffer->destroy();
  eraseWithOperands(store);
  announce(view);
  return true;
}

void BufferSharing::readEarlierBuffers() {
  for (tilegpu::SharedStoreOp &store : stores)
    if (readEarlier(store))
      store = {};
  llvm::erase(stores, tilegpu::SharedStoreOp());
}

void BufferSharing::storeEarlier(tilegpu::SharedStoreOp store) {
  constexpr unsigned many = 32;
  auto buffer = store.getBuffer().getDefiningOp<tilegpu::AllocOp>();
  Value tile = contentOf(store).tile;
  Block *block = store->getBlock();
  if (registersOf(tile) < many || tile.getParentBlock() != block || !buffer ||
      buffer->getBlock() != block || onlyWriter(buffer) != store)
    return;
  // Views of the tile, which are used for nothing else.
  SmallVector<Operation *> moved{store};
  for (Value value = store.getValue();; value = moved.back()->getOperand(0)) {
    if (!value.hasOneUse())
      return;
    if (value == tile)
      break;
    moved.push_back(value.getDefiningOp());
  }
  Operation *place = tile.getDefiningOp() ? tile.getDefiningOp()->getNextNode() : &block->front();
  while (place != store && !isa<tilegpu::DotOp>(place))
    place = place->getNextNode();
  if (place == store)
    return;
  Operation *bufferNext = buffer->getNextNode(), *storeNext = store->getNextNode();
  auto moveBefore = [&](Operation *bufferPlace, Operation *storePlace) {
    buffer->moveBefore(bufferPlace);
    for (Operation *op : llvm::reverse(moved))
      op->moveBefore(storePlace);
  };
  moveBefore(buffer->isBeforeInBlock(place) ? bufferNext : place, place);
  if (StoragePlan::blocksOf(kernel, target) == 0)
    moveBefore(bufferNext, storeNext);
  else
    announce(buffer);
}

/// Whether all that use the value are dots that multiply by it, and one is in a loop that the value
/// does not change in.
static bool isOperandOfLoop(Value value) {
  bool isInLoop = false;
  for (OpOperand &use : value.getUses()) {
    if (!isa<tilegpu::DotOp>(use.getOwner()) || use.getOperandNumber() > 1)
      return false;
    auto loop = use.getOwner()->getParentOfType<LoopLikeOpInterface>();
    isInLoop |= loop && !loop->isAncestor(value.getDefiningOp());
  }
  return isInLoop;
}

void BufferSharing::readWhereUsed(tilegpu::ConvertLayoutOp operand) {
  constexpr unsigned many = 16;
  if (registersOf(operand) < many || !isOperandOfLoop(operand))
    return;
  RankedTensorType type = operand.getType();
  OpBuilder b(operand);
  SharedLayout shared = planStaging(tilegpu::layoutOf(operand.getSource()), tilegpu::layoutOf(type),
                                    tilegpu::storageBits(type.getElementType()),
                                    tilegpu::sharedMemoryOf(target), target.matrix.matrixLoads)
                            .shared;
  auto buffer =
      tilegpu::AllocOp::create(b, operand.getLoc(), tilegpu::BufferType::of(type, shared));
  auto store = tilegpu::SharedStoreOp::create(b, operand.getLoc(), operand.getSource(), buffer);
  SmallVector<tilegpu::SharedLoadOp> reads;
  for (OpOperand &use : llvm::make_early_inc_range(operand->getUses())) {
    b.setInsertionPoint(use.getOwner());
    reads.push_back(tilegpu::SharedLoadOp::create(b, use.getOwner()->getLoc(), type, buffer));
    use.set(reads.back());
  }
  if (StoragePlan::blocksOf(kernel, target) > 0) {
    operand.erase();
    return;
  }
  for (tilegpu::SharedLoadOp read : reads) {
    read.replaceAllUsesWith(operand.getResult());
    read.erase();
  }
  store.erase();
  buffer.erase();
}

void BufferSharing::saveRegisters() {
  // The last first: it waits longest, for the most part.
  for (tilegpu::SharedStoreOp store : llvm::reverse(stores)) {
    if (!lacksRegisters())
      return;
    storeEarlier(store);
  }
  SmallVector<tilegpu::ConvertLayoutOp> operands;
  kernel.walk([&](tilegpu::ConvertLayoutOp operand) { operands.push_back(operand); });
  for (tilegpu::ConvertLayoutOp operand : operands) {
    if (!lacksRegisters())
      return;
    readWhereUsed(operand);
  }
}

namespace {

struct ShareBuffersPass : PassWrapper<ShareBuffersPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShareBuffersPass)

  StringRef getArgument() const override { return "kiln-share-buffers"; }
  StringRef getDescription() const override {
    return "Keep tiles that dots read from shared memory there";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    BufferSharing sharing(getOperation(), *target);
    sharing.readEarlierBuffers();
    sharing.saveRegisters();
  }
};

} // namespace

std::unique_ptr<Pass> createShareBuffersPass() { return std::make_unique<ShareBuffersPass>(); }

} // namespace kiln
