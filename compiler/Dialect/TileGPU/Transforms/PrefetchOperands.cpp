// Operands of dots that run ahead through registers, where no copy brings them to shared memory.
//
//     for …: x = load(p(i)); buffer = x; barrier; dot(buffer); barrier
//
// waits for memory in every iteration. With the load an iteration ahead,
//
//     buffer = load(p(0))
//     for …:
//       x = load(p(i + 1))
//       barrier
//       fragments = buffer
//       barrier
//       buffer = x
//       dot(fragments)
//
// a load has the products of an iteration to come, and stores stand beside products, between which
// the back end places them, late. It takes the registers of one tile, and no shared memory: the
// buffer is free as soon as its fragments are read. What is stored to several buffers, as two dots
// read it, is loaded once. What dots read as threads load it goes through no buffer: the loop
// carries it.
//
// MLIR's loop pipeliner writes the prologue and gives each operation the values of its own
// iteration. Loads beyond the end are not made, and what is stored then nobody reads, so there is
// no epilogue, and any number of iterations is right. Only of a few iterations, whose number is
// known, and which the back end writes out, the last one stands behind the loop, and loads and
// stores nothing.
//
// Dots of multiply-adds take their operands step by step (Target/AMD/ReadInSteps), and hold a part
// of them at a time. Where a thread has no room for all, its buffers are filled behind the dot, not
// ahead of it.
//
// Refused: loads two iterations ahead (twice the registers, and a copy of each from one iteration
// to the next); two buffers, of which one is filled while the other is read (one barrier less, but
// mostly half as many blocks on a processor).

#include "compiler/Dialect/TileGPU/Transforms/PairIterations.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/Rings.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace kiln {
namespace {

/// The same operation for iterations that there are. Stores of others do no harm.
Operation *predicated(RewriterBase &rewriter, Operation *op, Value exists) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    makeConditional(rewriter, load, exists);
  return op;
}

/// The last operation behind `first` for which threads meet, or `first`.
Operation *lastMeeting(Operation *first, const TargetInfo &target) {
  Operation *last = first;
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode())
    if (auto scratch = dyn_cast<tilegpu::ScratchOpInterface>(op);
        scratch && scratch.getScratchBytes(target))
      last = op;
  return last;
}

/// Where the buffers are free: the last read of any.
Operation *lastRead(const StagedLoads &staged) {
  Operation *last = nullptr;
  for (const StagedLoad &load : staged.loads)
    for (Operation *reader : readersOf(load))
      if (!last || last->isBeforeInBlock(reader))
        last = reader;
  return last;
}

/// Where all that is read of the buffers has been taken: the last operation that does.
Operation *lastUse(const StagedLoads &staged) {
  Operation *last = lastRead(staged);
  for (const StagedLoad &load : staged.loads)
    for (Operation *reader : readersOf(load))
      for (Operation *user : reader->getUsers()) {
        Operation *inBody = last->getBlock()->findAncestorOpInBlock(*user);
        if (last->isBeforeInBlock(inBody))
          last = inBody;
      }
  return last;
}

/// When buffers are filled again.
enum class Refill {
  BesideProducts, ///< as soon as they are read: threads hold what that was
  BehindProducts, ///< which read what they take when they need it
};

/// Whether a thread has registers, and a block shared memory, for loads that run ahead.
enum class Room {
  Enough,
  Doubtful, ///< by the estimate some registers are lacking, but no more than it may be wrong by
  Lacking,
};

class OperandPrefetcher {
public:
  OperandPrefetcher(scf::ForOp loop, StagedLoads staged, Refill refill, const TargetInfo &target)
      : loop(loop), staged(std::move(staged)), refill(refill), target(target),
        rewriter(loop.getContext()) {}

  LogicalResult run() {
    staged.addresses.insert(staged.direct.begin(), staged.direct.end());
    defineCarried(rewriter, loop);
    unshareAddresses(rewriter, loop, staged);
    for (StagedLoad &load : staged.loads) {
      rewriter.moveOpBefore(load.buffer, loop);
      staged.addresses.insert(load.load);
      stores.insert(load.transpositions.begin(), load.transpositions.end());
      stores.insert(load.store);
    }
    scf::PipeliningOption options;
    options.getScheduleFn = [&](scf::ForOp, std::vector<std::pair<Operation *, unsigned>> &order) {
      order = this->order();
    };
    options.peelEpilogue = isShort();
    options.supportDynamicLoops = true;
    options.predicateFn = predicated;
    rewriter.setInsertionPoint(loop);
    return scf::pipelineForLoop(rewriter, loop, options);
  }

private:
  enum Stage : unsigned { Load, Multiply };

  /// Whether the back end writes out all iterations.
  bool isShort() {
    constexpr int64_t most = 4;
    std::optional<APInt> iterations = loop.getStaticTripCount();
    return iterations && iterations->sle(most) && iterations->sgt(0);
  }

  std::vector<std::pair<Operation *, unsigned>> order() {
    std::vector<std::pair<Operation *, unsigned>> list;
    auto add = [&](auto &ops, Stage stage) {
      for (Operation &op : loop.getBody()->without_terminator())
        if (ops.contains(&op))
          list.push_back({&op, stage});
    };
    add(staged.addresses, Load);
    // What an iteration does behind its products, as sums that threads exchange, hides the wait,
    // too.
    Operation *freed = lastRead(staged);
    if (freed && refill == Refill::BehindProducts)
      freed = lastUse(staged);
    Operation *filled = freed ? lastMeeting(freed, target) : nullptr;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!staged.addresses.contains(&op) && !stores.contains(&op))
        list.push_back({&op, Multiply});
      if (&op == filled)
        add(stores, Load);
    }
    return list;
  }

  scf::ForOp loop;
  StagedLoads staged;
  Refill refill;
  const TargetInfo &target;
  IRRewriter rewriter;
  llvm::SmallSetVector<Operation *, 16> stores;
};

struct PrefetchOperandsPass : PassWrapper<PrefetchOperandsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrefetchOperandsPass)

  StringRef getArgument() const override { return "kiln-prefetch-operands"; }
  StringRef getDescription() const override {
    return "Carry what feeds dots in registers, where no copies bring it to shared memory";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    if (target->asyncCopies)
      return;
    for (scf::ForOp loop : innermostLoops(kernel))
      if (failed(prefetch(loop, *target)))
        return signalPassFailure();
  }

private:
  LogicalResult prefetch(scf::ForOp loop, const TargetInfo &target) {
    constexpr unsigned stages = 2;
    if (RingBudget(getOperation(), target).wishedStages(loop) < stages)
      return success();
    StagedLoads staged;
    {
      AxisInfoAnalysis facts(getOperation());
      staged = findStagedLoads(loop, facts, target);
    }
    if (staged.loads.empty() && staged.direct.empty())
      return success();
    Refill refill = Refill::BesideProducts;
    Room room = roomFor(loop, staged, refill, target);
    if (room == Room::Lacking && readsInSteps(staged)) {
      refill = Refill::BehindProducts;
      room = roomFor(loop, staged, refill, target);
    }
    if (room == Room::Doubtful && !getOperation()->getParentOp()->hasAttr(loadsAheadAttr)) {
      noteThatLoadsWait();
      return success();
    }
    if (room == Room::Lacking)
      return success();
    if (refill == Refill::BesideProducts && canPair(loop, staged, target) &&
        leavesMostBlocks(loop, staged, target)) {
      pairIterations(loop);
      AxisInfoAnalysis facts(getOperation());
      staged = findStagedLoads(loop, facts, target);
    }
    loop = countSigned(loop, staged, /*isWide=*/false);
    if (!loop)
      return success();
    Location loc = loop.getLoc();
    if (succeeded(OperandPrefetcher(loop, std::move(staged), refill, target).run()))
      return success();
    return emitError(loc, "expected a loop that can be pipelined: this is a mistake in Kiln");
  }

  /// Whether all that is read of the buffers goes to dots of multiply-adds: these take it step by
  /// step, where a unit's operands are put together ahead of it.
  static bool readsInSteps(const StagedLoads &staged) {
    return staged.direct.empty() && llvm::all_of(staged.loads, [](const StagedLoad &load) {
             return llvm::all_of(readersOf(load), [](Operation *reader) {
               return llvm::all_of(reader->getUsers(), [](Operation *user) {
                 auto dot = dyn_cast<tilegpu::DotOp>(user);
                 return dot && !dot.getUnit();
               });
             });
           });
  }

  /// All buffers are alive at a time, and threads hold what the next iteration takes and, where
  /// buffers are filled again before the last dots, what these read. The estimate may be too high:
  /// it counts operands whole that dots read a step at a time, and addresses of buffers.
  Room roomFor(scf::ForOp loop, const StagedLoads &staged, Refill refill,
               const TargetInfo &target) {
    unsigned registers = estimateRegisters(getOperation(), target) + uncountedRegisters(target);
    if (refill == Refill::BesideProducts)
      registers += heldFragments(staged);
    SmallVector<int64_t> bytes;
    DenseSet<Operation *> loads;
    for (const StagedLoad &load : staged.loads) {
      // With an address of 8 bytes for at most 16.
      if (loads.insert(load.load).second)
        registers += registersOf(load.load->getResult(0)) * 3 / 2;
      bytes.push_back(tilegpu::AllocOp(load.buffer).getType().getBytes());
    }
    // This iteration's, too.
    for (tile::LoadOp load : staged.direct)
      registers += registersOf(load.getType()) * 3 / 2;
    unsigned most = registersOfThread(getOperation(), target);
    if (registers > most)
      registers -= operandsAside(loop, bytes);
    StoragePlan storage(getOperation(), target);
    if (storage.bytesWith(RingBudget::buffersOf(staged), bytes, /*slots=*/1, loop) >
        int64_t(target.maxSharedBytes))
      return Room::Lacking;
    if (registers <= most)
      return Room::Enough;
    // Of dots of multiply-adds, which have another way to refill, there is no doubt.
    bool isDoubtful = registers <= most + doubtful(target) && !readsInSteps(staged);
    return isDoubtful ? Room::Doubtful : Room::Lacking;
  }

  /// How many registers too many by the estimate a thread may have room for.
  static unsigned doubtful(const TargetInfo &target) {
    return target.matrix.wmmaGeneration ? 96 : 0;
  }

  /// For a second code, in which they do not.
  void noteThatLoadsWait() {
    func::FuncOp kernel = getOperation();
    kernel->setAttr(loadsWaitAttr, UnitAttr::get(kernel.getContext()));
  }

  /// Whether a processor has as many of the kernel's blocks at a time where twice as much is loaded
  /// ahead, and read at a time: else others hide the wait. Of RDNA's, which are more, five of eight
  /// are enough for half as many waits: the estimate has some thirty registers more than loops of
  /// so few products.
  bool leavesMostBlocks(scf::ForOp loop, const StagedLoads &staged, const TargetInfo &target) {
    unsigned registers = heldFragments(staged);
    DenseSet<Operation *> loads(staged.direct.begin(), staged.direct.end());
    SmallVector<int64_t> bytes;
    for (const StagedLoad &load : staged.loads) {
      loads.insert(load.load);
      bytes.push_back(tilegpu::AllocOp(load.buffer).getType().getBytes());
    }
    for (Operation *load : loads)
      registers += registersOf(load->getResult(0)) * 3 / 2;
    StoragePlan storage(getOperation(), target);
    auto blocks = [&](unsigned iterations) {
      int64_t shared =
          storage.bytesWith(RingBudget::buffersOf(staged), bytes, /*slots=*/iterations, loop);
      return std::min<int64_t>(StoragePlan::blocksWith(target, shared),
                               blocksByRegisters(getOperation(), target,
                                                 missingBesideProducts + iterations * registers));
    };
    return target.matrix.mfmaGeneration ? blocks(2) >= blocks(1) : 8 * blocks(2) >= 5 * blocks(1);
  }

  /// Registers of what is read before the buffers are filled again, and multiplied behind that: but
  /// for one step of a dot, which the estimate has.
  static unsigned heldFragments(const StagedLoads &staged) {
    Operation *last = lastRead(staged);
    llvm::SmallSetVector<Value, 8> fragments;
    for (const StagedLoad &load : staged.loads)
      for (Operation *reader : readersOf(load))
        fragments.insert_range(reader->getResults());
    unsigned registers = 0, counted = 0;
    llvm::DenseMap<Operation *, unsigned> ofStep;
    for (Value value : fragments) {
      bool isHeld = false;
      for (Operation *user : value.getUsers()) {
        Operation *inBody = last->getBlock()->findAncestorOpInBlock(*user);
        if (inBody->isBeforeInBlock(last))
          continue;
        isHeld = true;
        if (auto dot = dyn_cast<tilegpu::DotOp>(user))
          counted = std::max(counted, ofStep[dot] += registersOfStep(dot, value));
      }
      registers += isHeld ? registersOf(value) : 0;
    }
    return registers - std::min(counted, registers);
  }

  /// Registers of operands that the loop does not change, but for a step: kiln-share-buffers has
  /// dots read them from shared memory where threads lack registers. Adds what they take there.
  static unsigned operandsAside(scf::ForOp loop, SmallVectorImpl<int64_t> &bytes) {
    llvm::SmallSetVector<Value, 4> operands;
    unsigned registers = 0;
    for (auto dot : loop.getBody()->getOps<tilegpu::DotOp>())
      for (Value operand : {dot.getA(), dot.getB()})
        if (operand.getDefiningOp<tilegpu::ConvertLayoutOp>() &&
            loop.isDefinedOutsideOfLoop(operand) && operands.insert(operand)) {
          auto type = cast<RankedTensorType>(operand.getType());
          registers += registersOf(operand) - registersOfStep(dot, operand);
          bytes.push_back(type.getNumElements() * tilegpu::storageBits(type.getElementType()) / 8);
        }
    return registers;
  }
};

} // namespace

std::unique_ptr<Pass> createPrefetchOperandsPass() {
  return std::make_unique<PrefetchOperandsPass>();
}

} // namespace kiln
