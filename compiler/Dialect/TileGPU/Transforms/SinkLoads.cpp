// Loads that threads hold for longer than there are registers for, moved to where they are used.
//
//     x = load(p); y = load(q); multiply by x; multiply by y
//
// holds y through the first product, so that both wait for memory at once. Where the kernel's
// registers do not suffice for that, the assembler would keep y in local memory, which costs more
// than to wait twice. So the largest loads with the longest way to their first use go there, with
// what is computed from them element by element, until the estimate says that the rest fits. A load
// goes no further than what may write to memory, or has threads meet for it.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

/// Registers of a thread from which on a value is worth moving.
constexpr unsigned many = 32;

/// A load, and what is computed of it alone, element by element, up to where more is used: the last
/// is what `user` takes first.
struct Sinking {
  SmallVector<Operation *, 4> chain;
  Operation *user = nullptr;
};

bool isElementwise(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         op->hasTrait<OpTrait::Elementwise>();
}

/// The first user of the value in its own block; null if there is one elsewhere.
Operation *firstUser(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != value.getParentBlock())
      return nullptr;
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// Whether a load may be made behind the operation as well. Barriers that are there are those of
/// rings; those that global accesses need are put where the loads then are.
bool mayPass(Operation &op) {
  if (isMemoryEffectFree(&op) || isa<tilegpu::BarrierOp>(op))
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || op.getNumRegions())
    return false;
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  return llvm::all_of(all, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Read>(effect.getEffect()) ||
           isa<tilegpu::SharedMemory>(effect.getResource());
  });
}

std::optional<Sinking> sinkingOf(tile::LoadOp load) {
  if (load.getIsVolatile() || registersOf(load.getResult()) < many)
    return std::nullopt;
  Sinking found{{load}};
  for (Value value = load.getResult();;) {
    found.user = firstUser(value);
    if (!found.user || !value.hasOneUse() || !isElementwise(found.user))
      break;
    found.chain.push_back(found.user);
    value = found.user->getResult(0);
  }
  bool passesDots = false;
  if (!found.user || found.user->hasTrait<OpTrait::IsTerminator>())
    return std::nullopt;
  for (Operation *op = load->getNextNode(); op != found.user; op = op->getNextNode()) {
    if (!mayPass(*op))
      return std::nullopt;
    passesDots |= isa<tilegpu::DotOp>(op);
  }
  return passesDots ? std::optional(found) : std::nullopt;
}

struct SinkLoadsPass : PassWrapper<SinkLoadsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SinkLoadsPass)

  StringRef getArgument() const override { return "kiln-sink-loads"; }
  StringRef getDescription() const override {
    return "Load what registers do not suffice for where it is used";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
    if (!target)
      return signalPassFailure();
    SmallVector<tile::LoadOp> loads;
    kernel.walk([&](tile::LoadOp load) { loads.push_back(load); });
    // The last first: it is used last, for the most part.
    for (tile::LoadOp load : llvm::reverse(loads)) {
      std::optional<Sinking> sinking = sinkingOf(load);
      if (!sinking)
        continue;
      if (estimateRegisters(kernel, *target) <= registersOfThread(kernel, *target))
        return;
      for (Operation *op : sinking->chain)
        op->moveBefore(sinking->user);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createSinkLoadsPass() { return std::make_unique<SinkLoadsPass>(); }

} // namespace kiln
