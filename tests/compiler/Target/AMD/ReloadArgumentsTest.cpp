//===- ReloadArgumentsTest.cpp - Arguments that only what stands behind a loop uses ---===//

#include "compiler/Target/AMD/ReloadArguments.h"
#include "tests/compiler/Target/AMD/ProductLoop.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

/// A kernel with strides of 64 bits. `behind` its loop is the block `end`, and around both is
/// another loop, which begins with `inAgain`.
std::string kernelOf(const std::string &entry, const std::string &inAgain,
                     const std::string &inLoop, const std::string &behind) {
  return declareWmma + R"(
define amdgpu_kernel void @f(i16 %narrow, i32 %n, ptr addrspace(1) %out, i64 %s0, i64 %s1, i64 %s2,
                             i64 %s3, i64 %s4, i64 %s5, <16 x half> %a) {
entry:
)" + entry +
         R"(
  br label %again
again:
  %k = phi i32 [ 0, %entry ], [ %k1, %end ]
)" + inAgain +
         R"(
  br label %loop
loop:
  %i = phi i32 [ 0, %again ], [ %i1, %loop ]
  %c = phi <8 x float> [ zeroinitializer, %again ], [ %d, %loop ]
)" + productOf("%a", "%a") +
         inLoop + R"(
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %loop, label %end
end:
)" + behind +
         R"(
  %k1 = add i32 %k, 1
  %next = icmp slt i32 %k1, %n
  br i1 %next, label %again, label %exit
exit:
  ret void
})";
}

/// The offsets that arguments are loaded from, in the block `end`, and how many of its other
/// operands stand in front of the loop: "16 24; 1".
std::string reloads(const std::string &text) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(text, context);
  module->setDataLayout("e-p:64:64-p1:64:64-p4:64:64-i64:64");
  llvm::Function &kernel = *module->getFunction("f");
  kiln::reloadArguments(kernel);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string offsets;
  unsigned others = 0;
  for (llvm::BasicBlock &block : kernel) {
    if (block.getName() != "end")
      continue;
    for (llvm::Instruction &instruction : block)
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
        llvm::APInt offset(64, 0);
        load->getPointerOperand()->stripAndAccumulateConstantOffsets(module->getDataLayout(),
                                                                     offset,
                                                                     /*AllowNonInbounds=*/false);
        offsets += std::to_string(offset.getZExtValue()) + " ";
      } else {
        for (llvm::Value *operand : instruction.operands()) {
          auto *op = llvm::dyn_cast<llvm::Instruction>(operand);
          others += llvm::isa<llvm::Argument>(operand) ||
                    (op && op->getParent() == &kernel.getEntryBlock());
        }
      }
  }
  return offsets + "; " + std::to_string(others);
}

/// What the kernel stores hangs on the strides, by a product in front of the loop.
const std::string product = "  %row = mul i64 %s0, %s1\n";
const std::string stores = R"(
  %x = add i64 %row, %s2
  %y0 = add i64 %x, %s3
  %y1 = add i64 %y0, %s4
  %y = add i64 %y1, %s5
  %p = getelementptr float, ptr addrspace(1) %out, i64 %y
  store <8 x float> %d, ptr addrspace(1) %p
)";

TEST(ReloadArguments, WhatStandsBehindTheLoopLoadsThem) {
  EXPECT_EQ(reloads(kernelOf(product, "", "", stores)), "16 24 32 40 48 56 8 ; 1");
}

TEST(ReloadArguments, WhatTheLoopNeedsStays) {
  EXPECT_EQ(reloads(kernelOf(product, "", "  %l = trunc i64 %row to i32\n", stores)),
            "32 40 48 56 8 ; 2");
  EXPECT_EQ(reloads(kernelOf(product, "  %l = trunc i64 %s2 to i32\n", "", stores)),
            "16 24 40 48 56 8 ; 2");
}

TEST(ReloadArguments, DivisionsAreDoneOnce) {
  EXPECT_EQ(reloads(kernelOf("  %row = sdiv i64 %s0, %s1\n", "", "",
                             stores + "  %z = add i64 %s0, %s1\n")),
            "32 40 48 56 8 16 24 ; 2");
}

TEST(ReloadArguments, FewAreHeld) {
  EXPECT_EQ(reloads(kernelOf("", "", "",
                             "  %p = getelementptr float, ptr addrspace(1) %out, i64 %s0\n"
                             "  store <8 x float> %d, ptr addrspace(1) %p\n")),
            "; 3");
}

/// A kernel of which `end` is the other version, in front of its loop or behind it.
std::string versionsOf(bool isBehind) {
  const std::string loop = R"(
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %c = phi <8 x float> [ zeroinitializer, %entry ], [ %d, %loop ]
)" + productOf("%a", "%a") +
                           R"(
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %loop, label %exit
)",
                    other = R"(
end:
  %x = add i64 %row, %s2
  %y0 = add i64 %x, %s3
  %y1 = add i64 %y0, %s4
  %y = add i64 %y1, %s5
  %p = getelementptr float, ptr addrspace(1) %out, i64 %y
  store <8 x float> zeroinitializer, ptr addrspace(1) %p
  br label %exit
)";
  return declareWmma + R"(
define amdgpu_kernel void @f(i16 %narrow, i32 %n, ptr addrspace(1) %out, i64 %s0, i64 %s1, i64 %s2,
                             i64 %s3, i64 %s4, i64 %s5, <16 x half> %a) {
entry:
  %row = mul i64 %s0, %s1
  %same = icmp eq i64 %s0, %s5
  br i1 %same, label %end, label %loop
)" + (isBehind ? loop + other : other + loop) +
         R"(
exit:
  ret void
})";
}

TEST(ReloadArguments, AnotherVersionLoadsThemToo) {
  EXPECT_EQ(reloads(versionsOf(/*isBehind=*/true)), "16 24 32 40 48 56 8 ; 0");
  EXPECT_EQ(reloads(versionsOf(/*isBehind=*/false)), "; 6");
}

} // namespace
