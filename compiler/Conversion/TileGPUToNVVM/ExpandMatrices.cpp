// Expansion of target operations: products of warp groups as PTX text.
//
// ptxas keeps the accumulators of a product in flight in place if nothing but wgmma instructions
// touches their registers; else it waits after each instruction (its message C7510). So a product's
// fence and steps, and those of the products that follow it, are one text, in which LLVM cannot put
// anything, and every text that an accumulator goes through has it as an operand that is read and
// written in one register.

#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "compiler/Conversion/TileGPUToNVVM/PTXText.h"

using namespace mlir;

namespace kiln {
namespace {

/// The operands and constraints of one text, whose results are the accumulators: $0 to $(count-1).
class WgmmaText {
public:
  /// All accumulators must be there before an operand is added.
  WgmmaText(OpBuilder &b, Location loc) : s(b, loc) {}

  /// "$0, $1, $2, $3"
  std::string addAccumulators(ValueRange accumulators) {
    unsigned first = words.size();
    for (Value accumulator : accumulators) {
      Value word = toWord(accumulator);
      words.push_back(word);
      constraints += (word.getType().isF32() ? "=f," : "=r,");
    }
    return registerNames(first, accumulators.size());
  }

  /// "$7"
  std::string add(Value operand, StringRef constraint) {
    operands.push_back(operand);
    constraints += constraint.str() + ",";
    return "$" + std::to_string(words.size() + operands.size() - 1);
  }
  std::string addRegister(Value value) { return add(toWord(value), "r"); }

  /// Makes the text, and the results those of `ops`, which go.
  void replace(ArrayRef<Operation *> ops, const std::string &text) {
    // The accumulators last: they have the numbers of results, and nobody names them as operands.
    for (auto [index, word] : llvm::enumerate(words))
      add(word, std::to_string(index));
    constraints += "~{memory}";
    SmallVector<Value> results = assemble(s.builder(), s.location(), TypeRange(ValueRange(words)),
                                          operands, text, constraints);
    auto result = results.begin();
    for (Operation *op : ops) {
      for (OpResult replaced : op->getResults())
        replaced.replaceAllUsesWith(s.bitcast(*result++, replaced.getType()));
      op->erase();
    }
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

/// The product and those that follow it.
SmallVector<tilegpu::WgmmaOp> productsFrom(tilegpu::WgmmaOp first) {
  SmallVector<tilegpu::WgmmaOp> products{first};
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode())
    if (auto next = dyn_cast<tilegpu::WgmmaOp>(op)) {
      if (!next.getFollows())
        break;
      products.push_back(next);
    }
  return products;
}

/// How many of the first products one text can start: with what is computed between them before it.
size_t numInOneText(ArrayRef<tilegpu::WgmmaOp> products) {
  // Half of a thread's registers; with more it spills anyway.
  constexpr size_t mostAccumulators = 128;
  auto isUsedBefore = [](tilegpu::WgmmaOp product, Operation *place) {
    return llvm::any_of(product->getUsers(), [&](Operation *user) {
      return user->getBlock() == place->getBlock() && user->isBeforeInBlock(place);
    });
  };
  tilegpu::WgmmaOp first = products.front();
  size_t number = 1, accumulators = first.getAccumulators().size();
  for (; number < products.size(); ++number) {
    tilegpu::WgmmaOp next = products[number];
    accumulators += next.getAccumulators().size();
    if (accumulators > mostAccumulators ||
        llvm::any_of(products.take_front(number),
                     [&](tilegpu::WgmmaOp product) { return isUsedBefore(product, next); }))
      break;
  }
  return number;
}

/// In one text, so that nothing comes between the products: ptxas waits for those in flight before
/// it moves registers that later ones take.
void startTogether(ArrayRef<tilegpu::WgmmaOp> products) {
  tilegpu::WgmmaOp first = products.front(), last = products.back();
  OpBuilder b(last);
  WgmmaText text(b, last.getLoc());
  auto accumulators = llvm::map_to_vector(products, [&](tilegpu::WgmmaOp product) {
    return text.addAccumulators(product.getAccumulators());
  });
  Value always = LLVM::ConstantOp::create(b, last.getLoc(), b.getBoolAttr(true));
  // With a fence between them ptxas counts products as groups of their own, whatever is committed.
  std::string lines = first.getFollows() ? "" : "wgmma.fence.sync.aligned;\n";
  SmallVector<Operation *> replaced;
  for (auto [op, registers] : llvm::zip_equal(products, accumulators)) {
    tilegpu::WgmmaOp product = op;
    std::string adds =
        text.add(product.getUseAccumulator() ? product.getUseAccumulator() : always, "b");
    for (unsigned step = 0; step < product.numSteps(); ++step) {
      // What the first step has made is added to in any case.
      if (step == 1 && product.getUseAccumulator())
        adds = text.add(always, "b");
      std::string a = operandA(product, step, text), factorB = text.add(product.getB()[step], "l");
      lines += instruction(product) + " {" + registers + "}, " + a + ", " + factorB + ", " + adds +
               immediates(product) + ";\n";
    }
    replaced.push_back(product);
  }
  text.replace(replaced, lines);
}

} // namespace

LogicalResult expandWgmmaToPTX(tilegpu::WgmmaOp op) {
  // Those that follow it are started with it.
  if (op.getFollows())
    return success();
  SmallVector<tilegpu::WgmmaOp> products = productsFrom(op);
  for (ArrayRef<tilegpu::WgmmaOp> rest = products; !rest.empty();) {
    size_t number = numInOneText(rest);
    startTogether(rest.take_front(number));
    rest = rest.drop_front(number);
  }
  return success();
}

LogicalResult expandWgmmaWaitToPTX(tilegpu::WgmmaWaitOp op, OpBuilder &b) {
  WgmmaText text(b, op.getLoc());
  text.addAccumulators(op.getAccumulators());
  text.replace(op.getOperation(),
               "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";");
  return success();
}

} // namespace kiln
