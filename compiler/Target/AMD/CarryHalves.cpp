// RDNA 3's instructions have halves of vector registers as operands ("true 16"), and RDNA 4's in
// the code that is to write halves. What all lanes have alike, and other blocks need, LLVM hands
// these in a scalar register, by a copy from the half that it was loaded or computed to. Where it
// turns out to be needed in a vector register, as half of a word, LLVM 22 makes that a copy of
// nothing: what was loaded is dropped, and the word keeps what its register held. Words have no
// such halves. The same befalls halves whose users LLVM sinks to other blocks.

#include "compiler/Target/AMD/CarryHalves.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {
namespace {

bool isHalf(const llvm::Value &value) {
  return value.getType()->isHalfTy() || value.getType()->isBFloatTy() ||
         value.getType()->isIntegerTy(16);
}

class Halves {
public:
  Halves(llvm::Function &kernel, const llvm::UniformityInfo &uniformity) {
    findLeaving(kernel);
    for (llvm::Instruction &value : llvm::instructions(kernel))
      if (isHalf(value) && crosses(value, uniformity))
        values.insert(&value);
    // Phis are made again, so those that take them are, too.
    for (unsigned i = 0; i != values.size(); ++i)
      for (llvm::User *user : values[i]->users())
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
          values.insert(phi);
  }

  void carryAsWords() {
    for (llvm::Instruction *value : values)
      if (llvm::isa<llvm::PHINode>(value))
        makeWord(*value);
    for (llvm::Instruction *value : values)
      if (!llvm::isa<llvm::PHINode>(value))
        makeWord(*value);
    for (llvm::Instruction *value : values)
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(value))
        fill(*phi);
    for (llvm::Instruction *value : values)
      replaceUses(*value);
    erasePhis();
  }

private:
  /// Code generation begins with a pass that sinks instructions to the one block that needs them.
  void findLeaving(const llvm::Function &kernel) {
    for (const llvm::BasicBlock &block : kernel)
      for (const llvm::Instruction &op : llvm::reverse(block))
        if (!llvm::isa<llvm::PHINode>(op) && !op.isTerminator() && !op.mayHaveSideEffects() &&
            llvm::all_of(op.users(), [&](const llvm::User *user) { return isElsewhere(op, user); }))
          leaving.insert(&op);
  }

  /// Whether the value is needed in another block by this user, or may be once that has left.
  bool isElsewhere(const llvm::Instruction &value, const llvm::User *user) const {
    auto *op = llvm::cast<llvm::Instruction>(user);
    return llvm::isa<llvm::PHINode>(op) || op->getParent() != value.getParent() ||
           leaving.contains(op);
  }

  bool crosses(const llvm::Instruction &value, const llvm::UniformityInfo &uniformity) const {
    bool isUniform = uniformity.isUniform(&value);
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&value))
      return isUniform || llvm::any_of(phi->incoming_values(), [&](const llvm::Use &from) {
               return llvm::isa<llvm::Instruction>(from) && uniformity.isUniform(from);
             });
    return isUniform && llvm::any_of(value.users(), [&](const llvm::User *user) {
             return isElsewhere(value, user);
           });
  }

  /// Behind the value; of a phi one that is filled later.
  void makeWord(llvm::Instruction &value) {
    llvm::Type *word = llvm::Type::getInt32Ty(value.getContext());
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&value)) {
      llvm::IRBuilder<> b(phi);
      words[&value] = b.CreatePHI(word, phi->getNumIncomingValues());
      return;
    }
    words[&value] = widened(value, *value.getInsertionPointAfterDef());
  }

  /// A word that LLVM does not see through: it would hand over the half again.
  static llvm::Value *widened(llvm::Value &value, llvm::BasicBlock::iterator place) {
    llvm::IRBuilder<> b(place->getParent(), place);
    llvm::Value *word = b.CreateZExt(b.CreateBitCast(&value, b.getInt16Ty()), b.getInt32Ty());
    if (llvm::isa<llvm::Constant>(word))
      return word;
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty()}, false);
    return b.CreateCall(llvm::InlineAsm::get(type, "", "=v,0", /*hasSideEffects=*/false), word);
  }

  void fill(llvm::PHINode &phi) {
    auto *word = llvm::cast<llvm::PHINode>(words.at(&phi));
    for (unsigned i = 0; i != phi.getNumIncomingValues(); ++i) {
      llvm::BasicBlock *from = phi.getIncomingBlock(i);
      auto known = words.find(phi.getIncomingValue(i));
      int before = word->getBasicBlockIndex(from);
      word->addIncoming(before >= 0            ? word->getIncomingValue(before)
                        : known != words.end() ? known->second
                                               : widened(*phi.getIncomingValue(i),
                                                         from->getTerminator()->getIterator()),
                        from);
    }
  }

  /// In the blocks of the users, from which they may leave; phis have been made again.
  void replaceUses(llvm::Instruction &value) {
    bool isPhi = llvm::isa<llvm::PHINode>(value);
    llvm::Value *word = words.at(&value);
    llvm::DenseMap<llvm::BasicBlock *, llvm::Value *> narrow;
    for (llvm::Use &use : llvm::make_early_inc_range(value.uses())) {
      auto *user = llvm::cast<llvm::Instruction>(use.getUser());
      bool isInBlock = !isPhi && user->getParent() == value.getParent();
      if (llvm::isa<llvm::PHINode>(user) || (isInBlock && !leaving.contains(user)))
        continue;
      llvm::Value *&half = narrow[user->getParent()];
      if (!half) {
        llvm::BasicBlock &block = *user->getParent();
        llvm::IRBuilder<> b(
            &block, isInBlock ? *llvm::cast<llvm::Instruction>(word)->getInsertionPointAfterDef()
                              : block.getFirstInsertionPt());
        half = b.CreateBitCast(b.CreateTrunc(word, b.getInt16Ty()), value.getType());
      }
      use.set(half);
    }
  }

  /// They are operands of each other.
  void erasePhis() {
    for (llvm::Instruction *value : values)
      if (llvm::isa<llvm::PHINode>(value))
        value->dropAllReferences();
    for (llvm::Instruction *value : values)
      if (llvm::isa<llvm::PHINode>(value))
        value->eraseFromParent();
  }

  llvm::SetVector<llvm::Instruction *> values;
  /// Of the kernel as it was.
  llvm::DenseSet<const llvm::Instruction *> leaving;
  llvm::DenseMap<llvm::Value *, llvm::Value *> words;
};

} // namespace

void carryHalvesAsWords(llvm::Function &kernel, const llvm::TargetMachine &machine) {
  if (!machine.getMCSubtargetInfo()->checkFeatures("+real-true16"))
    return;
  llvm::FunctionAnalysisManager analyses;
  analyses.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  analyses.registerPass([&] { return machine.getTargetIRAnalysis(); });
  analyses.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  analyses.registerPass([] { return llvm::CycleAnalysis(); });
  analyses.registerPass([] { return llvm::UniformityInfoAnalysis(); });
  Halves(kernel, analyses.getResult<llvm::UniformityInfoAnalysis>(kernel)).carryAsWords();
}

} // namespace kiln
