// Loops that run a known number of times, in the form that LLVM brings all loops to.
//
// A tile makes tens of loops and a sorting kernel a thousand. MLIR's conversion tests before the
// first iteration; LLVM then turns each loop over, and after each change walks all users of all
// loops around it: time grows as loops times instructions. A loop whose count is known needs no
// first test. Counting by "next != last" is LLVM's form of the test, so that it changes nothing.
// Unrolling a loop makes LLVM walk them all again.

#include "compiler/Conversion/TileToCPU/CountedLoops.h"
#include "compiler/Conversion/FlattenControlFlow/LoopAnnotation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::cpu {
namespace {

/// Body first, test after it.
struct CountedLoop : OpRewritePattern<scf::ForOp> {
  // Before MLIR's pattern, which takes every loop.
  explicit CountedLoop(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    std::optional<int64_t> low = getConstantIntValue(loop.getLowerBound()),
                           high = getConstantIntValue(loop.getUpperBound()),
                           step = getConstantIntValue(loop.getStep());
    if (!low || !high || !step || *step <= 0 || *low < 0 || *high <= *low)
      return failure();
    Location loc = loop.getLoc();
    Block *before = loop->getBlock();
    Block *after = rewriter.splitBlock(before, loop->getIterator());
    Block *body = loop.getBody(), *latch = &loop.getRegion().back();
    rewriter.inlineRegionBefore(loop.getRegion(), after);

    auto yield = cast<scf::YieldOp>(latch->getTerminator());
    SmallVector<Value> results(yield.getOperands());
    rewriter.setInsertionPoint(yield);
    Type type = body->getArgument(0).getType();
    int64_t last = *low + llvm::divideCeil(*high - *low, *step) * *step;
    auto flags = arith::IntegerOverflowFlagsAttr::get(
        getContext(), arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
    Value next = arith::AddIOp::create(rewriter, loc, body->getArgument(0), loop.getStep(), flags);
    Value end = arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(type, last));
    Value more = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, next, end);
    SmallVector<Value> again{next};
    llvm::append_range(again, results);
    for (Value result : results)
      after->addArgument(result.getType(), loc);
    auto branch = cf::CondBranchOp::create(rewriter, loc, more, body, again, after, results);
    if (Attribute annotation = loop->getAttr(loopAnnotationAttr))
      branch->setAttr(loopAnnotationAttr, annotation);
    rewriter.eraseOp(yield);

    rewriter.setInsertionPointToEnd(before);
    SmallVector<Value> initial{loop.getLowerBound()};
    llvm::append_range(initial, loop.getInitArgs());
    cf::BranchOp::create(rewriter, loc, body, initial);
    rewriter.replaceOp(loop, after->getArguments());
    return success();
  }
};

} // namespace

void forbidUnrollingOfMany(Operation *module) {
  constexpr size_t maxLoops = 256;
  SmallVector<scf::ForOp> loops;
  module->walk([&](scf::ForOp loop) { loops.push_back(loop); });
  if (loops.size() > maxLoops)
    llvm::for_each(loops, forbidUnrolling);
}

void populateCountedLoopPattern(RewritePatternSet &patterns) {
  patterns.add<CountedLoop>(patterns.getContext());
}

} // namespace kiln::cpu
