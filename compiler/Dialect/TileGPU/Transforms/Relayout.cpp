#include "compiler/Dialect/TileGPU/Transforms/Relayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using kiln::tilegpu::LayoutAttr;

namespace kiln {

/// Whether the operation is computed again in any layout, its tensors' being what operandLayout()
/// says.
static bool isRepeatable(Operation *op) {
  if (isa<tile::SplatOp, tile::ArangeOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::TransOp,
          tile::AddPtrOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa<arith::ArithDialect>(op->getDialect()) && op->hasTrait<OpTrait::Elementwise>();
}

LayoutAttr layoutBefore(tile::TransOp trans, LayoutAttr layout) {
  SmallVector<unsigned> inverse(trans.getOrder().size());
  for (auto [axis, source] : llvm::enumerate(trans.getOrder()))
    inverse[source] = axis;
  return LayoutAttr::get(trans.getContext(), layout.getLayout().transpose(inverse));
}

/// The layout of a tensor operand that gives a result in `layout`.
static LayoutAttr operandLayout(Operation *op, RankedTensorType operand, LayoutAttr layout) {
  const LinearLayout &map = layout.getLayout();
  auto wrap = [&](const LinearLayout &of) { return LayoutAttr::get(op->getContext(), of); };
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return wrap(map.squeezeAxis(expand.getAxis()));
  if (auto trans = dyn_cast<tile::TransOp>(op))
    return layoutBefore(trans, layout);
  if (!isa<tile::BroadcastOp>(op))
    return layout;
  LinearLayout shrunk = map;
  for (auto [axis, extent] : llvm::enumerate(operand.getShape()))
    if (extent != shrunk.shape()[axis])
      shrunk = shrunk.shrinkAxis(axis);
  return wrap(shrunk);
}

bool Relayout::isCarried(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == loop.getBody();
}

bool Relayout::want(Value value, LayoutAttr layout) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getEncoding() == layout || !wanted.insert({value, layout}).second)
    return true;
  if (isCarried(value)) {
    unsigned number =
        cast<BlockArgument>(value).getArgNumber() - unsigned(loop.getNumInductionVars());
    carried.insert({{value, layout}, number});
    return want(loop.getInitArgs()[number], layout) &&
           want(loop.getYieldedValues()[number], layout);
  }
  Operation *op = value.getDefiningOp();
  return op && isRepeatable(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           auto tensor = dyn_cast<RankedTensorType>(operand.getType());
           return !tensor || want(operand, operandLayout(op, tensor, layout));
         });
}

scf::ForOp Relayout::carry() {
  if (carried.empty())
    return loop;
  SmallVector<Value> first;
  for (auto &[wish, number] : carried)
    first.push_back(make(loop.getInitArgs()[number], wish.second));
  unsigned before = loop.getNumRegionIterArgs();
  // What is yielded is made of the new arguments.
  auto placeholder = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
    return SmallVector<Value>(arguments);
  };
  rewriter.setInsertionPoint(loop);
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, placeholder));
  for (auto [index, entry] : llvm::enumerate(carried)) {
    auto &[wish, number] = entry;
    made[{loop.getRegionIterArgs()[number], wish.second}] =
        loop.getRegionIterArgs()[before + index];
  }
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [index, entry] : llvm::enumerate(carried)) {
    Value next = make(yield->getOperand(entry.second), entry.first.second);
    yield->setOperand(before + index, next);
  }
  return loop;
}

Value Relayout::make(Value value, LayoutAttr layout) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getEncoding() == layout)
    return value;
  if (Value known = made.lookup({value, layout}))
    return known;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()))
      mapping.map(operand, make(operand, operandLayout(op, tensor, layout)));
  rewriter.setInsertionPointAfter(op);
  Operation *copy = rewriter.clone(*op, mapping);
  RankedTensorType wished = tilegpu::withLayout(type, layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(copy))
    constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(wished));
  copy->getResult(0).setType(wished);
  return made[{value, layout}] = copy->getResult(0);
}

} // namespace kiln
