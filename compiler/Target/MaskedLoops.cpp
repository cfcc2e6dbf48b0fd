#include "compiler/Target/MaskedLoops.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"

using namespace llvm;

namespace kiln {

/// Of a load by assembly its predicate; null for other instructions. The result is the last operand
/// where the predicate is false.
static Value *predicateOf(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  if (!text || !call->getType()->isSingleValueType() || call->arg_size() != 3)
    return nullptr;
  // $0 is the result, $1 the address, $2 the predicate, and then comes what else the result is.
  bool isLoad = StringRef(text->getAsmString()).starts_with("@$2 ld.global.") &&
                StringRef(text->getConstraintString()).ends_with(",b,0");
  return isLoad ? call->getArgOperand(1) : nullptr;
}

/// Whether the value is true only if something is that changes in the outer loop alone.
static bool hasOuterPart(Value *predicate, const Loop &loop) {
  auto *instruction = dyn_cast<Instruction>(predicate);
  if (!instruction)
    return false;
  if (!loop.contains(instruction))
    return loop.getParentLoop()->contains(instruction);
  Value *lhs, *rhs;
  return PatternMatch::match(instruction, PatternMatch::m_And(PatternMatch::m_Value(lhs),
                                                              PatternMatch::m_Value(rhs))) &&
         (hasOuterPart(lhs, loop) || hasOuterPart(rhs, loop));
}

static bool isMasked(const Loop &loop) {
  if (!loop.isInnermost() || !loop.getParentLoop())
    return false;
  bool hasLoads = false;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (Value *predicate = predicateOf(instruction)) {
        if (!hasOuterPart(predicate, loop))
          return false;
        hasLoads = true;
      } else if (instruction.mayHaveSideEffects() || instruction.mayReadFromMemory()) {
        return false;
      }
    }
  return hasLoads;
}

static bool isFalse(Instruction &instruction) {
  using namespace PatternMatch;
  return match(&instruction, m_c_And(m_Zero(), m_Value()));
}

/// Puts what the loads give in their place where their predicates have become false.
static void dropFalseLoads(Function &function, ScalarEvolution &evolution) {
  evolution.forgetAllLoops();
  bool changes = true;
  while (changes) {
    changes = false;
    for (Instruction &instruction : instructions(function))
      if (isFalse(instruction) && !instruction.use_empty()) {
        instruction.replaceAllUsesWith(Constant::getNullValue(instruction.getType()));
        changes = true;
      }
  }
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (auto *predicate = dyn_cast_or_null<ConstantInt>(predicateOf(instruction));
        predicate && predicate->isZero()) {
      instruction.replaceAllUsesWith(cast<CallInst>(instruction).getArgOperand(2));
      instruction.eraseFromParent();
    }
}

PreservedAnalyses SkipMaskedLoops::run(Loop &loop, LoopAnalysisManager &analyses,
                                       LoopStandardAnalysisResults &results, LPMUpdater &updater) {
  if (!isMasked(loop))
    return PreservedAnalyses::all();
  Function &function = *loop.getHeader()->getParent();
  // Says nothing of threads that disagree.
  TargetTransformInfo plain(function.getDataLayout());
  LoopStandardAnalysisResults ofOneThread{results.AA, results.AC,  results.DT, results.LI,
                                          results.SE, results.TLI, plain,      results.MSSA};
  PreservedAnalyses preserved =
      SimpleLoopUnswitchPass(/*NonTrivial=*/true).run(loop, analyses, ofOneThread, updater);
  if (!preserved.areAllPreserved())
    dropFalseLoads(function, results.SE);
  return preserved;
}

} // namespace kiln
