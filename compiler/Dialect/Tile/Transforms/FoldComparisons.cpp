#include "compiler/Dialect/Tile/Transforms/FoldComparisons.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kiln {
namespace {

using dataflow::IntegerValueRangeLattice;

IntegerValueRange between(int64_t least, int64_t most, unsigned bits) {
  return ConstantIntRanges::fromSigned(APInt(bits, least, true), APInt(bits, most, true));
}

/// What MLIR's analysis knows, of tensors each element, and what tiles and the steps of loops add.
class Ranges : public dataflow::IntegerRangeAnalysis {
public:
  using IntegerRangeAnalysis::IntegerRangeAnalysis;

  LogicalResult visitOperation(Operation *op, ArrayRef<const IntegerValueRangeLattice *> operands,
                               ArrayRef<IntegerValueRangeLattice *> results) override {
    std::optional<IntegerValueRange> range = rangeOf(op, operands);
    if (!range)
      return IntegerRangeAnalysis::visitOperation(op, operands, results);
    propagateIfChanged(results[0], results[0]->join(*range));
    return success();
  }

  /// A loop's counter stops at the last multiple of the step.
  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                                    ArrayRef<IntegerValueRangeLattice *> arguments,
                                    unsigned firstIndex) override {
    auto loop = dyn_cast<scf::ForOp>(op);
    APInt lower, upper, step;
    if (!loop || loop.getUnsignedCmp() ||
        !matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
        !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)) || lower.getBitWidth() > 64)
      return IntegerRangeAnalysis::visitNonControlFlowArguments(op, successor, arguments,
                                                                firstIndex);
    int64_t first = lower.getSExtValue(), width = upper.getSExtValue() - first;
    int64_t by = step.getSExtValue();
    int64_t last = width > 0 && by > 0 ? first + (width - 1) / by * by : first;
    IntegerValueRangeLattice *counter = getLatticeElement(loop.getInductionVar());
    propagateIfChanged(counter, counter->join(between(first, last, lower.getBitWidth())));
  }

private:
  static std::optional<IntegerValueRange>
  rangeOf(Operation *op, ArrayRef<const IntegerValueRangeLattice *> operands) {
    if (auto arange = dyn_cast<tile::ArangeOp>(op))
      return between(arange.getStart(), int64_t(arange.getEnd()) - 1, 32);
    if (isa<tile::ProgramIdOp>(op))
      return between(0, INT32_MAX, 32);
    if (isa<tile::NumProgramsOp>(op))
      return between(1, INT32_MAX, 32);
    bool moves = isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
                     tile::TransOp, tile::HintOp>(op);
    if (moves && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0))))
      return operands[0]->getValue();
    return std::nullopt;
  }
};

/// What is known of a number.
std::optional<ConstantIntRanges> knownOf(Value value, const DataFlowSolver &solver) {
  const auto *lattice = solver.lookupState<IntegerValueRangeLattice>(value);
  if (!lattice || lattice->getValue().isUninitialized())
    return std::nullopt;
  return lattice->getValue().getValue();
}

/// The result of a comparison, if it is known.
std::optional<bool> resultOf(arith::CmpIOp compare, const DataFlowSolver &solver) {
  std::optional<ConstantIntRanges> known = knownOf(compare.getResult(), solver);
  std::optional<APInt> result = known ? known->getConstantValue() : std::nullopt;
  return result ? std::optional(result->getBoolValue()) : std::nullopt;
}

/// Whether a second iteration would begin behind the loop's end, wherever that is.
bool runsOnceAtMost(scf::ForOp loop, const DataFlowSolver &solver) {
  auto lower = knownOf(loop.getLowerBound(), solver), upper = knownOf(loop.getUpperBound(), solver);
  auto step = knownOf(loop.getStep(), solver);
  if (loop.getUnsignedCmp() || !lower || !upper || !step || !step->smin().isStrictlyPositive())
    return false;
  unsigned wide = lower->smin().getBitWidth() + 1;
  APInt second = lower->smin().sext(wide) + step->smin().sext(wide);
  return upper->smax().sext(wide).sle(second);
}

/// A branch in place of a loop that runs once at most.
void makeBranch(IRRewriter &rewriter, scf::ForOp loop) {
  rewriter.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  Value runs = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                     loop.getUpperBound());
  bool hasResults = loop.getNumResults() != 0;
  auto branch = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), runs,
                                  /*addThenBlock=*/true, /*addElseBlock=*/hasResults);
  SmallVector<Value> arguments{loop.getLowerBound()};
  llvm::append_range(arguments, loop.getInitArgs());
  rewriter.mergeBlocks(loop.getBody(), branch.thenBlock(), arguments);
  if (hasResults) {
    rewriter.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, loop.getInitArgs());
  }
  rewriter.replaceOp(loop, branch);
}

struct FoldComparisonsPass : PassWrapper<FoldComparisonsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FoldComparisonsPass)

  StringRef getArgument() const override { return "kiln-fold-comparisons"; }
  StringRef getDescription() const override {
    return "Replace comparisons that ranges decide by their results";
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<scf::SCFDialect>();
  }

  void runOnOperation() override {
    SmallVector<arith::CmpIOp> comparisons;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](arith::CmpIOp compare) { comparisons.push_back(compare); });
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    if (comparisons.empty() && loops.empty())
      return;
    DataFlowSolver solver;
    dataflow::loadBaselineAnalyses(solver);
    solver.load<Ranges>();
    if (failed(solver.initializeAndRun(getOperation())))
      return signalPassFailure();
    llvm::erase_if(loops, [&](scf::ForOp loop) { return !runsOnceAtMost(loop, solver); });
    for (arith::CmpIOp compare : comparisons)
      if (std::optional<bool> result = resultOf(compare, solver))
        replace(compare, *result);
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops)
      makeBranch(rewriter, loop);
  }

private:
  static void replace(arith::CmpIOp compare, bool result) {
    OpBuilder builder(compare);
    TypedAttr value = builder.getBoolAttr(result);
    if (auto tensor = dyn_cast<RankedTensorType>(compare.getType()))
      value = SplatElementsAttr::get(tensor, result);
    compare.replaceAllUsesWith(
        arith::ConstantOp::create(builder, compare.getLoc(), value).getResult());
    compare.erase();
  }
};

} // namespace

std::unique_ptr<Pass> createFoldComparisonsPass() {
  return std::make_unique<FoldComparisonsPass>();
}

void registerFoldComparisonsPass() { PassRegistration<FoldComparisonsPass>(); }

} // namespace kiln
