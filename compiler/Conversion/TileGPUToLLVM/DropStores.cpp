// A tile may be larger than what its mask ever lets through: 512 elements under `i < 64`. Of those
// that a thread holds some then are masked whatever the thread, as the numbers of threads are
// bounded. LLVM finds this too, and leaves out their loads, stores and arithmetic, but not their
// part in what several elements do together: one branch asks whether any of eight angles is large
// (ExpandAngles.cpp), and so keeps all that the angles are computed of. So it is found here, in
// front of that.

#include "compiler/Conversion/TileGPUToLLVM/DropStores.h"

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

static bool isKnownFalse(Value predicate, const DataFlowSolver &solver) {
  const auto *range =
      predicate ? solver.lookupState<dataflow::IntegerValueRangeLattice>(predicate) : nullptr;
  return range && !range->getValue().isUninitialized() &&
         range->getValue().getValue().umax().isZero();
}

void dropStores(ModuleOp module) {
  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<dataflow::IntegerRangeAnalysis>();
  if (failed(solver.initializeAndRun(module)))
    return;
  // From the last to the first: what is dropped is all that needed something else.
  SmallVector<Operation *> operations;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { operations.push_back(op); });
  bool drops = false;
  for (Operation *op : llvm::reverse(operations)) {
    auto store = dyn_cast<tilegpu::GlobalStoreOp>(op);
    bool isMasked = store && isKnownFalse(store.getPredicate(), solver);
    drops |= isMasked;
    if (isMasked || (drops && isOpTriviallyDead(op)))
      op->erase();
  }
}

} // namespace kiln
