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
  // MLIR's pattern for scf.while looks for the terminators in the regions' first blocks: while
  // loops come before what is nested in them, everything else behind it. Terminators go with their
  // operations.
  SmallVector<Operation *> structured;
  module.walk<WalkOrder::PreOrder, ReverseIterator>(
      [&](scf::WhileOp loop) { structured.push_back(loop); });
  module.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (isa<scf::SCFDialect>(op->getDialect()) && !op->hasTrait<OpTrait::IsTerminator>() &&
        !isa<scf::WhileOp>(op))
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
