// Below the emulator's cut: products of warp groups as PTX text.
//
// ptxas keeps the accumulators of a product in flight in place if nothing but wgmma instructions
// touches their registers; else it waits after each instruction (its message C7510). So a product's
// fence and steps are one text, in which LLVM cannot put anything, and every text that an
// accumulator goes through has it as an operand that is read and written in one register.

#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"

#include "compiler/Conversion/TileGPUToLLVM/ScalarBuilder.h"
#include "compiler/Conversion/TileGPUToNVVM/PTXText.h"

using namespace mlir;

namespace kiln {
namespace {

/// The operands and constraints of one text, whose results are the accumulators: $0 to $(count-1).
class WgmmaText {
public:
  WgmmaText(OpBuilder &b, Location loc, ValueRange accumulators) : s(b, loc) {
    for (Value accumulator : accumulators) {
      Value word = toWord(accumulator);
      words.push_back(word);
      constraints += (word.getType().isF32() ? "=f," : "=r,");
    }
  }

  /// "$7"
  std::string add(Value operand, StringRef constraint) {
    operands.push_back(operand);
    constraints += constraint.str() + ",";
    return "$" + std::to_string(words.size() + operands.size() - 1);
  }
  std::string addRegister(Value value) { return add(toWord(value), "r"); }
  std::string accumulators() const { return registerNames(0, words.size()); }

  /// Makes the text, and the results those of `op`, which goes.
  void replace(Operation *op, const std::string &text) {
    // The accumulators last: they have the numbers of results, and nobody names them as operands.
    for (auto [index, word] : llvm::enumerate(words))
      add(word, std::to_string(index));
    constraints += "~{memory}";
    SmallVector<Value> results = assemble(s.builder(), s.location(), TypeRange(ValueRange(words)),
                                          operands, text, constraints);
    for (auto [index, result] : llvm::enumerate(results))
      results[index] = s.bitcast(result, op->getResult(index).getType());
    op->replaceAllUsesWith(results);
    op->erase();
  }

private:
  /// A pair of f16 travels as 32 bits.
  Value toWord(Value value) const {
    return isa<VectorType>(value.getType()) ? s.bitcast(value, s.builder().getI32Type()) : value;
  }

  ScalarBuilder s;
  SmallVector<Value> words, operands;
  std::string constraints;
};

/// "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"
std::string instruction(tilegpu::WgmmaOp op) {
  std::string operand = "." + op.getOperand().str();
  return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(op.getN()) + "k" +
         std::to_string(op.stepSize()) + "." + op.getAccumulator().str() + operand + operand;
}

/// Its descriptor, or "{$4, $5, $6, $7}".
std::string operandA(tilegpu::WgmmaOp op, unsigned step, WgmmaText &text) {
  if (!op.hasRegistersOfA())
    return text.add(op.getA()[step], "l");
  std::string list;
  for (Value part : op.getA().slice(4 * step, 4))
    list += (list.empty() ? "{" : ", ") + text.addRegister(part);
  return list + "}";
}

/// What follows the predicate that adds to the accumulators: signs of A and B, transpositions.
std::string immediates(tilegpu::WgmmaOp op) {
  if (op.getAccumulator() == "s32")
    return "";
  std::string text = ", 1, 1";
  if (op.stepSize() != 16)
    return text;
  if (!op.hasRegistersOfA())
    text += op.getTransposeA() ? ", 1" : ", 0";
  return text + (op.getTransposeB() ? ", 1" : ", 0");
}

} // namespace

LogicalResult expandWgmmaToPTX(tilegpu::WgmmaOp op, OpBuilder &b) {
  WgmmaText text(b, op.getLoc(), op.getAccumulators());
  Value always = LLVM::ConstantOp::create(b, op.getLoc(), b.getBoolAttr(true));
  std::string adds = text.add(op.getUseAccumulator() ? op.getUseAccumulator() : always, "b");
  // With a fence between them ptxas counts products as groups of their own, whatever is committed.
  std::string lines = op.getFollows() ? "" : "wgmma.fence.sync.aligned;\n";
  for (unsigned step = 0; step < op.numSteps(); ++step) {
    // What the first step has made is added to in any case.
    if (step == 1 && op.getUseAccumulator())
      adds = text.add(always, "b");
    std::string a = operandA(op, step, text), factorB = text.add(op.getB()[step], "l");
    lines += instruction(op) + " {" + text.accumulators() + "}, " + a + ", " + factorB + ", " +
             adds + immediates(op) + ";\n";
  }
  text.replace(op, lines);
  return success();
}

LogicalResult expandWgmmaWaitToPTX(tilegpu::WgmmaWaitOp op, OpBuilder &b) {
  WgmmaText text(b, op.getLoc(), op.getAccumulators());
  text.replace(op, "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";");
  return success();
}

} // namespace kiln
