// Zero added to a product is how a source asks for its rounding (libdevice's add_rn): the two may
// be fused, and not the product with what comes after. LLVM 22's code generation leaves out a zero
// whose sign does not matter to what takes the sum, and fuses the product with that. It does not
// look through assembly text, which here is empty.

#include "compiler/Target/KeepRoundings.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

namespace kiln {
namespace {

bool isSum(const llvm::Instruction &op) {
  return op.getOpcode() == llvm::Instruction::FAdd || op.getOpcode() == llvm::Instruction::FSub;
}

/// Makes vectors of elements, elements of vectors, or changes a sign.
bool isMove(const llvm::Instruction &op) {
  return llvm::isa<llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(
             op) ||
         op.getOpcode() == llvm::Instruction::FNeg;
}

bool isOfProduct(const llvm::Value *value) {
  auto *op = llvm::dyn_cast<llvm::Instruction>(value);
  return op && (op->getOpcode() == llvm::Instruction::FMul ||
                (isMove(*op) && llvm::any_of(op->operands(), isOfProduct)));
}

/// Of a product, and added to something.
bool isSumWithZero(const llvm::Instruction &op) {
  using namespace llvm::PatternMatch;
  llvm::Type *type = op.getType()->getScalarType();
  if (!isSum(op) || (!type->isFloatTy() && !type->isDoubleTy()))
    return false;
  bool addsZero = match(op.getOperand(0), m_AnyZeroFP()) || match(op.getOperand(1), m_AnyZeroFP());
  return addsZero && llvm::any_of(op.operands(), isOfProduct) &&
         llvm::any_of(op.users(), [](const llvm::User *user) {
           const auto &taker = *llvm::cast<llvm::Instruction>(user);
           return isSum(taker) || isMove(taker);
         });
}

llvm::Value *hidden(llvm::IRBuilder<> &b, llvm::Value *number, llvm::StringRef constraint) {
  llvm::Type *type = number->getType();
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector)
    return opaque(b, number, constraint);
  llvm::Value *result = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i != vector->getNumElements(); ++i)
    result =
        b.CreateInsertElement(result, hidden(b, b.CreateExtractElement(number, i), constraint), i);
  return result;
}

} // namespace

void keepRoundings(llvm::Function &kernel, llvm::StringRef single, llvm::StringRef dual) {
  llvm::SmallVector<llvm::Instruction *> sums;
  for (llvm::Instruction &op : llvm::instructions(kernel))
    if (isSumWithZero(op))
      sums.push_back(&op);
  for (llvm::Instruction *sum : sums) {
    llvm::IRBuilder<> behind(sum->getNextNode());
    llvm::SmallVector<llvm::Use *> uses;
    for (llvm::Use &use : sum->uses())
      uses.push_back(&use);
    bool isSingle = sum->getType()->getScalarType()->isFloatTy();
    llvm::Value *rounded = hidden(behind, sum, isSingle ? single : dual);
    for (llvm::Use *use : uses)
      use->set(rounded);
  }
}

} // namespace kiln
