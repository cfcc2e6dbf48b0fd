#include "compiler/Conversion/FlattenControlFlow/FlattenControlFlow.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

using namespace mlir;

namespace kiln {

LogicalResult flattenControlFlow(ModuleOp module, RewritePatternSet preferred) {
  module.getContext()->loadDialect<cf::ControlFlowDialect>();
  populateSCFToControlFlowConversionPatterns(preferred);
  FrozenRewritePatternSet patterns(std::move(preferred));
  PatternApplicator applicator(patterns);
  applicator.applyDefaultCostModel();
  // What is nested comes before what it is in; terminators go with their operations.
  SmallVector<Operation *> structured;
  module.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (isa<scf::SCFDialect>(op->getDialect()) && !op->hasTrait<OpTrait::IsTerminator>())
      structured.push_back(op);
  });
  // No listener: operations move in one piece.
  PatternRewriter rewriter(module.getContext());
  for (Operation *op : structured) {
    rewriter.setInsertionPoint(op);
    if (failed(applicator.matchAndRewrite(op, rewriter)))
      return op->emitError() << "expected structured control flow that becomes branches, got '"
                             << op->getName() << "'";
  }
  return success();
}

} // namespace kiln
