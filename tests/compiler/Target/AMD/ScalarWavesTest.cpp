//===- ScalarWavesTest.cpp - Bits of a thread's number that a wave's lanes share -----===//

#include "compiler/Target/AMD/ScalarWaves.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace kiln::testing;

namespace {

using llvm::ConstantInt;
using llvm::Value;

/// What the kernel stores for a thread of that number, where its wave's first one has `first`.
class Evaluator {
public:
  Evaluator(uint32_t thread, uint32_t first) : thread(thread), first(first) {}

  uint32_t of(Value *value, uint32_t at) const {
    if (auto *constant = llvm::dyn_cast<ConstantInt>(value))
      return uint32_t(constant->getZExtValue());
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(value))
      return call->getIntrinsicID() == llvm::Intrinsic::amdgcn_readfirstlane
                 ? of(call->getArgOperand(0), first)
                 : at;
    auto *op = llvm::cast<llvm::BinaryOperator>(value);
    uint32_t a = of(op->getOperand(0), at), b = of(op->getOperand(1), at);
    switch (op->getOpcode()) {
    case llvm::Instruction::And:
      return a & b;
    case llvm::Instruction::Or:
      return a | b;
    case llvm::Instruction::LShr:
      return a >> b;
    case llvm::Instruction::Shl:
      return a << b;
    default:
      ADD_FAILURE() << "not evaluated: " << op->getOpcodeName();
      return 0;
    }
  }
  uint32_t operator()(Value *value) const { return of(value, thread); }

private:
  uint32_t thread, first;
};

Value *storedBy(llvm::Module &module) {
  for (llvm::Instruction &instruction : llvm::instructions(*module.getFunction("f")))
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      return store->getValueOperand();
  return nullptr;
}

/// Of a kernel that stores `%r`: whether it asks for the wave's number, having found that the
/// values of all threads are as before.
bool asksForWave(const std::string &body, unsigned warpSize) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> before =
      parseIR("declare i32 @llvm.amdgcn.workitem.id.x()\ndefine void @f(ptr addrspace(1) %out) {\n"
              "%t = call i32 @llvm.amdgcn.workitem.id.x()\n" +
                  body + "\nstore i32 %r, ptr addrspace(1) %out\nret void\n}",
              context);
  std::unique_ptr<llvm::Module> after = llvm::CloneModule(*before);
  kiln::scalariseWaves(*after->getFunction("f"), warpSize);
  EXPECT_FALSE(llvm::verifyModule(*after, &llvm::errs()));
  for (uint32_t thread = 0; thread < 1024; ++thread) {
    Evaluator evaluate(thread, thread / warpSize * warpSize);
    EXPECT_EQ(evaluate(storedBy(*after)), evaluate(storedBy(*before))) << thread << ": " << body;
  }
  return after->getFunction("llvm.amdgcn.readfirstlane.i32") != nullptr;
}

TEST(ScalarWaves, TakesBitsAboveLanes) {
  EXPECT_TRUE(asksForWave("%r = lshr i32 %t, 6", 64));
  EXPECT_TRUE(asksForWave("%r = lshr i32 %t, 7", 64));
  EXPECT_TRUE(asksForWave("%r = and i32 %t, 192", 64));
  EXPECT_TRUE(asksForWave("%s = lshr i32 %t, 4\n%r = and i32 %s, 12", 64));
  EXPECT_TRUE(asksForWave("%r = lshr i32 %t, 5", 32));
}

TEST(ScalarWaves, LeavesLanesTheirOwn) {
  EXPECT_FALSE(asksForWave("%r = lshr i32 %t, 5", 64));
  EXPECT_FALSE(asksForWave("%r = and i32 %t, 224", 64));
  EXPECT_FALSE(asksForWave("%s = lshr i32 %t, 4\n%r = and i32 %s, 14", 64));
  EXPECT_FALSE(asksForWave("%r = or i32 %t, 64", 64));
}

TEST(ScalarWaves, TellsPartsApart) {
  EXPECT_TRUE(asksForWave("%lane = and i32 %t, 63\n%wave = lshr i32 %t, 6\n"
                          "%row = shl i32 %wave, 8\n%r = or i32 %row, %lane",
                          64));
}

} // namespace
