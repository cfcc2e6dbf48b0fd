#include "compiler/Conversion/FlattenControlFlow/FlattenControlFlow.h"

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

using namespace mlir;

namespace kiln {

/// Blocks of what hardly ever happens come last: NVIDIA's assembler keeps the order of a branch's
/// sides, and what is fetched anew for the other side may come from memory.
static void putUnlikelyLast(scf::IfOp branch, PatternRewriter &rewriter) {
  Location loc = branch.getLoc();
  Value isTrue = arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
  branch.getConditionMutable().assign(
      arith::XOrIOp::create(rewriter, loc, branch.getCondition(), isTrue));
  Region unlikely;
  unlikely.takeBody(branch.getThenRegion());
  branch.getThenRegion().takeBody(branch.getElseRegion());
  branch.getElseRegion().takeBody(unlikely);
}

/// Of a constant, or a product of such, as MLIR's pipeliner multiplies a loop's step by one.
static std::optional<APInt> numberOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number;
  auto product = value.getDefiningOp<arith::MulIOp>();
  std::optional<APInt> left = product ? numberOf(product.getLhs()) : std::nullopt;
  std::optional<APInt> right = left ? numberOf(product.getRhs()) : std::nullopt;
  return right ? std::optional(*left * *right) : std::nullopt;
}

/// Of the loop that MLIR's pattern has made blocks of, behind `before`: it adds the step to the
/// first argument of the block where the loop begins. So does what runs an iteration ahead, in the
/// loop's body: of two additions that differ in this alone LLVM makes one that may overflow.
static void markCounter(Block *before) {
  Block *header = before->getTerminator()->getSuccessor(0);
  for (Block *latch : header->getPredecessors()) {
    auto branch = dyn_cast<cf::BranchOp>(latch->getTerminator());
    if (latch == before || !branch)
      continue;
    auto next = branch.getDestOperands()[0].getDefiningOp<arith::AddIOp>();
    if (!next || next.getLhs() != header->getArgument(0))
      continue;
    std::optional<APInt> step = numberOf(next.getRhs());
    for (Operation *user : header->getArgument(0).getUsers())
      if (auto sum = dyn_cast<arith::AddIOp>(user);
          sum && sum.getLhs() == next.getLhs() &&
          (sum.getRhs() == next.getRhs() || (step && step == numberOf(sum.getRhs()))))
        sum.setOverflowFlags(arith::IntegerOverflowFlags::nsw);
  }
}

LogicalResult flattenControlFlow(ModuleOp module, RewritePatternSet preferred, bool countersFit) {
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
    Block *before = op->getBlock();
    auto branch = dyn_cast<scf::IfOp>(op);
    auto loop = dyn_cast<scf::ForOp>(op);
    bool isCounted = countersFit && loop && !loop.getUnsignedCmp();
    bool swaps = branch && branch.elseBlock() && op->hasAttr(tile::TileDialect::unlikelyAttr);
    if (swaps)
      putUnlikelyLast(branch, rewriter);
    if (failed(applicator.matchAndRewrite(op, rewriter)))
      return op->emitError() << "expected structured control flow that becomes branches, got '"
                             << op->getName() << "'";
    if (isCounted)
      markCounter(before);
    if (swaps)
      cast<cf::CondBranchOp>(before->getTerminator()).setBranchWeights(ArrayRef<int32_t>{2000, 1});
  }
  return success();
}

} // namespace kiln
