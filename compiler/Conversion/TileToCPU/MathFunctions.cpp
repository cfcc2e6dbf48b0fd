// Which functions are formulas in vectors, and which are calls into libm.

#include "compiler/Conversion/TileToCPU/MathFunctions.h"
#include "compiler/Expansion/Math/MathBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace kiln::cpu {
namespace {

/// A processor: no estimates.
class ProcessorMath : public MathPrimitives {
public:
  explicit ProcessorMath(bool fuses) : fuses(fuses) {}
  bool hasFMA() const override { return fuses; }

private:
  bool fuses;
};

/// libm's name for an operation of the math dialect, in f64; empty for operations that are not
/// functions of libm.
StringRef libmName(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("math.acos", "acos")
      .Case("math.acosh", "acosh")
      .Case("math.asin", "asin")
      .Case("math.asinh", "asinh")
      .Case("math.atan", "atan")
      .Case("math.atan2", "atan2")
      .Case("math.atanh", "atanh")
      .Case("math.cbrt", "cbrt")
      .Case("math.cos", "cos")
      .Case("math.cosh", "cosh")
      .Case("math.erf", "erf")
      .Case("math.erfc", "erfc")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.expm1", "expm1")
      .Case("math.log", "log")
      .Case("math.log10", "log10")
      .Case("math.log1p", "log1p")
      .Case("math.log2", "log2")
      .Case("math.powf", "pow")
      .Case("math.sin", "sin")
      .Case("math.sinh", "sinh")
      .Case("math.tan", "tan")
      .Case("math.tanh", "tanh")
      .Case("arith.remf", "fmod")
      .Default("");
}

/// Calls the libm function in each lane, in a loop: the code's size does not depend on the
/// vector's.
Value callPerLane(VectorBuilder &b, StringRef name, ArrayRef<Value> operands, ModuleOp module) {
  Type element = laneType(operands[0].getType());
  std::string symbol = (name + (element.isF32() ? "f" : "")).str();
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(module.getBody());
    SmallVector<Type> parameters(operands.size(), element);
    LLVM::LLVMFuncOp::create(b.builder, module.getLoc(), symbol,
                             LLVM::LLVMFunctionType::get(element, parameters));
  }
  unsigned lanes = 1;
  for (Value operand : operands)
    lanes = std::max(lanes, laneCount(operand));
  auto call = [&](OpBuilder &builder, ValueRange arguments) -> Value {
    return LLVM::CallOp::create(builder, b.loc, TypeRange{element}, symbol, arguments).getResult();
  };
  if (lanes == 1)
    return call(b.builder, operands);
  SmallVector<Value> vectors;
  for (Value operand : operands)
    vectors.push_back(b.splat(operand, lanes));
  Type i64 = b.builder.getI64Type();
  auto loop =
      scf::ForOp::create(b.builder, b.loc, b.constant(0, i64), b.constant(lanes, i64),
                         b.constant(1, i64), ValueRange{vectors[0]},
                         [&](OpBuilder &builder, Location loc, Value lane, ValueRange carried) {
                           VectorBuilder inner(builder, loc);
                           SmallVector<Value> arguments;
                           for (Value vector : vectors)
                             arguments.push_back(inner.extract(vector, lane));
                           Value result = inner.insert(carried[0], call(builder, arguments), lane);
                           scf::YieldOp::create(builder, loc, result);
                         });
  return loop.getResult(0);
}

/// In f32 a power needs more than f32 within, and a remainder a loop; in f64 libm's functions are
/// more accurate than the formulas (docs/accuracy.md).
bool isOfLibrary(Operation *op, Type element) {
  return !element.isF32() || isa<math::PowFOp, arith::RemFOp>(op);
}

} // namespace

bool isMathFunction(Operation *op) { return !libmName(op).empty(); }

Value emitFused(VectorBuilder &b, ArrayRef<Value> operands, ModuleOp module) {
  Type type = operands[0].getType();
  if (!laneType(type).isF32())
    return callPerLane(b, "fma", operands, module);
  return MathBuilder(b, ProcessorMath(/*fuses=*/false), type)
      .fma(operands[0], operands[1], operands[2]);
}

Value emitMath(VectorBuilder &b, Operation *op, ArrayRef<Value> operands, ModuleOp module,
               bool hasFMA) {
  Type type = operands[0].getType();
  if (isOfLibrary(op, laneType(type)))
    return callPerLane(b, libmName(op), operands, module);
  Value result = MathBuilder(b, ProcessorMath(hasFMA), type).function(op, operands);
  assert(result && "a formula for every function that libm has");
  return result;
}

} // namespace kiln::cpu
