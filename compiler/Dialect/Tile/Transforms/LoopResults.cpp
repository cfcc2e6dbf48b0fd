// What loops leave behind.

#include "compiler/Dialect/Tile/Transforms/LoopResults.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/Inductions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace kiln {
namespace {

/// In signed integers of up to 32 bits, by steps of one length.
bool countsInFewBits(scf::ForOp loop) {
  auto type = dyn_cast<IntegerType>(loop.getInductionVar().getType());
  APInt step;
  return type && type.getWidth() <= 32 && !loop.getUnsignedCmp() &&
         matchPattern(loop.getStep(), m_ConstantInt(&step)) && step.isStrictlyPositive();
}

/// How often such a loop runs, as i64, in which no difference of its bounds wraps.
Value iterationsOf(OpBuilder &b, scf::ForOp loop) {
  Location loc = loop.getLoc();
  auto wide = [&](Value value) { return resized(b, loc, value, b.getI64Type()); };
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  Value distance =
      arith::SubIOp::create(b, loc, wide(loop.getUpperBound()), wide(loop.getLowerBound()));
  APInt step;
  matchPattern(loop.getStep(), m_ConstantInt(&step));
  Value raised = arith::AddIOp::create(b, loc, distance, constant(step.getSExtValue() - 1));
  Value positive = arith::MaxSIOp::create(b, loc, raised, constant(0));
  return arith::DivUIOp::create(b, loc, positive, constant(step.getSExtValue()));
}

void computeResult(scf::ForOp loop, unsigned number) {
  Value result = loop.getResult(number), start = loop.getInitArgs()[number];
  bool isPointer = isa<tile::PtrType>(result.getType());
  if (result.use_empty() || (!isPointer && !isa<IntegerType>(result.getType())))
    return;
  FailureOr<SmallVector<Value>> steps = stepsOf(loop.getRegionIterArg(number));
  if (failed(steps) || steps->empty())
    return;
  OpBuilder b(loop);
  Location loc = result.getLoc();
  Type type = isPointer ? Type(b.getI64Type()) : result.getType();
  Value moved = resized(b, loc, iterationsOf(b, loop), type), step;
  for (Value part : *steps) {
    if (!loop.isDefinedOutsideOfLoop(part)) // a constant
      part = b.clone(*part.getDefiningOp())->getResult(0);
    Value wide = resized(b, loc, part, type);
    step = step ? arith::AddIOp::create(b, loc, step, wide).getResult() : wide;
  }
  moved = arith::MulIOp::create(b, loc, moved, step);
  Value end = isPointer ? tile::AddPtrOp::create(b, loc, start, moved).getResult()
                        : arith::AddIOp::create(b, loc, start, moved).getResult();
  result.replaceAllUsesWith(end);
}

/// Finds which of the values that a loop carries are wanted: behind it, or by what it does.
class WantedValues {
public:
  explicit WantedValues(scf::ForOp loop) : loop(loop), isWanted(loop.getNumResults()) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isMemoryEffectFree(&op))
        want(&op);
    for (OpResult result : loop.getResults())
      if (!result.use_empty())
        wantCarried(result.getResultNumber());
    while (!pending.empty())
      wantOperands(pending.pop_back_val());
  }

  bool operator[](unsigned number) const { return isWanted[number]; }

private:
  void want(Operation *op) {
    if (seen.insert(op).second)
      pending.push_back(op);
  }

  void wantCarried(unsigned number) {
    if (isWanted[number])
      return;
    isWanted.set(number);
    wantValue(loop.getYieldedValues()[number]);
  }

  void wantValue(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == loop.getBody() && argument != loop.getInductionVar())
        wantCarried(argument.getArgNumber() - loop.getNumInductionVars());
    } else if (value.getParentBlock() == loop.getBody()) {
      want(value.getDefiningOp());
    }
  }

  void wantOperands(Operation *op) {
    llvm::for_each(op->getOperands(), [&](Value value) { wantValue(value); });
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::for_each(captured, [&](Value value) { wantValue(value); });
  }

  scf::ForOp loop;
  llvm::BitVector isWanted;
  DenseSet<Operation *> seen;
  SmallVector<Operation *> pending;
};

void dropUnwanted(scf::ForOp loop) {
  WantedValues wanted(loop);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (unsigned number = 0; number < loop.getNumResults(); ++number)
    if (!wanted[number])
      yield.setOperand(number, loop.getRegionIterArg(number));
}

struct SimplifyLoopResultsPass : PassWrapper<SimplifyLoopResultsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimplifyLoopResultsPass)
  StringRef getArgument() const override { return "kiln-simplify-loop-results"; }
  StringRef getDescription() const override {
    return "Compute what loops leave behind where that is simple, and not at all where nobody "
           "wants it";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tile::TileDialect>();
  }
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      for (unsigned number = 0; countsInFewBits(loop) && number < loop.getNumResults(); ++number)
        computeResult(loop, number);
      dropUnwanted(loop);
    });
  }
};

} // namespace

std::unique_ptr<Pass> createSimplifyLoopResultsPass() {
  return std::make_unique<SimplifyLoopResultsPass>();
}

void registerSimplifyLoopResultsPass() { PassRegistration<SimplifyLoopResultsPass>(); }

} // namespace kiln
