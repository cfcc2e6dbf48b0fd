// Loads of a loop that start ahead of its stores to where they load from.
//
//     for …: x = load(p); store(p, state); state = state * a + x; p += …
//
// stores what it had before it loaded. An access is a constant away from the others, so that ptxas
// knows them apart, and moves stores that have their values in front of loads that do not have
// registers yet: seven of 32 were in flight. Such a load says for how many registers it is started
// before anything behind it.

#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

/// Fewer registers of a load than that are in flight together anyway.
constexpr unsigned few = 32;
/// What a thread has beside tiles: addresses, counters, what arithmetic is about to use.
constexpr unsigned beside = 24;

/// Whether operations of the load's block compute `value` of what is loaded.
bool hangsOn(Value value, tile::LoadOp load, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *source = value.getDefiningOp();
  if (source == load)
    return true;
  if (!source || source->getBlock() != load->getBlock() || !load->isBeforeInBlock(source) ||
      !seen.insert(source).second)
    return false;
  if (source->getNumRegions())
    return true;
  return llvm::any_of(source->getOperands(),
                      [&](Value operand) { return hangsOn(operand, load, seen); });
}

/// Whether something behind the load stores to the same addresses what was there before it.
bool isPassedByStores(tile::LoadOp load) {
  return llvm::any_of(load.getPtr().getUsers(), [&](Operation *user) {
    auto store = dyn_cast<tile::StoreOp>(user);
    llvm::SmallPtrSet<Operation *, 8> seen;
    return store && store.getPtr() == load.getPtr() && store->getBlock() == load->getBlock() &&
           load->isBeforeInBlock(store) && !hangsOn(store.getValue(), load, seen);
  });
}

/// Registers of tiles that the loop carries, or takes from around it.
unsigned registersInto(scf::ForOp loop) {
  llvm::SmallPtrSet<Value, 8> seen;
  unsigned registers = 0;
  auto consider = [&](Value value) {
    bool isData =
        isa<FloatType>(getElementTypeOrSelf(value)) || value.getDefiningOp<tile::LoadOp>();
    if (isData && !value.getDefiningOp<arith::ConstantOp>() && seen.insert(value).second)
      registers += registersOf(value);
  };
  for (BlockArgument carried : loop.getRegionIterArgs())
    consider(carried);
  loop.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (loop.isDefinedOutsideOfLoop(operand))
        consider(operand);
  });
  return registers;
}

struct StartLoadsPass : PassWrapper<StartLoadsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StartLoadsPass)

  StringRef getArgument() const override { return "kiln-start-loads"; }
  StringRef getDescription() const override {
    return "Start loads of loops ahead of stores to the same addresses";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    getOperation().walk([&](tile::LoadOp load) {
      auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
      if (!loop || registersOf(load.getResult()) < few || !isPassedByStores(load))
        return;
      unsigned taken = registersInto(loop) + beside;
      unsigned all = registersOfThread(getOperation(), *target);
      if (taken + few <= all)
        load->setAttr(tilegpu::TileGPUDialect::startedAttr,
                      Builder(load).getI32IntegerAttr(int32_t(all - taken)));
    });
  }
};

} // namespace

std::unique_ptr<Pass> createStartLoadsPass() { return std::make_unique<StartLoadsPass>(); }

} // namespace kiln
