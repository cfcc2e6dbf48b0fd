// Operands of a product that are in shared memory one after the other.
//
//     store(a, p); store(b, q); barrier; x = load(p); y = load(q); dot(x, y)
//
// has both buffers at a time. Where they keep a processor from running more blocks, the second one
// is stored when the first has been read, to the same memory:
//
//     store(a, p); barrier; x = load(p); barrier; store(b, q); barrier; y = load(q); dot(x, y)
//
// Two barriers more, for loops whose loads do not run ahead: there it is the other blocks that work
// while one waits for memory. The first is the one whose fragments take fewer registers, and of two
// that take as many the one that is loaded first: its store does not wait for the other's load.
//
// On AMD's GPUs alone: elsewhere loads run ahead as copies. RDNA's code has half as many registers
// again as are counted, which have to leave the room, and more than half as many blocks again are
// what its barriers are worth. RDNA 3's threads hold operands in twice the registers while they
// wait: there it is for what does not fit side by side, and for twice as many blocks where the
// module asks for it.

#include "compiler/Dialect/TileGPU/Transforms/MovedOperations.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedTiles.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace kiln {
namespace {

/// An operand that is stored for one dot alone, and read in front of it.
struct StagedOperand {
  tilegpu::AllocOp buffer;
  tilegpu::SharedStoreOp store;
  tilegpu::SharedLoadOp load;
};

std::optional<StagedOperand> stagedOperand(Value operand, tilegpu::DotOp dot) {
  if (auto trans = operand.getDefiningOp<tile::TransOp>(); trans && trans->hasOneUse())
    operand = trans.getSource();
  auto load = operand.getDefiningOp<tilegpu::SharedLoadOp>();
  auto buffer = load ? load.getBuffer().getDefiningOp<tilegpu::AllocOp>() : tilegpu::AllocOp();
  if (!buffer || !load->hasOneUse() || !llvm::hasNItems(buffer->getUsers(), 2))
    return std::nullopt;
  auto store = dyn_cast_if_present<tilegpu::SharedStoreOp>(onlyWriter(buffer));
  Block *block = dot->getBlock();
  if (!store || load->getBlock() != block || store->getBlock() != block ||
      buffer->getBlock() != block || !store->isBeforeInBlock(load))
    return std::nullopt;
  return StagedOperand{buffer, store, load};
}

/// Whether what is stored of the first is there before the second's.
bool isMadeFirst(const StagedOperand &first, const StagedOperand &second) {
  Operation *maker = contentOf(first.store).tile.getDefiningOp(),
            *other = contentOf(second.store).tile.getDefiningOp();
  return maker && other && maker->getBlock() == other->getBlock() && maker->isBeforeInBlock(other);
}

bool isFirst(StagedOperand first, StagedOperand second) {
  unsigned registers = registersOf(first.load), others = registersOf(second.load);
  return registers < others || (registers == others && isMadeFirst(first, second));
}

/// Has the second operand stored behind the first one's load.
void takeTurns(StagedOperand first, StagedOperand second, MovedOperations &moved) {
  if (!second.store->isBeforeInBlock(first.load))
    return;
  Operation *place = first.load->getNextNode();
  moved.before(second.buffer, place);
  moved.before(second.store, place);
  // Behind the store, even where it stood in front of the other load.
  if (!second.load->isBeforeInBlock(second.store))
    return;
  moved.before(second.load, place);
  if (auto trans = dyn_cast<tile::TransOp>(*second.load->user_begin()))
    moved.before(trans, place);
}

/// Whether as many blocks as there are with it are worth its barriers.
bool isWorthIt(int64_t without, int64_t with, func::FuncOp kernel, const TargetInfo &target) {
  if (target.matrix.mfmaGeneration)
    return with > without;
  if (target.matrix.wmmaGeneration >= 4)
    return 2 * with > 3 * without;
  bool isAskedFor = kernel->getParentOp()->hasAttr(operandsInTurnAttr);
  return with && (isAskedFor ? with >= 2 * without : !without);
}

void takeTurns(func::FuncOp kernel, const TargetInfo &target) {
  bool isRdna = target.matrix.wmmaGeneration;
  int uncounted = isRdna ? estimateRegisters(kernel, target) / 2 : 0;
  int64_t without = StoragePlan::blocksOf(kernel, target, uncounted);
  MovedOperations moved;
  kernel.walk([&](tilegpu::DotOp dot) {
    std::optional<StagedOperand> a = stagedOperand(dot.getA(), dot),
                                 b = stagedOperand(dot.getB(), dot);
    if (!a || !b || a->buffer == b->buffer)
      return;
    if (isFirst(*b, *a))
      std::swap(a, b);
    takeTurns(*a, *b, moved);
  });
  if (moved.empty())
    return;
  int64_t with = StoragePlan::blocksOf(kernel, target, uncounted);
  if (!isWorthIt(without, with, kernel, target))
    moved.undo();
}

struct TakeTurnsPass : PassWrapper<TakeTurnsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TakeTurnsPass)

  StringRef getArgument() const override { return "kiln-take-turns"; }
  StringRef getDescription() const override {
    return "Have a product's operands in shared memory one after the other";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    if (target->matrix.mfmaGeneration || target->matrix.wmmaGeneration)
      takeTurns(getOperation(), *target);
  }
};

} // namespace

std::unique_ptr<Pass> createTakeTurnsPass() { return std::make_unique<TakeTurnsPass>(); }

} // namespace kiln
