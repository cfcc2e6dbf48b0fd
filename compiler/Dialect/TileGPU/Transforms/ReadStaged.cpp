// Tiles that are stored for dots, and wanted in another layout as well.
//
//     y = convert(x); store y, p; …; shared_store(x, b); barrier; sum = dot(a, b, …)
//
// sends x through shared memory twice, as the states of a recurrence, which it stores and
// multiplies by in each iteration. Here x goes to the dot's buffer first, and y is read from there:
//
//     shared_store(x, b); barrier; y = shared_load(b); store y, p; …; sum = dot(a, b, …)
//
// Several such tiles are stored one behind the other, so that one barrier serves all, and copies
// that the dot needs are waited for in front of it. So is the operand of a dot that goes on with
// another's sum: it is stored ahead of that one. All of it where as many blocks fit a processor,
// and threads do not lack registers.

#include "compiler/Dialect/TileGPU/Transforms/MovedOperations.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedTiles.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "compiler/Layout/LayoutConversion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

/// A store that writes a buffer of its own block, which lives for that alone.
bool hasOwnBuffer(tilegpu::SharedStoreOp store) {
  auto buffer = store.getBuffer().getDefiningOp<tilegpu::AllocOp>();
  return buffer && buffer->getBlock() == store->getBlock() && onlyWriter(buffer) == store;
}

/// Whether the value is there at `place`, or would be if operations without effects moved in front
/// of it: these in order. What is computed of a tile that this block loads is not worth the wait.
bool reaches(Value value, Operation *place, llvm::SetVector<Operation *> &moving) {
  constexpr unsigned most = 16;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != place->getBlock() || moving.contains(op))
    return true;
  bool isAhead = op->isBeforeInBlock(place);
  if (isAhead || moving.size() == most || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return isAhead;
  for (Value operand : op->getOperands())
    if (!reaches(operand, place, moving))
      return false;
  moving.insert(op);
  return true;
}

/// Whether the value is computed of what its block loads from global memory.
bool isLoaded(Value value, Block *block, unsigned &budget) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block || isa<tilegpu::DotOp, tilegpu::SharedLoadOp>(op))
    return false;
  if (budget-- == 0 || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return true;
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isLoaded(operand, block, budget); });
}

bool isLoaded(tilegpu::SharedStoreOp store) {
  unsigned budget = 64;
  return isLoaded(store.getValue(), store->getBlock(), budget);
}

/// Whether threads write no buffer between the fence and one before it, nor read one where the copy
/// engine writes any.
bool isRepeated(tilegpu::ProxyFenceOp fence, bool engineWrites) {
  if (fence.getIsGlobal())
    return false;
  for (Operation *op = fence->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto other = dyn_cast<tilegpu::ProxyFenceOp>(op))
      return !other.getIsGlobal();
    bool isBeside =
        isa<tile::LoadOp, tile::StoreOp, tilegpu::AllocOp, tilegpu::DotOp, tilegpu::DotWaitOp,
            tilegpu::BarrierOp, tilegpu::CopyAsyncOp, tilegpu::CommitOp, tilegpu::WaitOp>(op) ||
        (isa<tilegpu::SharedLoadOp>(op) && !engineWrites) ||
        (isMemoryEffectFree(op) && !isa<tilegpu::ScratchOpInterface>(op));
    if (op->getNumRegions() != 0 || !isBeside)
      return false;
  }
  return false;
}

class StagedReading {
public:
  StagedReading(func::FuncOp kernel, const TargetInfo &target)
      : kernel(kernel), target(target), blocks(StoragePlan::blocksOf(kernel, target)) {}

  void run() {
    SmallVector<tilegpu::SharedStoreOp> stores;
    kernel.walk([&](tilegpu::SharedStoreOp store) { stores.push_back(store); });
    for (tilegpu::SharedStoreOp store : stores)
      if (hasOwnBuffer(store))
        readConversions(store);
    for (tilegpu::SharedStoreOp store : stores)
      if (hasOwnBuffer(store))
        if (Operation *place = earlierPlace(store))
          moveAhead(store, place);
    kernel.walk([&](tilegpu::WaitOp wait) { waitEarlier(wait); });
    bool engineWrites =
        kernel.walk([](tilegpu::TmaLoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
    kernel.walk([&](tilegpu::ProxyFenceOp fence) {
      if (isRepeated(fence, engineWrites))
        fence.erase();
    });
  }

private:
  bool isServed(tilegpu::ConvertLayoutOp conversion, tilegpu::AllocOp buffer,
                ArrayRef<int32_t> order) const;
  void readConversions(tilegpu::SharedStoreOp store);
  bool moveAhead(tilegpu::SharedStoreOp store, Operation *place);
  Operation *earlierPlace(tilegpu::SharedStoreOp store) const;
  void waitEarlier(tilegpu::WaitOp wait) const;
  bool fits() const { return StoragePlan::blocksOf(kernel, target) >= blocks; }

  func::FuncOp kernel;
  const TargetInfo &target;
  int64_t blocks;
};

/// The buffer, with the axes of the tile that is in it in `order`, as that tile.
Value viewOfTile(OpBuilder &b, Location loc, Value buffer, ArrayRef<int32_t> order) {
  if (llvm::is_sorted(order))
    return buffer;
  SmallVector<int32_t> inverse(order.size());
  for (auto [axis, of] : llvm::enumerate(order))
    inverse[of] = int32_t(axis);
  return tilegpu::TransBufferOp::create(b, loc, buffer, inverse);
}

} // namespace

/// Whether the conversion goes through shared memory, and its result is read from the buffer at no
/// higher cost.
bool StagedReading::isServed(tilegpu::ConvertLayoutOp conversion, tilegpu::AllocOp buffer,
                             ArrayRef<int32_t> order) const {
  if (conversion->getBlock() != buffer->getBlock())
    return false;
  const LinearLayout &from = tilegpu::layoutOf(conversion.getSource());
  const LinearLayout &to = tilegpu::layoutOf(conversion.getType());
  SharedMemoryShape memory = tilegpu::sharedMemoryOf(target);
  unsigned bits = tilegpu::storageBits(conversion.getType().getElementType());
  if (classifyConversion(from, to) != ConversionKind::Shared)
    return false;
  LayoutConversion plan = planConversion(from, to, bits, memory);
  if (!plan.shared)
    return false;
  LinearLayout seen = to.transpose(SmallVector<unsigned>(order.begin(), order.end()));
  SharedLayout shared = buffer.getType().getLayout().getShared();
  SharedAccess access = planSharedAccess(seen, shared, bits, memory);
  int64_t cost = countWavefronts(access, shared, bits, memory).wavefronts;
  return cost + int64_t(access.parts.size()) <= plan.shared->cost() + 2 * barrierCostOf(from);
}

void StagedReading::readConversions(tilegpu::SharedStoreOp store) {
  auto buffer = store.getBuffer().getDefiningOp<tilegpu::AllocOp>();
  Content content = contentOf(store);
  SmallVector<tilegpu::ConvertLayoutOp> served;
  Operation *place = store;
  for (Operation *user : content.tile.getUsers())
    if (auto conversion = dyn_cast<tilegpu::ConvertLayoutOp>(user);
        conversion && isServed(conversion, buffer, content.order)) {
      served.push_back(conversion);
      place = conversion->isBeforeInBlock(place) ? conversion : place;
    }
  if (served.empty() || (place != store && !moveAhead(store, place)))
    return;
  for (tilegpu::ConvertLayoutOp conversion : served) {
    OpBuilder b(conversion);
    Value view = viewOfTile(b, conversion.getLoc(), buffer, content.order);
    auto load = tilegpu::SharedLoadOp::create(b, conversion.getLoc(), conversion.getType(), view);
    conversion.replaceAllUsesWith(load.getResult());
    conversion->remove();
    if (fits()) {
      conversion->destroy();
      continue;
    }
    load->getBlock()->getOperations().insert(load->getIterator(), conversion);
    load.replaceAllUsesWith(conversion.getResult());
    load.erase();
    if (view != buffer.getResult())
      view.getDefiningOp()->erase();
  }
}

/// Stores in front of `place` instead, behind a fence of its own for units.
bool StagedReading::moveAhead(tilegpu::SharedStoreOp store, Operation *place) {
  llvm::SetVector<Operation *> moving;
  if (!reaches(store.getValue(), place, moving))
    return false;
  auto buffer = store.getBuffer().getDefiningOp<tilegpu::AllocOp>();
  MovedOperations move;
  if (!buffer->isBeforeInBlock(place))
    move.before(buffer, place);
  for (Operation *op : moving)
    move.before(op, place);
  move.before(store, place);
  if (!fits()) {
    move.undo();
    return false;
  }
  auto fence = dyn_cast<tilegpu::ProxyFenceOp>(place);
  if (isReadByDots(buffer) && !(fence && !fence.getIsGlobal())) {
    OpBuilder b(place);
    tilegpu::ProxyFenceOp::create(b, store.getLoc(), /*isGlobal=*/false);
  }
  return true;
}

/// Behind an earlier store, whose barrier then serves both: where threads read that one's buffer in
/// between, or where the dot in between makes the sum that this store's dot goes on with.
Operation *StagedReading::earlierPlace(tilegpu::SharedStoreOp store) const {
  tilegpu::DotOp before;
  bool isRead = false;
  for (Operation *op = store->getPrevNode(); op; op = op->getPrevNode()) {
    if (op->getNumRegions() != 0)
      return nullptr;
    if (auto other = dyn_cast<tilegpu::SharedStoreOp>(op))
      return (isRead || before) && hasOwnBuffer(other) ? other->getNextNode() : nullptr;
    isRead |= isa<tilegpu::SharedLoadOp>(op);
    auto dot = dyn_cast<tilegpu::DotOp>(op);
    if (!dot)
      continue;
    bool goesOn = dot->hasOneUse() &&
                  llvm::is_contained(store.getBuffer().getUsers(), *dot->getUsers().begin());
    if (before || !goesOn || isLoaded(store))
      return nullptr;
    before = dot;
  }
  return nullptr;
}

/// Whether it reads what this block has stored, not what copies bring.
bool readsOwnStore(tilegpu::SharedLoadOp load) {
  Value buffer = load.getBuffer();
  if (auto trans = buffer.getDefiningOp<tilegpu::TransBufferOp>())
    buffer = trans.getBuffer();
  auto alloc = buffer.getDefiningOp<tilegpu::AllocOp>();
  return alloc && isa_and_present<tilegpu::SharedStoreOp>(onlyWriter(alloc));
}

/// Copies are waited for, with the barrier that follows, ahead of what threads read of the stores
/// in front, if there is one.
void StagedReading::waitEarlier(tilegpu::WaitOp wait) const {
  auto barrier = dyn_cast_or_null<tilegpu::BarrierOp>(wait->getNextNode());
  if (!barrier || barrier.getCondition())
    return;
  Operation *place = nullptr;
  for (Operation *op = wait->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<tilegpu::SharedStoreOp>(op)) {
      if (place) {
        wait->moveBefore(place);
        barrier->moveBefore(place);
      }
      return;
    }
    auto load = dyn_cast<tilegpu::SharedLoadOp>(op);
    if (load && readsOwnStore(load))
      place = op;
    else if (!isMemoryEffectFree(op) &&
             !isa<tile::LoadOp, tile::StoreOp, tilegpu::ProxyFenceOp>(op))
      return;
  }
}

namespace {

struct ReadStagedPass : PassWrapper<ReadStagedPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReadStagedPass)

  StringRef getArgument() const override { return "kiln-read-staged"; }
  StringRef getDescription() const override {
    return "Read from dots' buffers what is wanted in another layout as well";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    if (estimateRegisters(getOperation(), *target) + uncountedRegisters(*target) <=
        registersOfThread(getOperation(), *target))
      StagedReading(getOperation(), *target).run();
  }
};

} // namespace

std::unique_ptr<Pass> createReadStagedPass() { return std::make_unique<ReadStagedPass>(); }

} // namespace kiln
