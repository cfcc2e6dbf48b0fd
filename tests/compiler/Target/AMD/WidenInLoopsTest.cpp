//===- WidenInLoopsTest.cpp - Halves that loops compute on in f32 ---------------===//

#include "compiler/Target/AMD/WidenInLoops.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Scalar.h"

using namespace kiln::testing;

namespace {

/// The loop makes %r of a sum %s and of %wide, which was widened in front of it; what stands behind
/// it stores %r and VALUE.
std::unique_ptr<llvm::Module> widened(llvm::LLVMContext &context, const std::string &body,
                                      const std::string &value) {
  std::unique_ptr<llvm::Module> module = parseIR(R"(
define void @f(i1 %again, ptr %from, ptr %out, <4 x half> %halves, float %x) {
entry:
  %element = extractelement <4 x half> %halves, i64 2
  %wide = fpext half %element to float
  br label %loop
loop:
  %s = phi float [ 0.0, %entry ], [ %r, %loop ]
)" + body + R"(
  br i1 %again, label %loop, label %end
end:
  store float %r, ptr %out
  store float )" + value + R"(, ptr %out
  ret void
})",
                                                 context);
  kiln::widenInLoops(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  return module;
}

/// The blocks of the conversions that there are then, and of the elements that they convert.
std::string blocksAfter(const std::string &body, const std::string &value) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = widened(context, body, value);
  std::string blocks;
  for (llvm::Instruction &op : llvm::instructions(*module->getFunction("f")))
    if (llvm::isa<llvm::FPExtInst, llvm::ExtractElementInst>(op))
      blocks += op.getOpcodeName() + (": " + op.getParent()->getName() + " ").str();
  return blocks;
}

const std::string product = "  %p = fmul float %x, %wide\n  %r = fadd float %s, %p\n";

TEST(WidenInLoops, HalvesAreWidenedWhereTheyAreMultiplied) {
  EXPECT_EQ(blocksAfter(product, "%x"), "extractelement: loop fpext: loop ");
  EXPECT_EQ(blocksAfter("  %r = fadd float %s, %wide\n", "%x"),
            "extractelement: loop fpext: loop ");
}

TEST(WidenInLoops, WhatIsNeededElsewhereStays) {
  EXPECT_EQ(blocksAfter(product, "%wide"), "extractelement: entry fpext: entry ");
}

/// LLVM's own pass, which its code generation has behind Kiln's.
std::string blocksBehindLICM(const std::string &value) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = widened(context, product, value);
  llvm::legacy::PassManager passes;
  passes.add(llvm::createLICMPass());
  passes.run(*module);
  std::string blocks;
  for (llvm::Instruction &op : llvm::instructions(*module->getFunction("f")))
    if (llvm::isa<llvm::FPExtInst>(op))
      blocks += op.getParent()->getName().str();
  return blocks;
}

TEST(WidenInLoops, ConversionsStayInTheLoop) { EXPECT_EQ(blocksBehindLICM("%x"), "loop"); }

/// A conversion in each iteration would be an instruction.
TEST(WidenInLoops, WhatTakesNoHalvesHasNumbersOfF32) {
  EXPECT_EQ(blocksAfter("  %r = fdiv float %s, %wide\n", "%x"),
            "extractelement: entry fpext: entry ");
}

} // namespace
