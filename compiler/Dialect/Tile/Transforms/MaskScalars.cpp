#include "compiler/Dialect/Tile/Transforms/MaskScalars.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace kiln {
namespace {

bool isPositiveZero(Value value) { return value && matchPattern(value, m_PosZeroFloat()); }

/// Whether the value is loaded under the mask, with zeros outside, and perhaps converted.
bool isZeroOutside(Value value, Value mask) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return load.getMask() == mask && isPositiveZero(load.getOther());
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// Of a sum or difference of which nothing else is wanted, the operand that is one number for all
/// elements, if the other is zero outside the mask.
OpOperand *scalarOf(Operation *sum, Value mask) {
  if (!sum || !isa<arith::AddFOp, arith::SubFOp>(sum) || !sum->hasOneUse())
    return nullptr;
  for (unsigned index : {0u, 1u})
    if (sum->getOperand(index).getDefiningOp<tile::SplatOp>() &&
        isZeroOutside(sum->getOperand(1 - index), mask))
      return &sum->getOpOperand(index);
  return nullptr;
}

void maskScalar(arith::SelectOp choice) {
  if (!isa<RankedTensorType>(choice.getType()) || !isPositiveZero(choice.getFalseValue()))
    return;
  Operation *sum = choice.getTrueValue().getDefiningOp();
  OpOperand *scalar = scalarOf(sum, choice.getCondition());
  if (!scalar || sum->getBlock() != choice->getBlock())
    return;
  // Its operands are there where the choice is.
  sum->moveBefore(choice);
  OpBuilder b(sum);
  scalar->set(arith::SelectOp::create(b, choice.getLoc(), choice.getCondition(), scalar->get(),
                                      choice.getFalseValue()));
  choice.replaceAllUsesWith(sum->getResult(0));
  choice.erase();
}

struct MaskScalarsPass : PassWrapper<MaskScalarsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MaskScalarsPass)

  StringRef getArgument() const override { return "kiln-mask-scalars"; }
  StringRef getDescription() const override {
    return "Set numbers to zero in place of the sums of which they are part";
  }

  void runOnOperation() override {
    SmallVector<arith::SelectOp> choices;
    getOperation().walk([&](arith::SelectOp choice) { choices.push_back(choice); });
    llvm::for_each(choices, maskScalar);
  }
};

} // namespace

std::unique_ptr<Pass> createMaskScalarsPass() { return std::make_unique<MaskScalarsPass>(); }

void registerMaskScalarsPass() { PassRegistration<MaskScalarsPass>(); }

} // namespace kiln
