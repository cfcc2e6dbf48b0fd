#include "compiler/Conversion/TileGPUToLLVM/ExactOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// Of a dot: whether A and whether B.
constexpr StringLiteral exactOperandsAttr = "tilegpu.exact_operands";

bool hasFewDigits(Value value);

/// Whether all that is stored to the buffer has.
bool holdsFewDigits(Value buffer) {
  while (auto trans = buffer.getDefiningOp<tilegpu::TransBufferOp>())
    buffer = trans.getBuffer();
  if (!buffer.getDefiningOp<tilegpu::AllocOp>())
    return false;
  SmallVector<Value> names{buffer};
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (auto trans = dyn_cast<tilegpu::TransBufferOp>(user))
        names.push_back(trans.getResult());
      else if (auto store = dyn_cast<tilegpu::SharedStoreOp>(user);
               store ? !hasFewDigits(store.getValue()) : !isa<tilegpu::SharedLoadOp>(user))
        return false;
    }
  return true;
}

/// f16 has as many digits as tf32, and no larger or smaller exponents; others have fewer.
bool hasFewDigits(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](arith::ExtFOp widened) {
        return getElementTypeOrSelf(widened.getIn()).getIntOrFloatBitWidth() <= 16;
      })
      .Case<arith::SIToFPOp, arith::UIToFPOp>([](auto converted) {
        return getElementTypeOrSelf(converted.getIn()).getIntOrFloatBitWidth() <= 8;
      })
      .Case<tilegpu::ConvertLayoutOp, tile::TransOp, tile::ReshapeOp, tile::BroadcastOp,
            tile::ExpandDimsOp, tile::SplatOp>(
          [](auto moved) { return hasFewDigits(moved->getOperand(0)); })
      .Case([](tilegpu::SharedLoadOp load) { return holdsFewDigits(load.getBuffer()); })
      .Default(false);
}

} // namespace

void markExactOperands(Operation *root) {
  root->walk([](tilegpu::DotOp dot) {
    auto isExact = [](Value operand) {
      return isa<RankedTensorType>(operand.getType()) && hasFewDigits(operand);
    };
    dot->setAttr(
        exactOperandsAttr,
        DenseBoolArrayAttr::get(dot.getContext(), {isExact(dot.getA()), isExact(dot.getB())}));
  });
}

bool isExact(tilegpu::DotOp dot, MatrixOperand operand) {
  auto exact = dot->getAttrOfType<DenseBoolArrayAttr>(exactOperandsAttr);
  return exact && operand != MatrixOperand::C && exact[operand == MatrixOperand::A ? 0 : 1];
}

} // namespace kiln
