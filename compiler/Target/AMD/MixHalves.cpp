// A conversion from f16 in front of a sum is an instruction of its own; `x * 1 + y` takes x as f16,
// and rounds once, as the sum does. A product is `x * y - 0`: the zero that is taken away changes
// no bit, as one that is added would that of -0. LLVM would make a sum of `x * 1 + y` again, so it
// must not see the one; what makes it opaque is no instruction.
//
// A product and the sum that it is part of take halves as LLVM makes one operation of them, of two
// products with the first; but not where two of these are one (`v_pk_fma_f32`). Vectors, as LLVM
// makes them of neighbours, are taken apart for that. A conversion is spared only where all of its
// users take halves, and what two operations at once would have spared is weighed against it.

#include "compiler/Target/AMD/MixHalves.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace kiln {
namespace {

using llvm::Instruction;

bool isSum(const llvm::Value *value) {
  auto *instruction = llvm::dyn_cast<Instruction>(value);
  return instruction && (instruction->getOpcode() == Instruction::FAdd ||
                         instruction->getOpcode() == Instruction::FSub);
}

bool isProduct(const llvm::Value *value) {
  auto *instruction = llvm::dyn_cast<Instruction>(value);
  return instruction && instruction->getOpcode() == Instruction::FMul;
}

bool isOfSingles(const llvm::Value &value) {
  llvm::Type *type = value.getType();
  return type->getScalarType()->isFloatTy() && !llvm::isa<llvm::ScalableVectorType>(type);
}

bool isFromHalf(const llvm::Value *value) {
  auto *extension = llvm::dyn_cast<llvm::FPExtInst>(value);
  return extension && isOfSingles(*extension) &&
         extension->getOperand(0)->getType()->getScalarType()->isHalfTy();
}

bool becomesHalf(const llvm::Value &value) {
  if (!value.hasOneUse())
    return false;
  auto *truncation = llvm::dyn_cast<llvm::FPTruncInst>(*value.user_begin());
  return truncation && truncation->getType()->getScalarType()->isHalfTy();
}

class Mixer {
public:
  Mixer(llvm::Function &kernel, bool packsSingles, bool fusesProducts)
      : kernel(kernel), packsSingles(packsSingles), fusesProducts(fusesProducts) {}

  void run() {
    llvm::SmallVector<Instruction *> mixed;
    for (Instruction &instruction : llvm::instructions(kernel))
      if (canMix(instruction)) {
        mixed.push_back(&instruction);
        taken.insert(&instruction);
      }
    // What is not worth it leaves conversions to others, which may no longer be worth it then.
    while (size_t before = mixed.size()) {
      llvm::erase_if(mixed, [&](Instruction *operation) {
        return !isWorthwhile(*operation) && taken.erase(operation);
      });
      if (mixed.size() == before)
        break;
    }
    // What is no instruction any more pays for the constants.
    constexpr unsigned few = 3;
    unsigned elements = 0;
    for (Instruction *operation : mixed) {
      auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(operation->getType());
      elements += vector ? vector->getNumElements() : 1;
    }
    if (elements <= few) {
      mixed.clear();
      taken.clear();
    }
    for (Instruction &instruction : llvm::instructions(kernel))
      if (isProduct(&instruction) && isOfSingles(instruction) && becomesHalf(instruction) &&
          !isPacked(instruction) && !taken.contains(&instruction))
        mixed.push_back(&instruction);
    for (Instruction *operation : mixed)
      mix(*operation);
  }

private:
  /// The product that is a part of the sum and of nothing else; null: there is none.
  Instruction *productIn(const Instruction &sum) const {
    if (fusesProducts && isSum(&sum))
      for (const llvm::Use &use : sum.operands())
        if (isProduct(use.get()) && use->hasOneUse())
          return llvm::cast<Instruction>(use.get());
    return nullptr;
  }

  /// Whether LLVM makes two operations of one, which takes no halves.
  bool isPacked(const llvm::Value &value) const {
    return packsSingles && value.getType()->isVectorTy();
  }

  /// Whether it becomes part of a sum in any case: one that has two products takes the first.
  bool isPart(const Instruction &product) const {
    return fusesProducts && isProduct(&product) &&
           llvm::any_of(product.users(), [&](const llvm::User *user) {
             auto *sum = llvm::cast<Instruction>(user);
             Instruction *part = productIn(*sum);
             return isSum(sum) && (!part || part == &product || !product.hasOneUse());
           });
  }

  /// What a product, or a sum with the product in it, is computed of.
  llvm::SmallVector<const llvm::Value *, 3> operandsOf(const Instruction &operation) const {
    const Instruction *product = productIn(operation);
    llvm::SmallVector<const llvm::Value *, 3> operands;
    for (const llvm::Value *operand : operation.operand_values())
      if (operand == product)
        operands.append(product->value_op_begin(), product->value_op_end());
      else
        operands.push_back(operand);
    return operands;
  }

  /// Whether the operation may become one that takes halves: constants would need registers.
  bool canMix(const Instruction &operation) const {
    if (!isOfSingles(operation) || !(isSum(&operation) || isProduct(&operation)) ||
        llvm::any_of(operandsOf(operation), llvm::IsaPred<llvm::Constant>))
      return false;
    if (isProduct(&operation))
      return !isPart(operation);
    bool hasProduct = fusesProducts && llvm::any_of(operation.operand_values(), isProduct);
    return !hasProduct || (isPacked(operation) && productIn(operation));
  }

  /// Whether the user takes halves as it is.
  bool takesHalves(const llvm::User *user) const {
    if (isPacked(*user))
      return false;
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(user))
      return call->getIntrinsicID() == llvm::Intrinsic::fma;
    return isPart(*llvm::cast<Instruction>(user));
  }

  /// The operation that would take halves in the user's place.
  const Instruction *operationOf(const llvm::User *user) const {
    auto *instruction = llvm::cast<Instruction>(user);
    if (isProduct(instruction) && instruction->hasOneUse()) {
      auto *sum = llvm::cast<Instruction>(*instruction->user_begin());
      if (productIn(*sum) == instruction)
        return sum;
    }
    return instruction;
  }

  /// The part of a conversion that each operation which has to change for it spares; 0 where it
  /// stays, for others.
  double sparedOf(const llvm::Value *value) const {
    if (!isFromHalf(value))
      return 0;
    unsigned changed = 0;
    for (const llvm::User *user : value->users()) {
      if (takesHalves(user))
        continue;
      if (!taken.contains(operationOf(user)))
        return 0;
      ++changed;
    }
    return 1.0 / std::max(1u, changed);
  }

  /// Two sums or products may be one instruction (`v_dual_add_f32`, `v_pk_add_f32`), which those
  /// that take halves are not.
  bool isWorthwhile(const Instruction &operation) const {
    constexpr double ofPair = 0.5;
    // LLVM knows a product that becomes a half.
    double spared = isSum(&operation) && becomesHalf(operation) ? 1 : 0;
    for (const llvm::Value *operand : operandsOf(operation))
      spared += sparedOf(operand);
    return spared > ofPair;
  }

  void mix(Instruction &operation) {
    llvm::IRBuilder<> b(&operation);
    b.setFastMathFlags(operation.getFastMathFlags());
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(operation.getType());
    llvm::Value *result = nullptr;
    if (!vector)
      result = mixElement(b, operation, [](llvm::Value *operand) { return operand; });
    for (unsigned index = 0; vector && index < vector->getNumElements(); ++index) {
      llvm::Value *element = mixElement(
          b, operation, [&](llvm::Value *operand) { return elementOf(b, operand, index); });
      result =
          b.CreateInsertElement(result ? result : llvm::PoisonValue::get(vector), element, index);
    }
    Instruction *product = productIn(operation);
    operation.replaceAllUsesWith(result);
    operation.eraseFromParent();
    if (product)
      product->eraseFromParent();
  }

  /// A conversion is made of the element, which leaves out that of the vector.
  static llvm::Value *elementOf(llvm::IRBuilder<> &b, llvm::Value *vector, unsigned index) {
    if (!isFromHalf(vector))
      return b.CreateExtractElement(vector, index);
    llvm::Value *half =
        b.CreateExtractElement(llvm::cast<Instruction>(vector)->getOperand(0), index);
    return b.CreateFPExt(half, b.getFloatTy());
  }

  llvm::Value *mixElement(llvm::IRBuilder<> &b, const Instruction &operation,
                          llvm::function_ref<llvm::Value *(llvm::Value *)> elementOf) {
    auto fma = [&](llvm::Value *x, llvm::Value *y, llvm::Value *z) {
      return b.CreateIntrinsic(llvm::Intrinsic::fma, b.getFloatTy(), {x, y, z});
    };
    llvm::Value *first = operation.getOperand(0), *second = operation.getOperand(1);
    if (isProduct(&operation))
      return fma(elementOf(first), elementOf(second),
                 llvm::ConstantFP::getNegativeZero(b.getFloatTy()));
    // x * y + z, of which x * y or z is taken away from the other.
    Instruction *product = productIn(operation);
    bool isSecond = product && product == second;
    llvm::Value *x = elementOf(product ? product->getOperand(0) : first);
    llvm::Value *y = product ? elementOf(product->getOperand(1)) : opaqueOne();
    llvm::Value *z = elementOf(isSecond ? first : second);
    if (operation.getOpcode() == Instruction::FSub)
      (isSecond ? x : z) = b.CreateFNeg(isSecond ? x : z);
    return fma(x, y, z);
  }

  llvm::Value *opaqueOne() {
    if (!one) {
      llvm::IRBuilder<> b(&*kernel.getEntryBlock().getFirstInsertionPt());
      one = b.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, b.getFloatTy(),
                              {llvm::ConstantFP::get(b.getFloatTy(), 1.0)});
    }
    return one;
  }

  llvm::Function &kernel;
  bool packsSingles, fusesProducts;
  /// The operations that are to take halves.
  llvm::SmallPtrSet<const Instruction *, 16> taken;
  llvm::Value *one = nullptr;
};

} // namespace

void mixHalves(llvm::Function &kernel, bool packsSingles, bool fusesProducts) {
  Mixer(kernel, packsSingles, fusesProducts).run();
}

} // namespace kiln
