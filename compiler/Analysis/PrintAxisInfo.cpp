// kiln-opt's view of the axis facts: a remark at every operation that makes integers or pointers.

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Analysis/Passes.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kiln {
namespace {

struct PrintAxisInfo : PassWrapper<PrintAxisInfo, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintAxisInfo)
  StringRef getArgument() const override { return "kiln-print-axis-info"; }
  StringRef getDescription() const override {
    return "Remark on the alignment, contiguity and constancy of values";
  }

  void runOnOperation() override {
    AxisInfoAnalysis analysis(getOperation());
    getOperation()->walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        Type element = tile::elementTypeOf(result.getType());
        if (!element.isIntOrIndex() && !isa<tile::PtrType>(element))
          continue;
        std::string text;
        llvm::raw_string_ostream os(text);
        analysis.get(result).print(os);
        op->emitRemark() << text;
      }
    });
    markAllAnalysesPreserved();
  }
};

} // namespace

void registerAnalysisPasses() { PassRegistration<PrintAxisInfo>(); }

} // namespace kiln
