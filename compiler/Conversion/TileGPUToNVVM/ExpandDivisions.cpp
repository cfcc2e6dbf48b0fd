// Divisions of many numbers by one.
//
// ptxas makes of `div.full.f32` of x and y, which is good to 2 units in the last place
//
//     if y is huge:  x = x / 4, y = y / 4
//     if y is tiny:  x = x * 2^24, y = y * 2^24
//     x * reciprocal(y)
//
// and computes for many x and one y all that hangs on y alone once, but not which of the two
// scalings it is: each x is multiplied under two predicates. Here the scale is a number, and each x
// is multiplied by it: one instruction in three less, and the same bits. Of two or three quotients,
// as the mean and the variance of a row are, not: norms became up to 7 % slower.

#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr llvm::StringLiteral division = "llvm.nvvm.div.full";
constexpr size_t fewest = 4; ///< quotients of one divisor

class DivisorBuilder {
public:
  DivisorBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// By what a dividend is to be multiplied, one after the other.
  struct Factors {
    Value scale, reciprocal;
  };

  Factors factorsOf(Value divisor) {
    Value size = LLVM::FAbsOp::create(b, loc, divisor);
    Value isHuge = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::ogt, size, number(0x1p126f));
    Value isTiny = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::olt, size, number(0x1p-126f));
    Value enlarged = LLVM::SelectOp::create(b, loc, isTiny, number(0x1p24f), number(1));
    Value scale = LLVM::SelectOp::create(b, loc, isHuge, number(0.25f), enlarged);
    Value scaled = LLVM::FMulOp::create(b, loc, divisor, scale);
    return {scale, call("llvm.nvvm.rcp.approx.ftz.f", scaled)};
  }

  /// Rounded by itself: no part of a fused multiply-add, as a quotient is none.
  Value product(Value x, const Factors &factors) {
    Value scaled = LLVM::FMulOp::create(b, loc, x, factors.scale);
    return call("llvm.nvvm.mul.rn.f", {scaled, factors.reciprocal});
  }

private:
  Value number(float value) { return LLVM::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); }
  Value call(StringRef name, ValueRange arguments) {
    return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(), b.getStringAttr(name), arguments)
        .getResult(0);
  }

  OpBuilder &b;
  Location loc;
};

} // namespace

void shareDivisors(ModuleOp module) {
  llvm::MapVector<Value, SmallVector<LLVM::CallIntrinsicOp>> divisions;
  module.walk([&](LLVM::CallIntrinsicOp op) {
    if (op.getIntrin() == division && !op.getArgs()[1].getDefiningOp<LLVM::ConstantOp>())
      divisions[op.getArgs()[1]].push_back(op);
  });
  for (auto &[divisor, mine] : divisions) {
    if (mine.size() < fewest)
      continue;
    OpBuilder b(module.getContext());
    b.setInsertionPointAfterValue(divisor);
    DivisorBuilder::Factors factors = DivisorBuilder(b, divisor.getLoc()).factorsOf(divisor);
    for (LLVM::CallIntrinsicOp op : mine) {
      b.setInsertionPoint(op);
      Value quotient = DivisorBuilder(b, op.getLoc()).product(op.getArgs()[0], factors);
      op.getResult(0).replaceAllUsesWith(quotient);
      op.erase();
    }
  }
}

} // namespace kiln
