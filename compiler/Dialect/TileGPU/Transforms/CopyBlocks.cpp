// Blocks that the copy engine brings outside of pipelined loops, and blocks that it stores or
// combines with what is there.
//
// A load of a described block that kiln-pipeline-loops has left where it is becomes a copy to its
// buffer, which is waited for where the block is read: copies that follow one another are under way
// together. What goes to registers, or comes from there, goes through a buffer, too.

#include "compiler/Dialect/TileGPU/Transforms/EqualArguments.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace kiln {
namespace {

/// The store that takes all of the block to a buffer, if that is its only use.
std::optional<StagedLoad> stagingOf(tile::DescriptorLoadOp load) {
  Operation *user = load;
  do {
    if (!user->hasOneUse())
      return std::nullopt;
    user = *user->getUsers().begin();
  } while (isa<tile::TransOp>(user));
  auto store = dyn_cast<tilegpu::SharedStoreOp>(user);
  std::optional<StagedLoad> staged = store ? loadBehind(store) : std::nullopt;
  // The buffer has to be there when the copy starts.
  if (staged && staged->buffer->getBlock() == load->getBlock())
    staged->buffer->moveBefore(load);
  return staged;
}

/// Whether copies have to be done before the operation: it may write what they read, or tell other
/// programs that they may.
bool endsCopies(Operation *op) {
  std::optional<GlobalAccess> access = globalAccessOf(op);
  return op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() || isa<tile::FenceOp>(op) ||
         (access && access->writes);
}

/// What a copy of the block is waited for in front of: of what stands behind the load, the first
/// that reads `block`, or that ends copies.
Operation *endOfCopy(tile::DescriptorLoadOp load, Value block) {
  llvm::SmallPtrSet<Operation *, 4> readers;
  for (Operation *user : block.getUsers())
    readers.insert(load->getBlock()->findAncestorOpInBlock(*user));
  Operation *end = load->getNextNode();
  while (!readers.contains(end) && !endsCopies(end))
    end = end->getNextNode();
  return end;
}

/// Copies the block to the buffer, and waits in front of `end`, where the builder is then.
void copy(OpBuilder &b, tile::DescriptorLoadOp load, Value buffer, ArrayRef<int32_t> order,
          Operation *end, GlobalOrder &writes) {
  Location loc = load.getLoc();
  Value mbarrier = tilegpu::allocateMBarriers(b, loc, /*slots=*/1, /*arrivals=*/1);
  bool isGlobal = !writes.behindWrites(load).isNever();
  tilegpu::publishMBarriers(b, loc, isGlobal, /*toAllWarps=*/false);
  tilegpu::TmaLoadOp::create(b, loc, load.getDescriptor(), load.getOffsets(), buffer, mbarrier,
                             Value(), order, /*isByOneThread=*/false, /*shared_by=*/1,
                             load.getEvict());
  b.setInsertionPoint(end);
  Value even = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  tilegpu::MBarrierWaitOp::create(b, loc, mbarrier, even);
  tilegpu::releaseMBarriers(b, loc, mbarrier);
}

/// A buffer as the engine has it, of a block's elements.
Value allocateRows(OpBuilder &b, Location loc, RankedTensorType type) {
  SharedLayout rows = tilegpu::boxedShared(type.getShape(), type.getRank() - 1,
                                           tilegpu::storageBits(type.getElementType()));
  return tilegpu::AllocOp::create(b, loc, tilegpu::BufferType::of(type, rows));
}

tile::AtomicKindAttr kindOf(tile::DescriptorStoreOp) { return {}; }
tile::AtomicKindAttr kindOf(tile::DescriptorReduceOp reduce) { return reduce.getKindAttr(); }

/// A block that threads write where the engine must not has one buffer for both.
scf::IfOp choiceAround(Operation *store, Value block) {
  auto choice = dyn_cast<scf::IfOp>(store->getParentOp());
  bool isChoice = choice && store->getBlock() == choice.thenBlock() && choice.elseBlock() &&
                  !choice->isAncestor(block.getParentBlock()->getParentOp());
  return isChoice ? choice : scf::IfOp();
}

/// Threads read the block in other layouts from there, not each from the others' registers.
void readFrom(Value buffer, Value block, scf::IfOp choice) {
  OpBuilder b = OpBuilder::atBlockBegin(choice.elseBlock());
  for (Operation *user : llvm::make_early_inc_range(block.getUsers())) {
    auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(user);
    if (!convert || !llvm::all_of(convert->getUsers(), [&](Operation *reader) {
          return choice.getElseRegion().isAncestor(reader->getParentRegion());
        }))
      continue;
    convert.replaceAllUsesWith(
        tilegpu::SharedLoadOp::create(b, convert.getLoc(), convert.getType(), buffer).getResult());
    convert.erase();
  }
}

/// Whether the operation needs to be done what the engine writes: it may touch that, or tell others
/// that they may.
bool awaits(Operation *op, tilegpu::TmaStoreOp store, GlobalOrder &order) {
  if (op->getNumRegions() && isa<scf::SCFDialect>(op->getDialect()))
    return false;
  std::optional<GlobalAccess> access = globalAccessOf(op);
  BarrierNeed need = access ? order.betweenArrays(*globalAccessOf(store), *access) : BarrierNeed();
  return tellsOthers(op) || !needAt(store, need).isNever();
}

bool isAwaitedIn(Operation *code, tilegpu::TmaStoreOp store, GlobalOrder &order,
                 bool isRepeated = false) {
  return code
      ->walk([&](Operation *op) {
        bool isItself = op == store && !isRepeated;
        return !isItself && awaits(op, store, order) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Waits until what the store has the engine write is in memory: behind what holds the store and
/// has no use for it, and not at all where the rest of the kernel has none.
void awaitStore(tilegpu::TmaStoreOp store, GlobalOrder &order) {
  Operation *done = store;
  for (Operation *parent = store->getParentOp(); isa<scf::SCFDialect>(parent->getDialect());
       done = parent, parent = parent->getParentOp()) {
    bool isRepeated = isa<LoopLikeOpInterface>(parent);
    if (llvm::any_of(*done->getBlock(),
                     [&](Operation &op) { return isAwaitedIn(&op, store, order, isRepeated); }))
      break;
  }
  Operation *next = done->getNextNode();
  bool isLast = isa<func::FuncOp>(done->getParentOp()) &&
                llvm::none_of(llvm::make_range(next->getIterator(), done->getBlock()->end()),
                              [&](Operation &op) { return isAwaitedIn(&op, store, order); });
  if (isLast)
    return;
  OpBuilder b(next);
  tilegpu::TmaStoreWaitOp::create(b, store.getLoc(), store.getDescriptor(), store.getKindAttr());
}

template <typename OpT> void storeBlock(OpT store, GlobalOrder &order) {
  scf::IfOp choice = choiceAround(store, store.getValue());
  OpBuilder b(choice ? choice.getOperation() : store.getOperation());
  Location loc = store.getLoc();
  Value buffer = allocateRows(b, loc, cast<RankedTensorType>(store.getValue().getType()));
  tilegpu::SharedStoreOp::create(b, loc, store.getValue(), buffer);
  tilegpu::ProxyFenceOp::create(b, loc, order.threadsMayMeet(store));
  tilegpu::BarrierOp::create(b, loc, Value());
  if (choice)
    readFrom(buffer, store.getValue(), choice);
  b.setInsertionPoint(store);
  auto byEngine = tilegpu::TmaStoreOp::create(b, loc, buffer, store.getDescriptor(),
                                              store.getOffsets(), kindOf(store));
  store.erase();
  awaitStore(byEngine, order);
}

template <typename OpT> void storeBlocks(func::FuncOp kernel, GlobalOrder &order) {
  SmallVector<OpT> stores;
  kernel.walk([&](OpT store) { stores.push_back(store); });
  for (OpT store : stores)
    storeBlock(store, order);
}

void loadBlock(tile::DescriptorLoadOp load, GlobalOrder &writes) {
  OpBuilder b(load);
  if (std::optional<StagedLoad> staged = stagingOf(load)) {
    SmallVector<int32_t> order = staged->order();
    staged->store.erase();
    for (tile::TransOp trans : llvm::reverse(staged->transpositions))
      trans.erase();
    copy(b, load, staged->buffer, order, endOfCopy(load, staged->buffer), writes);
    load.erase();
    return;
  }
  auto type = cast<RankedTensorType>(load.getType());
  Value buffer = allocateRows(b, load.getLoc(), type);
  copy(b, load, buffer, llvm::to_vector(llvm::seq<int32_t>(0, int32_t(type.getRank()))),
       endOfCopy(load, load), writes);
  load.replaceAllUsesWith(Value(tilegpu::SharedLoadOp::create(b, load.getLoc(), type, buffer)));
  load.erase();
}

struct CopyBlocksPass : PassWrapper<CopyBlocksPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CopyBlocksPass)

  StringRef getArgument() const override { return "kiln-copy-blocks"; }
  StringRef getDescription() const override {
    return "Let the copy engine bring described blocks that no loop copies ahead, and store others";
  }
  void runOnOperation() override {
    SmallVector<tile::DescriptorLoadOp> loads;
    getOperation().walk([&](tile::DescriptorLoadOp load) { loads.push_back(load); });
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    GlobalOrder order(*target);
    for (tile::DescriptorLoadOp load : loads)
      loadBlock(load, order);
    storeBlocks<tile::DescriptorStoreOp>(getOperation(), order);
    storeBlocks<tile::DescriptorReduceOp>(getOperation(), order);
  }
};

} // namespace

std::unique_ptr<Pass> createCopyBlocksPass() { return std::make_unique<CopyBlocksPass>(); }

} // namespace kiln
