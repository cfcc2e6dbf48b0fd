//===- IntegerStorage.cpp - Moving small floats as integers --------------------===//
//
// x86 has no registers for bf16, and LLVM's way around it calls __truncsfbf2 even to
// put a scalar into a vector. So no value of such a type is left: each instruction
// is rebuilt on i16, between bit casts, and casts that meet cancel out.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/IntegerStorage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace kiln {

namespace {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

class Rewriter {
public:
  Rewriter(llvm::Function &function, llvm::function_ref<bool(Type *)> isMoved)
      : function(function), isMoved(isMoved), builder(function.getContext()) {}

  void run();

private:
  bool touches(const Instruction &instruction) const {
    return isMoved(instruction.getType()) ||
           llvm::any_of(instruction.operands(),
                        [&](const llvm::Use &use) { return isMoved(use->getType()); });
  }
  Type *integerType(Type *type) const {
    return type->getWithNewType(llvm::Type::getInt16Ty(type->getContext()));
  }
  /// The operand as integers, cast at the builder's place.
  Value *bits(Value *value) {
    return isMoved(value->getType()) ? builder.CreateBitCast(value, integerType(value->getType()))
                                     : value;
  }
  Value *rebuild(Instruction &instruction);
  Value *rebuildPhi(llvm::PHINode &phi);
  Value *rebuildIntrinsic(llvm::IntrinsicInst &call);
  void cancelCasts();

  llvm::Function &function;
  llvm::function_ref<bool(Type *)> isMoved;
  llvm::IRBuilder<> builder;
};

Value *Rewriter::rebuildPhi(llvm::PHINode &phi) {
  llvm::PHINode *result = builder.CreatePHI(integerType(phi.getType()), phi.getNumIncomingValues());
  // A block that comes in twice must bring the same value.
  llvm::DenseMap<llvm::BasicBlock *, Value *> casts;
  for (unsigned i = 0, e = phi.getNumIncomingValues(); i != e; ++i) {
    llvm::BasicBlock *block = phi.getIncomingBlock(i);
    Value *&cast = casts[block];
    if (!cast) {
      builder.SetInsertPoint(block->getTerminator());
      cast = bits(phi.getIncomingValue(i));
    }
    result->addIncoming(cast, block);
  }
  builder.SetInsertPoint(phi.getParent(), phi.getParent()->getFirstInsertionPt());
  return result;
}

/// Arithmetic is gone: what is left moves lanes or memory, and has an overload on integers.
Value *Rewriter::rebuildIntrinsic(llvm::IntrinsicInst &call) {
  llvm::SmallVector<Type *, 4> overloads;
  if (call.getIntrinsicID() == llvm::Intrinsic::is_fpclass ||
      !llvm::Intrinsic::getIntrinsicSignature(call.getIntrinsicID(), call.getFunctionType(),
                                              overloads))
    return nullptr;
  for (Type *&type : overloads)
    if (isMoved(type))
      type = integerType(type);
  llvm::SmallVector<Value *, 4> arguments;
  for (Value *argument : call.args())
    arguments.push_back(bits(argument));
  llvm::CallInst *result = builder.CreateIntrinsic(call.getIntrinsicID(), overloads, arguments);
  // Alignments of masked accesses are attributes of the arguments.
  result->setAttributes(call.getAttributes());
  result->copyMetadata(call);
  return result;
}

/// The integer form of an instruction; null for those that stay (casts, calls, aggregates).
Value *Rewriter::rebuild(Instruction &instruction) {
  builder.SetInsertPoint(&instruction);
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&instruction))
    return rebuildPhi(*phi);
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return rebuildIntrinsic(*call);
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    auto *result =
        builder.CreateAlignedLoad(integerType(load->getType()), load->getPointerOperand(),
                                  load->getAlign(), load->isVolatile());
    result->setAtomic(load->getOrdering(), load->getSyncScopeID());
    result->copyMetadata(*load);
    return result;
  }
  switch (instruction.getOpcode()) {
  case Instruction::Store:
  case Instruction::Select:
  case Instruction::ShuffleVector:
  case Instruction::InsertElement:
  case Instruction::ExtractElement:
  case Instruction::Freeze:
    break;
  default:
    return nullptr;
  }
  llvm::SmallVector<Value *, 3> operands;
  for (Value *operand : instruction.operands())
    operands.push_back(bits(operand));
  Instruction *result = instruction.clone();
  for (auto [i, operand] : llvm::enumerate(operands))
    result->setOperand(static_cast<unsigned>(i), operand);
  if (llvm::isa<llvm::FPMathOperator>(result))
    result->copyFastMathFlags(llvm::FastMathFlags());
  if (isMoved(instruction.getType()))
    result->mutateType(integerType(instruction.getType()));
  builder.Insert(result);
  return result;
}

/// A cast of what was cast to such a type is one of the first value, or that itself.
void Rewriter::cancelCasts() {
  for (Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
    auto *inner = cast ? llvm::dyn_cast<llvm::BitCastInst>(cast->getOperand(0)) : nullptr;
    if (!inner || !isMoved(inner->getType()))
      continue;
    if (inner->getSrcTy() == cast->getType())
      cast->replaceAllUsesWith(inner->getOperand(0));
    else
      cast->setOperand(0, inner->getOperand(0));
  }
  // In both directions, as a phi's operand can stand behind it.
  bool changed = true;
  while (changed) {
    changed = false;
    for (Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (llvm::isa<llvm::BitCastInst>(instruction) && instruction.use_empty()) {
        instruction.eraseFromParent();
        changed = true;
      }
  }
}

void Rewriter::run() {
  llvm::SmallVector<Instruction *, 32> work;
  for (Instruction &instruction : llvm::instructions(function))
    if (touches(instruction))
      work.push_back(&instruction);
  for (Instruction *instruction : work) {
    Value *result = rebuild(*instruction);
    if (!result)
      continue;
    if (result->getType() != instruction->getType())
      result = builder.CreateBitCast(result, instruction->getType());
    instruction->replaceAllUsesWith(result);
    instruction->eraseFromParent();
  }
  if (!work.empty())
    cancelCasts();
}

} // namespace

void moveAsIntegers(llvm::Function &function, llvm::function_ref<bool(Type *)> isMoved) {
  Rewriter(function, isMoved).run();
}

} // namespace kiln
