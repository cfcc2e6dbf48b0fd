// Loads of a loop that wait for memory together.
//
//     for …: k = load(p); m = max(m, sum(q * k)); v = load(r); …
//
// waits twice in each iteration where threads meet for the maximum: neither LLVM nor the assembler
// moves a load in front of a barrier. A small load comes behind the one before it, with what its
// address and mask are computed from. It passes nothing that writes to memory.
//
// In a loop with products, whose operands come ahead of their iteration, small loads beside them,
// as of decays, wait for memory in each iteration. They come to its beginning, behind what may
// write what they read, if they pass a product and threads have registers for them.
//
// Where RDNA's threads lack registers for a product beside the sum that it is added to, a small
// tensor that changes its layout behind it, as scales that the product is multiplied by, comes to
// the iteration's beginning with its loads: threads meet for it, and would hold all of the product
// meanwhile.

#include "compiler/Dialect/TileGPU/Transforms/EqualArguments.h"
#include "compiler/Dialect/TileGPU/Transforms/GlobalAccesses.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

/// Registers of a thread that a load may hold for longer, and all of a loop together.
constexpr unsigned ofLoad = 8, ofLoop = 16;

/// A load, and what has to be in front of it, the last first.
struct Lift {
  SmallVector<Operation *> ops;
  Operation *place = nullptr; ///< the load behind which they come
};

bool threadsMeet(Operation &op, const TargetInfo &target) {
  auto scratch = dyn_cast<tilegpu::ScratchOpInterface>(op);
  return scratch && scratch.getScratchBytes(target) > 0;
}

/// The operations that others, added one by one, have their operands from.
class Sources {
public:
  explicit Sources(Operation *op) { addOf(op); }
  void addOf(Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp())
        operations.insert(source);
  }
  bool contains(Operation *op) const { return operations.contains(op); }

private:
  SmallPtrSet<Operation *, 16> operations;
};

/// None where the load would pass no place where threads meet, or would stay ahead of no other.
std::optional<Lift> liftOf(tile::LoadOp load, const TargetInfo &target) {
  Lift lift{{load}};
  Sources needed(load);
  bool passes = false;
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<tile::LoadOp>(op)) {
      lift.place = op;
      break;
    }
    if (!isMemoryEffectFree(op))
      return std::nullopt;
    if (!needed.contains(op)) {
      passes |= threadsMeet(*op, target);
      continue;
    }
    if (op->getNumRegions() || threadsMeet(*op, target))
      return std::nullopt;
    lift.ops.push_back(op);
    needed.addOf(op);
  }
  return lift.place && passes ? std::optional(lift) : std::nullopt;
}

/// Whether the load, which is behind the operation in a loop's body, may be in front of it.
bool mayPass(tile::LoadOp load, Operation *op, GlobalOrder &order) {
  if (op->getNumRegions() != 0 || showsOthersWrites(op))
    return isMemoryEffectFree(op);
  std::optional<GlobalAccess> earlier = globalAccessOf(op), later = globalAccessOf(load);
  if (!earlier || !earlier->writes)
    return true;
  return !order.mayMeet(*earlier, *later, {}) ||
         needAt(load, order.betweenArrays(*earlier, *later)).isNever();
}

/// The same to the beginning of an iteration, for a loop of products. None where the load would
/// pass no product.
std::optional<Lift> liftToBeginning(tile::LoadOp load, GlobalOrder &order) {
  Lift lift{{load}};
  Sources needed(load);
  bool passes = false;
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
    bool isNeeded = needed.contains(op);
    bool stays = isNeeded && (op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
                              isa<tilegpu::ConvertLayoutOp>(op));
    if (stays || !mayPass(load, op, order)) {
      lift.place = op;
      break;
    }
    passes |= isa<tilegpu::DotOp>(op);
    if (!isNeeded)
      continue;
    lift.ops.push_back(op);
    needed.addOf(op);
  }
  return passes ? std::optional(lift) : std::nullopt;
}

/// To the beginning of an iteration, with what the conversion is computed from. None where it would
/// pass no product.
std::optional<Lift> liftToBeginning(tilegpu::ConvertLayoutOp conversion, GlobalOrder &order) {
  Lift lift{{conversion}};
  Sources needed(conversion);
  SmallVector<tile::LoadOp> loads;
  bool passes = false;
  for (Operation *op = conversion->getPrevNode(); op; op = op->getPrevNode()) {
    if (!needed.contains(op)) {
      if (!llvm::all_of(loads, [&](tile::LoadOp load) { return mayPass(load, op, order); }))
        return std::nullopt;
      passes |= isa<tilegpu::DotOp>(op);
      continue;
    }
    auto load = dyn_cast<tile::LoadOp>(op);
    bool isLoad = load && !load.getIsVolatile();
    if (op->getNumRegions() || isa<tilegpu::DotOp>(op) || (!isLoad && !isMemoryEffectFree(op)))
      return std::nullopt;
    if (isLoad)
      loads.push_back(load);
    lift.ops.push_back(op);
    needed.addOf(op);
  }
  return passes ? std::optional(lift) : std::nullopt;
}

/// Lifts what changes its layout behind products, if it is small.
void liftConversions(scf::ForOp loop, GlobalOrder &order, const TargetInfo &target) {
  constexpr unsigned most = 32;
  unsigned registers = 0;
  for (auto conversion :
       llvm::make_early_inc_range(loop.getBody()->getOps<tilegpu::ConvertLayoutOp>())) {
    unsigned held = registersOf(conversion.getResult());
    if (!threadsMeet(*conversion, target) || registers + held > most)
      continue;
    std::optional<Lift> lift = liftToBeginning(conversion, order);
    if (!lift)
      continue;
    registers += held;
    for (Operation *op : lift->ops)
      op->moveBefore(&loop.getBody()->front());
  }
}

/// Lifts the loads that `liftOf` says, of those that are small.
void liftLoads(scf::ForOp loop, llvm::function_ref<std::optional<Lift>(tile::LoadOp)> liftOf) {
  unsigned registers = 0;
  for (auto load : llvm::make_early_inc_range(loop.getBody()->getOps<tile::LoadOp>())) {
    unsigned held = registersOf(load.getResult());
    if (load.getIsVolatile() || held > ofLoad || registers + held > ofLoop)
      continue;
    std::optional<Lift> lift = liftOf(load);
    if (!lift)
      continue;
    registers += held;
    for (Operation *op : lift->ops)
      if (lift->place)
        op->moveAfter(lift->place);
      else
        op->moveBefore(&loop.getBody()->front());
  }
}

struct LiftLoadsPass : PassWrapper<LiftLoadsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LiftLoadsPass)

  StringRef getArgument() const override { return "kiln-lift-loads"; }
  StringRef getDescription() const override {
    return "Let small loads of a loop wait for memory together";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    GlobalOrder order(*target);
    kernel.walk([&](scf::ForOp loop) {
      if (loop.getBody()->getOps<tilegpu::DotOp>().empty())
        liftLoads(loop, [&](tile::LoadOp load) { return liftOf(load, *target); });
      else if (hasRoom(*target))
        liftLoads(loop, [&](tile::LoadOp load) { return liftToBeginning(load, order); });
      else if (lacksRegisters(*target))
        liftConversions(loop, order, *target);
    });
  }

private:
  bool lacksRegisters(const TargetInfo &target) {
    func::FuncOp kernel = getOperation();
    return target.matrix.wmmaGeneration &&
           estimateRegisters(kernel, target) + uncountedRegisters(target) >
               registersOfThread(kernel, target);
  }

  /// Whether threads have registers for what a loop of products may hold longer, and a processor
  /// as many blocks as before.
  bool hasRoom(const TargetInfo &target) {
    func::FuncOp kernel = getOperation();
    return target.asyncCopies &&
           estimateRegisters(kernel, target) + ofLoop + uncountedRegisters(target) <=
               registersOfThread(kernel, target) &&
           int64_t(blocksByRegisters(kernel, target, ofLoop)) >=
               StoragePlan::blocksOf(kernel, target);
  }
};

} // namespace

std::unique_ptr<Pass> createLiftLoadsPass() { return std::make_unique<LiftLoadsPass>(); }

} // namespace kiln
