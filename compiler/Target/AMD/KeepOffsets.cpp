// An access to a buffer adds a constant to its lanes' offset by itself, and what is 2^32 or more
// then is out of range: the sum does not wrap. LLVM 22 takes the constant of any sum into the
// access all the same. That of an offset which the source has does no harm, as such an offset
// begins at zero or above it. But LLVM's loop strength reduction may hold a number that begins
// below zero, as the count of a loop that is compared with its end a step early, and reach all
// others from it: lanes would load zeros in the first iteration, or in the last one of a loop that
// counts down.

#include "compiler/Target/AMD/KeepOffsets.h"
#include "compiler/Target/BufferAccesses.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/InitializePasses.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils.h"

namespace kiln {
namespace {

/// The constant in a sum, in the first iteration of the loops that it is of.
int64_t constantIn(const llvm::SCEV *number, llvm::ScalarEvolution &evolution) {
  if (auto *constant = llvm::dyn_cast<llvm::SCEVConstant>(number))
    return constant->getAPInt().getSExtValue();
  if (auto *carried = llvm::dyn_cast<llvm::SCEVAddRecExpr>(number))
    return constantIn(carried->getStart(), evolution);
  if (auto *sum = llvm::dyn_cast<llvm::SCEVAddExpr>(number)) {
    int64_t constant = 0;
    for (const llvm::SCEV *part : sum->operands())
      constant += constantIn(part, evolution);
    return constant;
  }
  // What is frozen for strength reduction not to see it.
  if (auto *unknown = llvm::dyn_cast<llvm::SCEVUnknown>(number))
    if (auto *frozen = llvm::dyn_cast<llvm::FreezeInst>(unknown->getValue()))
      return constantIn(evolution.getSCEV(frozen->getOperand(0)), evolution);
  return 0;
}

/// Whether loops take as much as the constant away in an iteration, or more: what begins a step
/// early ends below zero then.
bool isTakenAway(int64_t constant, const llvm::SCEV *number, llvm::ScalarEvolution &evolution) {
  auto *carried = llvm::dyn_cast<llvm::SCEVAddRecExpr>(number);
  if (!carried)
    return false;
  auto *step = llvm::dyn_cast<llvm::SCEVConstant>(carried->getStepRecurrence(evolution));
  if (step && step->getAPInt().isNegative() && constant >= -step->getAPInt().getSExtValue())
    return true;
  return isTakenAway(constant, carried->getStart(), evolution);
}

/// Whether the access would add the constant, and to a number that begins or ends below zero.
bool isBelowZero(const llvm::Use &offset, llvm::ScalarEvolution &evolution) {
  using namespace llvm::PatternMatch;
  llvm::Value *rest;
  const llvm::APInt *constant;
  if (!match(offset.get(), m_AddLike(m_Value(rest), m_APInt(constant))) ||
      !constant->isStrictlyPositive())
    return false;
  const llvm::SCEV *number = evolution.getSCEV(rest);
  int64_t first = constantIn(number, evolution), more = constant->getSExtValue();
  return (first < 0 && first + more >= 0) || isTakenAway(more, number, evolution);
}

class KeepOffsets : public llvm::FunctionPass {
public:
  static char ID;
  KeepOffsets() : FunctionPass(ID) {
    llvm::initializeScalarEvolutionWrapperPassPass(*llvm::PassRegistry::getPassRegistry());
  }

  llvm::StringRef getPassName() const override { return "Kiln: offsets below zero"; }

  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override {
    usage.addRequired<llvm::ScalarEvolutionWrapperPass>();
    usage.setPreservesAll();
  }

  bool runOnFunction(llvm::Function &function) override {
    llvm::ScalarEvolution &evolution = getAnalysis<llvm::ScalarEvolutionWrapperPass>().getSE();
    llvm::SmallVector<llvm::Use *> kept;
    for (llvm::Instruction &access : llvm::instructions(function))
      if (llvm::Use *offset = offsetOfBufferAccess(&access))
        if (isBelowZero(*offset, evolution))
          kept.push_back(offset);
    for (llvm::Use *offset : kept) {
      llvm::IRBuilder<> builder(llvm::cast<llvm::Instruction>(offset->getUser()));
      offset->set(opaque(builder, offset->get(), "v"));
    }
    return !kept.empty();
  }
};

char KeepOffsets::ID = 0;

} // namespace

llvm::FunctionPass *createKeepOffsets() { return new KeepOffsets(); }

void keepOffsets() {
  static const llvm::RegisterTargetPassConfigCallback callback(
      [](llvm::TargetMachine &machine, llvm::PassManagerBase &, llvm::TargetPassConfig *passes) {
        // The last pass in front of instruction selection.
        if (machine.getTargetTriple().isAMDGCN())
          passes->insertPass(&llvm::LCSSAID, createKeepOffsets());
      });
}

} // namespace kiln
