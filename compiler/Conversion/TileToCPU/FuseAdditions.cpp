// x + dot(a, b, 0) becomes dot(a, b, x): the sums then go straight to the array that x is in, which
// in a loop is the loop's own. See Passes.h.

#include "compiler/Conversion/TileToCPU/Passes.h"
#include "compiler/Dialect/Tile/ByteFloats.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln::cpu {

/// The product, if `value` is one that starts from zero and that nobody else uses.
static tile::DotOp freshProduct(Value value) {
  auto dot = value.getDefiningOp<tile::DotOp>();
  if (!dot || !value.hasOneUse())
    return {};
  bool startsFromZero =
      matchPattern(dot.getC(), m_AnyZeroFloat()) || matchPattern(dot.getC(), m_Zero());
  return startsFromZero ? dot : tile::DotOp();
}

/// 8-bit operands as f32, which they are packed as.
static void widenOperands(tile::DotOp dot) {
  OpBuilder builder(dot);
  for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()})
    if (tile::isByteFloat(tile::elementTypeOf(operand->get().getType()))) {
      Type wide = tile::withElementType(operand->get().getType(), builder.getF32Type());
      operand->set(arith::ExtFOp::create(builder, dot.getLoc(), wide, operand->get()));
    }
}

void fuseAdditions(func::FuncOp kernel) {
  kernel.walk(widenOperands);
  SmallVector<Operation *> additions;
  kernel.walk([&](Operation *op) {
    if (isa<arith::AddFOp, arith::AddIOp>(op))
      additions.push_back(op);
  });
  for (Operation *add : additions) {
    Value sum = add->getOperand(0);
    tile::DotOp dot = freshProduct(add->getOperand(1));
    if (!dot) {
      sum = add->getOperand(1);
      dot = freshProduct(add->getOperand(0));
    }
    // In another block the product may run less often than the addition.
    if (!dot || dot->getBlock() != add->getBlock() || sum == dot.getResult())
      continue;
    dot->moveBefore(add);
    dot.getCMutable().assign(sum);
    add->getResult(0).replaceAllUsesWith(dot.getResult());
    add->erase();
  }
}

} // namespace kiln::cpu
