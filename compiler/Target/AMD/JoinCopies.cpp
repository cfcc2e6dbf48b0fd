// A copy to shared memory is text that moves its buffer's descriptor to registers of its own first
// (BufferCopies.h): where LLVM has it a vector instruction may have written it, and text waits
// for none by itself. Of a tile's copies each would move the same. So those that follow one
// another, with nothing between them but arithmetic, become one text, where the last of them
// stands. What descriptors have in common is moved once, and addresses in shared memory at constant
// distances, as those of a tile's pieces, are added up in the text.
//
// It asks for all their offsets at a time, a register each: up to four of a buffer, and eight.

#include "compiler/Target/AMD/JoinCopies.h"
#include "compiler/Target/BufferCopies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace kiln {
namespace {

/// The operands of a copy's text.
enum Operand : unsigned { Offset, Low, High, To };

using Copies = llvm::SmallVector<llvm::CallInst *>;

bool isCopy(const llvm::CallInst &call) {
  auto *text = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  return text && text->getAsmString() == bufferCopyText({});
}

bool areOfOneBuffer(const llvm::CallInst &copy, const llvm::CallInst &other) {
  return llvm::all_of(llvm::ArrayRef{Low, High}, [&](Operand half) {
    return copy.getArgOperand(half) == other.getArgOperand(half);
  });
}

/// Whether both are computed alike, of equal operands.
bool areAlike(const llvm::Value *value, const llvm::Value *other, unsigned depth = 8) {
  if (value == other)
    return true;
  auto *op = llvm::dyn_cast<llvm::Instruction>(value),
       *same = llvm::dyn_cast<llvm::Instruction>(other);
  return op && same && depth && !llvm::isa<llvm::PHINode>(op) && !op->mayReadOrWriteMemory() &&
         op->isSameOperationAs(same) &&
         llvm::all_of(llvm::zip(op->operands(), same->operands()), [&](auto pair) {
           return areAlike(std::get<0>(pair), std::get<1>(pair), depth - 1);
         });
}

/// What a descriptor's upper half, for the wave, has been put together from; null: something else.
const llvm::Value *upperHalf(const llvm::Value *half) {
  using namespace llvm::PatternMatch;
  llvm::Value *whole = nullptr;
  if (!match(half, m_Intrinsic<llvm::Intrinsic::amdgcn_readfirstlane>(
                       m_Trunc(m_LShr(m_PtrToInt(m_Value(whole)), m_SpecificInt(64))))))
    return nullptr;
  while (auto *cast = llvm::dyn_cast<llvm::CastInst>(whole))
    whole = cast->getOperand(0);
  llvm::Value *number = nullptr;
  bool isPair = match(whole, m_InsertElt(m_Value(), m_Value(number), m_One()));
  return isPair && number->getType()->isIntegerTy(64) ? number : nullptr;
}

bool areSameHalf(const llvm::Value *half, const llvm::Value *other) {
  const llvm::Value *upper = upperHalf(half), *otherUpper = upperHalf(other);
  return half == other || (upper && otherUpper && areAlike(upper, otherUpper));
}

/// How far a copy's address is from that of the one before, where that is known.
std::optional<uint32_t> distanceFrom(const llvm::CallInst &before, const llvm::CallInst &copy,
                                     llvm::ScalarEvolution &evolution) {
  auto *distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(
      evolution.getSCEV(copy.getArgOperand(To)), evolution.getSCEV(before.getArgOperand(To))));
  return distance ? std::optional(uint32_t(distance->getAPInt().getZExtValue())) : std::nullopt;
}

void join(llvm::ArrayRef<llvm::CallInst *> copies, llvm::ScalarEvolution &evolution) {
  if (copies.size() < 2)
    return;
  llvm::CallInst &last = *copies.back();
  BufferCopies joined{{}, {}};
  llvm::SmallVector<llvm::Value *> operands, halves, addresses;
  auto numberOf = [&](llvm::Value *half) {
    auto *known = llvm::find_if(halves, [&](llvm::Value *one) { return areSameHalf(one, half); });
    unsigned number = known - halves.begin();
    if (known == halves.end())
      halves.push_back(half);
    return number;
  };
  for (auto [number, copy] : llvm::enumerate(copies)) {
    if (number)
      joined.distances.push_back(distanceFrom(*copies[number - 1], *copy, evolution));
    operands.push_back(copy->getArgOperand(Offset));
    joined.low.push_back(numberOf(copy->getArgOperand(Low)));
    joined.high.push_back(numberOf(copy->getArgOperand(High)));
    if (addresses.empty() || !joined.distances.back())
      addresses.push_back(copy->getArgOperand(To));
  }
  llvm::append_range(operands, halves);
  llvm::append_range(operands, addresses);
  llvm::IRBuilder<> b(&last);
  auto types = llvm::map_to_vector(operands, [](llvm::Value *value) { return value->getType(); });
  auto *type = llvm::FunctionType::get(b.getVoidTy(), types, /*isVarArg=*/false);
  llvm::CallInst *text =
      b.CreateCall(type,
                   llvm::InlineAsm::get(type, bufferCopyText(joined), bufferCopyConstraints(joined),
                                        /*hasSideEffects=*/true),
                   operands);
  text->setAttributes(last.getAttributes());
  for (llvm::CallInst *copy : copies)
    copy->eraseFromParent();
}

/// Copies with nothing but arithmetic between them: those of a buffer, then of buffers together.
void joinRun(llvm::ArrayRef<llvm::CallInst *> run, llvm::ScalarEvolution &evolution) {
  constexpr size_t mostOfBuffer = 4, most = 8;
  llvm::SmallVector<Copies> texts;
  while (!run.empty()) {
    llvm::ArrayRef<llvm::CallInst *> same =
        run.take_while([&](llvm::CallInst *copy) { return areOfOneBuffer(*copy, *run.front()); })
            .take_front(mostOfBuffer);
    run = run.drop_front(same.size());
    if (texts.empty() || texts.back().size() + same.size() > most)
      texts.emplace_back();
    llvm::append_range(texts.back(), same);
  }
  for (const Copies &text : texts)
    join(text, evolution);
}

} // namespace

void joinCopies(llvm::Function &kernel) {
  llvm::TargetLibraryInfoImpl functions(kernel.getParent()->getTargetTriple());
  llvm::TargetLibraryInfo library(functions);
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  llvm::AssumptionCache assumptions(kernel);
  llvm::ScalarEvolution evolution(kernel, library, assumptions, tree, loops);
  for (llvm::BasicBlock &block : kernel) {
    llvm::SmallVector<Copies> runs(1);
    for (llvm::Instruction &instruction : block) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && isCopy(*call))
        runs.back().push_back(call);
      else if (instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects())
        runs.emplace_back();
    }
    for (const Copies &run : runs)
      joinRun(run, evolution);
  }
}

} // namespace kiln
