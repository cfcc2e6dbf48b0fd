#include "compiler/Dialect/Tile/Transforms/KnownSigns.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
namespace {

bool standsInFront(Operation *op, Operation *at) {
  Operation *around = op->getBlock()->findAncestorOpInBlock(*at);
  return around && op->isBeforeInBlock(around);
}

/// The least that `value` is if the comparison is true; INT64_MIN where it says nothing.
int64_t leastBy(arith::CmpIOp compare, Value value) {
  APInt bound;
  bool isLeft = compare.getLhs() == value;
  if (!matchPattern(isLeft ? compare.getRhs() : compare.getLhs(), m_ConstantInt(&bound)))
    return INT64_MIN;
  arith::CmpIPredicate greater = isLeft ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt,
                       equal = isLeft ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
  if (compare.getPredicate() == equal)
    return bound.getSExtValue();
  return compare.getPredicate() == greater && !bound.isMaxSignedValue() ? bound.getSExtValue() + 1
                                                                        : INT64_MIN;
}

bool isAssumed(Value value, int least, Operation *at) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto compare = dyn_cast<arith::CmpIOp>(user);
    return compare && leastBy(compare, value) >= least &&
           llvm::any_of(compare->getUsers(), [&](Operation *assume) {
             return isa<tile::AssumeOp>(assume) && standsInFront(assume, at);
           });
  });
}

} // namespace

bool isKnownAtLeast(Value value, int least, Operation *at) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.sge(least);
  Operation *op = value.getDefiningOp();
  auto is = [&](unsigned operand, int bound) {
    return isKnownAtLeast(op->getOperand(operand), bound, at);
  };
  if (isa_and_nonnull<tile::NumProgramsOp>(op))
    return true;
  if (isa_and_nonnull<tile::ProgramIdOp>(op) && least == 0)
    return true;
  if (isa_and_nonnull<arith::ExtSIOp, tile::HintOp>(op) && is(0, least))
    return true;
  if (isa_and_nonnull<arith::MulIOp, arith::MinSIOp>(op) && is(0, least) && is(1, least))
    return true;
  if (isa_and_nonnull<arith::MaxSIOp>(op) && (is(0, least) || is(1, least)))
    return true;
  if (isa_and_nonnull<arith::AddIOp>(op) &&
      ((is(0, least) && is(1, 0)) || (is(0, 0) && is(1, least))))
    return true;
  return isAssumed(value, least, at);
}

} // namespace kiln
