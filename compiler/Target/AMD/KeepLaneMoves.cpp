// RDNA 3 and 4 read other lanes (DPP) in most instructions of three operands, too, but in none that
// takes or gives 64 bits. LLVM 22 asks whether the move has 64 bits, not whether what it becomes
// part of has: on gfx1201 `v_mad_co_u64_u32`, which also adds to products of 32 bits,
// `v_lshlrev_b64` and conversions to f64 become code that no GPU knows; on gfx1100 the shift ends
// the compiler. (LLVM's pull request 222216 mends it.)
//
// So such a move goes through empty assembly, which stays a register.

#include "compiler/Target/AMD/KeepLaneMoves.h"
#include "compiler/Target/OpaqueValue.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {
namespace {

bool isWide(const llvm::Value &value) { return value.getType()->getScalarSizeInBits() == 64; }

/// Whether the instruction may become one of 64 bits that reads a number of 32 bits.
bool readsWide(const llvm::Instruction &op) {
  switch (op.getOpcode()) {
  case llvm::Instruction::Mul:
    return true;
  case llvm::Instruction::Shl:
  case llvm::Instruction::LShr:
  case llvm::Instruction::AShr:
  case llvm::Instruction::FPExt:
  case llvm::Instruction::SIToFP:
  case llvm::Instruction::UIToFP:
    return isWide(op);
  default:
    return false;
  }
}

/// Whether the instruction's bits may be its operand's, where an instruction reads some of them.
bool passesBits(const llvm::Instruction &op) {
  return llvm::isa<llvm::CastInst, llvm::InsertElementInst, llvm::ExtractElementInst,
                   llvm::FreezeInst>(op) ||
         op.isBitwiseLogicOp();
}

bool reachesWide(llvm::Instruction &move) {
  llvm::SmallSetVector<llvm::Instruction *, 8> reached;
  reached.insert(&move);
  for (size_t i = 0; i != reached.size(); ++i)
    for (llvm::User *user : reached[i]->users()) {
      auto *op = llvm::dyn_cast<llvm::Instruction>(user);
      if (!op)
        continue;
      if (readsWide(*op))
        return true;
      if (passesBits(*op))
        reached.insert(op);
    }
  return false;
}

} // namespace

void keepLaneMoves(llvm::Function &kernel) {
  llvm::SmallVector<llvm::IntrinsicInst *> moves;
  for (llvm::Instruction &op : llvm::instructions(kernel)) {
    auto *move = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
    if (move && move->getIntrinsicID() == llvm::Intrinsic::amdgcn_update_dpp && reachesWide(*move))
      moves.push_back(move);
  }
  for (llvm::IntrinsicInst *move : moves)
    makeOpaque(*move, "v");
}

} // namespace kiln
