// An access to a buffer adds a constant to its lanes' offset by itself, and what is 2^32 or more
// then is out of range: the sum does not wrap. LLVM 22 takes the constant of any sum into the
// access all the same. That does no harm where the other part is zero or above it, but
//
//   its loop strength reduction may hold a number that begins below zero, as the count of a loop
//   that is compared with its end a step early, and reach all others from it: lanes would load
//   zeros in the first iteration, or in the last one of a loop that counts down;
//
//   where lanes count down, as in a row that is read from its end, those that a bound leaves out
//   have offsets below zero, and what is a constant further is in range for some of them;
//
//   a stride of the kernel's arguments may be below zero, and a constant of the source lead back
//   into the array. Of accesses that add constants to one number the first is in the array: they
//   add to that one's offset what they have more.

#include "compiler/Target/AMD/KeepOffsets.h"
#include "compiler/Target/BufferAccesses.h"
#include "compiler/Target/OpaqueValue.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/InitializePasses.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils.h"

namespace kiln {
namespace {

/// What is added to the number in the first iteration of the loops that it is of. Conversions,
/// which instruction selection narrows, numbers that are frozen for strength reduction not to see
/// them, and those that a mask chooses, are looked through.
template <typename Visit>
void forEachTerm(const llvm::SCEV *number, llvm::ScalarEvolution &evolution, Visit visit) {
  if (auto *carried = llvm::dyn_cast<llvm::SCEVAddRecExpr>(number))
    return forEachTerm(carried->getStart(), evolution, visit);
  if (auto *sum = llvm::dyn_cast<llvm::SCEVAddExpr>(number)) {
    for (const llvm::SCEV *part : sum->operands())
      forEachTerm(part, evolution, visit);
    return;
  }
  if (auto *conversion = llvm::dyn_cast<llvm::SCEVCastExpr>(number))
    return forEachTerm(conversion->getOperand(), evolution, visit);
  if (auto *unknown = llvm::dyn_cast<llvm::SCEVUnknown>(number)) {
    if (auto *frozen = llvm::dyn_cast<llvm::FreezeInst>(unknown->getValue()))
      return forEachTerm(evolution.getSCEV(frozen->getOperand(0)), evolution, visit);
    if (auto *choice = llvm::dyn_cast<llvm::SelectInst>(unknown->getValue()))
      for (llvm::Value *chosen : {choice->getTrueValue(), choice->getFalseValue()})
        if (!llvm::isa<llvm::Constant>(chosen)) // which lanes that access nothing have
          forEachTerm(evolution.getSCEV(chosen), evolution, visit);
  }
  visit(number);
}

/// A number in the first iteration.
struct Beginning {
  int64_t constant = 0;
  /// Something is taken away, as where lanes count down.
  bool takesAway = false;
};

bool isNegative(const llvm::Value *number) {
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(number);
  return constant && constant->isNegative();
}

/// A product with a negative constant, which LLVM may have made one of 24 bits.
bool isTakenAway(const llvm::SCEV *term) {
  if (auto *product = llvm::dyn_cast<llvm::SCEVMulExpr>(term)) {
    auto *factor = llvm::dyn_cast<llvm::SCEVConstant>(product->getOperand(0));
    return factor && factor->getAPInt().isNegative();
  }
  auto *unknown = llvm::dyn_cast<llvm::SCEVUnknown>(term);
  auto *call = unknown ? llvm::dyn_cast<llvm::IntrinsicInst>(unknown->getValue()) : nullptr;
  return call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_mul_i24 &&
         llvm::any_of(call->args(), isNegative);
}

Beginning beginningOf(const llvm::SCEV *number, llvm::ScalarEvolution &evolution) {
  Beginning beginning;
  forEachTerm(number, evolution, [&](const llvm::SCEV *term) {
    if (auto *constant = llvm::dyn_cast<llvm::SCEVConstant>(term))
      beginning.constant += constant->getAPInt().getSExtValue();
    beginning.takesAway |= isTakenAway(term);
  });
  return beginning;
}

/// Whether loops take `more` or more away from the number in an iteration: what begins a step early
/// ends below zero then.
bool countsDownBy(int64_t more, const llvm::SCEV *number, llvm::ScalarEvolution &evolution) {
  auto *carried = llvm::dyn_cast<llvm::SCEVAddRecExpr>(number);
  if (!carried)
    return false;
  auto *step = llvm::dyn_cast<llvm::SCEVConstant>(carried->getStepRecurrence(evolution));
  return (step && step->getAPInt().isNegative() && more >= -step->getAPInt().getSExtValue()) ||
         countsDownBy(more, carried->getStart(), evolution);
}

/// The constants of sums and differences, which instruction selection moves to the end.
int64_t constantsOf(llvm::Value *number) {
  using namespace llvm::PatternMatch;
  llvm::Value *one, *other;
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(number))
    return constant->getSExtValue();
  if (auto *conversion = llvm::dyn_cast<llvm::CastInst>(number))
    return constantsOf(conversion->getOperand(0));
  if (match(number, m_AddLike(m_Value(one), m_Value(other))))
    return constantsOf(one) + constantsOf(other);
  if (match(number, m_Sub(m_Value(one), m_Value(other))))
    return constantsOf(one) - constantsOf(other);
  const llvm::APInt *bits;
  if (match(number, m_Shl(m_Value(one), m_APInt(bits))) && bits->ult(32))
    return int64_t(uint64_t(constantsOf(one)) << bits->getZExtValue());
  return 0;
}

/// Whether the number is made of a remainder in the same block, beyond which instruction selection
/// does not see. Of `(x + 32) % 7` it makes `x - (x + 32) / 7 * 7`, and 32 on top.
bool hasRemainder(const llvm::Instruction &number, unsigned depth = 0) {
  constexpr unsigned deepest = 6;
  if (depth == deepest ||
      !llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::FreezeInst>(number))
    return false;
  return number.getOpcode() == llvm::Instruction::URem ||
         number.getOpcode() == llvm::Instruction::SRem ||
         llvm::any_of(number.operand_values(), [&](const llvm::Value *operand) {
           auto *part = llvm::dyn_cast<llvm::Instruction>(operand);
           return part && part->getParent() == number.getParent() && hasRemainder(*part, depth + 1);
         });
}

/// Whether the access may add a constant to what is below zero for some lanes, and the sum not.
bool isBelowZero(const llvm::Instruction &access, llvm::Value *offset,
                 llvm::ScalarEvolution &evolution) {
  auto *number = llvm::dyn_cast<llvm::Instruction>(offset);
  if (!number || number->getParent() != access.getParent() ||
      !llvm::isa<llvm::BinaryOperator, llvm::CastInst>(number))
    return false;
  if (hasRemainder(*number))
    return true;
  const llvm::SCEV *sum = evolution.getSCEV(offset);
  Beginning beginning = beginningOf(sum, evolution);
  int64_t written = constantsOf(offset), most = std::max(written, beginning.constant);
  if (most <= 0 || evolution.isKnownNonNegative(
                       evolution.getMinusSCEV(sum, evolution.getConstant(offset->getType(), most))))
    return false;
  bool beginsEarly = written > beginning.constant && beginning.constant >= 0;
  return beginning.takesAway || beginsEarly ||
         (written > 0 && countsDownBy(written, sum, evolution));
}

/// A number that an access of the block has as its offset, less the constant that it may add.
struct Access {
  llvm::Use *offset;
  int64_t constant;
};
using Accesses = llvm::MapVector<const llvm::SCEV *, llvm::SmallVector<Access>>;

/// The block's accesses by the numbers that they add constants to.
Accesses accessesOf(llvm::BasicBlock &block, llvm::ScalarEvolution &evolution) {
  Accesses accesses;
  for (llvm::Instruction &access : block) {
    llvm::Use *offset = offsetOfBufferAccess(&access);
    if (!offset)
      continue;
    auto *number = llvm::dyn_cast<llvm::Instruction>(offset->get());
    bool isSum = number && number->getParent() == &block && llvm::isa<llvm::BinaryOperator>(number);
    int64_t constant = isSum ? constantsOf(number) : 0;
    const llvm::SCEV *rest =
        evolution.getMinusSCEV(evolution.getSCEV(offset->get()),
                               evolution.getConstant(offset->get()->getType(), constant, true));
    accesses[rest].push_back({offset, constant});
  }
  return accesses;
}

/// Whether the number is made of what is zero or above it. An offset does not come so far that sums
/// would wrap. What a mask chooses for lanes that access nothing is a constant.
bool isOfNoNegatives(const llvm::SCEV *number, llvm::ScalarEvolution &evolution) {
  if (evolution.isKnownNonNegative(number))
    return true;
  if (auto *unknown = llvm::dyn_cast<llvm::SCEVUnknown>(number)) {
    auto *choice = llvm::dyn_cast<llvm::SelectInst>(unknown->getValue());
    return choice && llvm::all_of(llvm::drop_begin(choice->operands()), [&](llvm::Value *chosen) {
             return llvm::isa<llvm::Constant>(chosen) ||
                    isOfNoNegatives(evolution.getSCEV(chosen), evolution);
           });
  }
  return llvm::isa<llvm::SCEVAddExpr, llvm::SCEVMulExpr, llvm::SCEVAddRecExpr>(number) &&
         llvm::all_of(number->operands(),
                      [&](const llvm::SCEV *part) { return isOfNoNegatives(part, evolution); });
}

/// Computes the sum with the least constant, where that is above zero and the number not known to
/// be, and has the others add to it. Not where strength reduction has taken the constant away.
bool addToFirst(const llvm::SCEV *rest, llvm::ArrayRef<Access> accesses,
                llvm::ScalarEvolution &evolution) {
  // What is added where buffers begin in front of their arrays leaves nothing below zero.
  constexpr int64_t most = int64_t(1) << 30;
  const Access &first = *llvm::min_element(
      accesses, [](const Access &a, const Access &b) { return a.constant < b.constant; });
  if (first.constant <= 0 || first.constant >= most || isOfNoNegatives(rest, evolution) ||
      beginningOf(evolution.getSCEV(first.offset->get()), evolution).constant <= 0)
    return false;
  auto *sum = llvm::cast<llvm::Instruction>(first.offset->get());
  llvm::IRBuilder<> behind(sum->getNextNode());
  llvm::Value *kept = opaque(behind, sum, "v");
  for (const Access &access : accesses) {
    auto *user = llvm::cast<llvm::Instruction>(access.offset->getUser());
    llvm::IRBuilder<> builder(user);
    if (!sum->comesBefore(user))
      access.offset->set(opaque(builder, access.offset->get(), "v"));
    else if (access.constant == first.constant)
      access.offset->set(kept);
    else
      access.offset->set(
          builder.CreateAdd(kept, builder.getInt32(uint32_t(access.constant - first.constant))));
  }
  return true;
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
        if (isBelowZero(access, offset->get(), evolution))
          kept.push_back(offset);
    bool changed = false;
    for (llvm::BasicBlock &block : function)
      for (auto &[rest, accesses] : accessesOf(block, evolution)) {
        llvm::erase_if(accesses, [&](const Access &access) {
          return llvm::is_contained(kept, access.offset);
        });
        changed |= !accesses.empty() && addToFirst(rest, accesses, evolution);
      }
    for (llvm::Use *offset : kept) {
      llvm::IRBuilder<> builder(llvm::cast<llvm::Instruction>(offset->getUser()));
      offset->set(opaque(builder, offset->get(), "v"));
    }
    return changed || !kept.empty();
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
