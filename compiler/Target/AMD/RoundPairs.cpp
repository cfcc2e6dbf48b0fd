// Without an instruction for it LLVM rounds an f32 to bf16 by five others, and a sixth puts two
// halves together: eleven for a pair. Here halves are put together first, and both are rounded at
// once by instructions on two 16-bit integers, eight for a pair:
//
//   upper, lower   the halves of both numbers
//   up             1 where lower > 0x8000 - (upper & 1): nearest, ties to even
//   upper + up     saturated, so that a positive NaN does not become a negative zero; and the
//                  larger of that and `upper`, so that a negative one does not become zero
//
// A quiet NaN stays one, as its highest bit is in the upper half. A signalling one may have all of
// its bits in the lower, so what is not known to come of arithmetic is made quiet first.

#include "compiler/Target/AMD/RoundPairs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln {
namespace {

/// Whether the number is no signalling NaN: arithmetic gives quiet ones.
bool isQuiet(llvm::Value *value) {
  using llvm::Instruction;
  if (auto *extract = llvm::dyn_cast<llvm::ExtractElementInst>(value))
    return isQuiet(extract->getVectorOperand());
  auto *instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction)
    return false;
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction)) {
    llvm::Intrinsic::ID id = call->getIntrinsicID();
    return id == llvm::Intrinsic::fma || id == llvm::Intrinsic::fmuladd;
  }
  switch (instruction->getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
    return true;
  case Instruction::FPExt: // of a bf16 it is a shift
    return instruction->getOperand(0)->getType()->getScalarType()->isHalfTy();
  default:
    return false;
  }
}

/// Whether there are elements, and none without the other of its pair; of others, that there is
/// nothing.
bool isOfPairs(llvm::ArrayRef<llvm::Value *> elements, llvm::Value *rest) {
  bool isAny = false, isWhole = true;
  for (size_t index = 0; index < elements.size(); index += 2) {
    if (!elements[index] != !elements[index + 1])
      return false;
    isAny |= elements[index] != nullptr;
    isWhole &= elements[index] != nullptr;
  }
  return isAny && (isWhole || llvm::isa<llvm::UndefValue>(rest));
}

/// The f32 of each element, if the vector is rounded from f32 throughout; null for pairs that it
/// does not have.
llvm::SmallVector<llvm::Value *> roundedElements(llvm::Instruction &root, llvm::IRBuilder<> &b) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(root.getType());
  if (!type || !type->getElementType()->isBFloatTy() || type->getNumElements() % 2)
    return {};
  llvm::SmallVector<llvm::Value *> elements(type->getNumElements());
  if (auto *round = llvm::dyn_cast<llvm::FPTruncInst>(&root)) {
    if (!round->getSrcTy()->getScalarType()->isFloatTy())
      return {};
    for (auto [index, element] : llvm::enumerate(elements))
      element = b.CreateExtractElement(round->getOperand(0), index);
    return elements;
  }
  llvm::Value *part = &root;
  while (auto *insertion = llvm::dyn_cast<llvm::InsertElementInst>(part)) {
    auto *index = llvm::dyn_cast<llvm::ConstantInt>(insertion->getOperand(2));
    auto *round = llvm::dyn_cast<llvm::FPTruncInst>(insertion->getOperand(1));
    if (!index || !round || !round->hasOneUse() || !round->getSrcTy()->isFloatTy() ||
        (part != &root && !part->hasOneUse()))
      return {};
    llvm::Value *&element = elements[index->getZExtValue()];
    element = element ? element : round->getOperand(0);
    part = insertion->getOperand(0);
  }
  return isOfPairs(elements, part) ? elements : llvm::SmallVector<llvm::Value *>();
}

/// Both numbers as bf16 in one word.
llvm::Value *roundPair(llvm::Value *first, llvm::Value *second, llvm::IRBuilder<> &b) {
  auto *pair = llvm::FixedVectorType::get(b.getInt16Ty(), 2);
  auto halves = [&](llvm::Value *number) {
    if (!isQuiet(number))
      number = b.CreateUnaryIntrinsic(llvm::Intrinsic::canonicalize, number);
    return b.CreateBitCast(number, pair);
  };
  llvm::Value *x = halves(first), *y = halves(second);
  llvm::Value *lower = b.CreateShuffleVector(x, y, llvm::ArrayRef<int>{0, 2});
  llvm::Value *upper = b.CreateShuffleVector(x, y, llvm::ArrayRef<int>{1, 3});
  auto both = [&](uint16_t value) { return llvm::ConstantInt::get(pair, value); };
  llvm::Value *most = b.CreateSub(both(0x8000), b.CreateAnd(upper, both(1)));
  llvm::Value *above = b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, lower, most);
  llvm::Value *up = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, above, both(1));
  llvm::Value *sum = b.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, upper, up);
  return b.CreateBitCast(b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, sum, upper),
                         b.getInt32Ty());
}

} // namespace

void roundPairs(llvm::Function &kernel) {
  llvm::SmallVector<llvm::Instruction *> roots;
  for (llvm::Instruction &instruction : llvm::instructions(kernel)) {
    bool isPart = llvm::any_of(instruction.users(), [&](llvm::User *user) {
      auto *insertion = llvm::dyn_cast<llvm::InsertElementInst>(user);
      return insertion && insertion->getOperand(0) == &instruction;
    });
    if (llvm::isa<llvm::InsertElementInst, llvm::FPTruncInst>(instruction) && !isPart)
      roots.push_back(&instruction);
  }
  for (llvm::Instruction *root : roots) {
    llvm::IRBuilder<> b(root);
    llvm::SmallVector<llvm::Value *> elements = roundedElements(*root, b);
    if (elements.empty())
      continue;
    llvm::Value *words =
        llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getInt32Ty(), elements.size() / 2));
    for (size_t word = 0; word < elements.size() / 2; ++word)
      if (elements[2 * word])
        words = b.CreateInsertElement(
            words, roundPair(elements[2 * word], elements[2 * word + 1], b), word);
    root->replaceAllUsesWith(b.CreateBitCast(words, root->getType()));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(root);
  }
}

} // namespace kiln
