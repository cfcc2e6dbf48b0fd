// Loads of a loop that wait for memory together.
//
//     for …: k = load(p); m = max(m, sum(q * k)); v = load(r); …
//
// waits twice in each iteration where threads meet for the maximum: neither LLVM nor the assembler
// moves a load in front of a barrier. A small load comes behind the one before it, with what its
// address and mask are computed from. It passes nothing that writes to memory.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
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

/// None where the load would pass no place where threads meet, or would stay ahead of no other.
std::optional<Lift> liftOf(tile::LoadOp load, const TargetInfo &target) {
  if (load.getIsVolatile() || registersOf(load.getResult()) > ofLoad)
    return std::nullopt;
  Lift lift{{load}};
  SmallPtrSet<Operation *, 16> needed;
  auto need = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp())
        needed.insert(source);
  };
  need(load);
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
    need(op);
  }
  return lift.place && passes ? std::optional(lift) : std::nullopt;
}

struct LiftLoadsPass : PassWrapper<LiftLoadsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LiftLoadsPass)

  StringRef getArgument() const override { return "kiln-lift-loads"; }
  StringRef getDescription() const override {
    return "Let small loads of a loop wait for memory together";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    getOperation().walk([&](scf::ForOp loop) {
      // Loops of products have an order of their own.
      if (!loop.getBody()->getOps<tilegpu::DotOp>().empty())
        return;
      unsigned registers = 0;
      for (auto load : llvm::make_early_inc_range(loop.getBody()->getOps<tile::LoadOp>())) {
        std::optional<Lift> lift = liftOf(load, *target);
        if (!lift || registers + registersOf(load.getResult()) > ofLoop)
          continue;
        registers += registersOf(load.getResult());
        for (Operation *op : lift->ops)
          op->moveAfter(lift->place);
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> createLiftLoadsPass() { return std::make_unique<LiftLoadsPass>(); }

} // namespace kiln
