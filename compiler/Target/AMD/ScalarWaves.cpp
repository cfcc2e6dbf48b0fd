// The number of a thread is in a vector register, and there LLVM keeps what is computed of it, too,
// though it knows which bits are alike in a wave: rows of a tile that a wave's lanes have together
// take a multiplication, a comparison and a register of each lane. Of a number that one lane is
// asked for, the scalar unit computes the same for all.

#include "compiler/Target/AMD/ScalarWaves.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kiln {
namespace {

llvm::IntrinsicInst *findThread(llvm::Function &kernel) {
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_workitem_id_x)
      return call;
  return nullptr;
}

/// The number of the wave's first thread, behind the thread's own where the kernel begins.
llvm::Value *firstOfWave(llvm::IntrinsicInst &thread) {
  thread.moveBefore(thread.getFunction()->getEntryBlock().getFirstInsertionPt());
  for (llvm::User *user : thread.users())
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
        call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_readfirstlane) {
      call->moveAfter(&thread);
      return call;
    }
  llvm::IRBuilder<> b(thread.getNextNode());
  return b.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, thread.getType(), &thread);
}

/// `thread >> right & mask`, of which no bit is a lane's own.
struct WaveBits {
  llvm::Instruction *value;
  uint64_t right = 0, mask = ~uint64_t(0);
};

/// `lanes`: the bits of a thread's number that lanes have each for their own.
std::optional<WaveBits> waveBitsOf(llvm::Instruction &value, llvm::Value *thread, uint64_t lanes) {
  using namespace llvm::PatternMatch;
  WaveBits bits{&value};
  auto moved =
      m_CombineOr(m_LShr(m_Specific(thread), m_ConstantInt(bits.right)), m_Specific(thread));
  if (!match(&value, m_CombineOr(m_And(moved, m_ConstantInt(bits.mask)), moved)) ||
      (bits.mask << bits.right & lanes) != 0)
    return std::nullopt;
  return bits;
}

} // namespace

void scalariseWaves(llvm::Function &kernel, unsigned warpSize) {
  llvm::IntrinsicInst *thread = findThread(kernel);
  if (!thread)
    return;
  llvm::SmallVector<WaveBits> found;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (std::optional<WaveBits> bits = waveBitsOf(instruction, thread, warpSize - 1))
      found.push_back(*bits);
  if (found.empty())
    return;
  llvm::Value *first = firstOfWave(*thread);
  for (const WaveBits &bits : found) {
    llvm::IRBuilder<> here(bits.value);
    bits.value->replaceAllUsesWith(here.CreateAnd(here.CreateLShr(first, bits.right), bits.mask));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(bits.value);
  }
}

} // namespace kiln
