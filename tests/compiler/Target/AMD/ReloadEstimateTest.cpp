//===- ReloadEstimateTest.cpp - What does not stay in registers -------------------===//

#include "compiler/Target/AMD/ReloadEstimate.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/Module.h"
#include <gtest/gtest.h>

using namespace kiln;
using namespace kiln::testing;

namespace {

unsigned reloadsOf(const std::string &body, unsigned registers) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      parseIR("define void @f(ptr addrspace(1) %p, i1 %c, float %y) {\n" + body + "  ret void\n}\n",
              context);
  return estimateReloads(*module->getFunction("f"), registers);
}

/// Three numbers that are held together, and stored in the order in which they were loaded.
const char *three = R"(
  %a = load volatile float, ptr addrspace(1) %p
  %b = load volatile float, ptr addrspace(1) %p
  %c1 = load volatile float, ptr addrspace(1) %p
  store volatile float %a, ptr addrspace(1) %p
  store volatile float %b, ptr addrspace(1) %p
  store volatile float %c1, ptr addrspace(1) %p
)";

TEST(ReloadEstimate, WhatFitsIsNotReadBack) { EXPECT_EQ(reloadsOf(three, 3), 0u); }

TEST(ReloadEstimate, WhatIsNeededLastIsGivenUp) {
  EXPECT_EQ(reloadsOf(three, 2), 1u);
  EXPECT_EQ(reloadsOf(three, 1), 2u);
}

TEST(ReloadEstimate, WhatIsReadBackIsGivenUpAgain) {
  const char *again = R"(
  %a = load volatile float, ptr addrspace(1) %p
  %b = load volatile float, ptr addrspace(1) %p
  store volatile float %b, ptr addrspace(1) %p
  store volatile float %a, ptr addrspace(1) %p
  store volatile float %b, ptr addrspace(1) %p
  store volatile float %a, ptr addrspace(1) %p
)";
  EXPECT_EQ(reloadsOf(again, 2), 0u);
  EXPECT_EQ(reloadsOf(again, 1), 2u);
}

TEST(ReloadEstimate, AnOperandThatAnInstructionHasTwiceIsReadOnce) {
  const char *square = R"(
  %a = load volatile float, ptr addrspace(1) %p
  %b = load volatile float, ptr addrspace(1) %p
  store volatile float %b, ptr addrspace(1) %p
  %c1 = fmul float %a, %a
  store volatile float %c1, ptr addrspace(1) %p
)";
  EXPECT_EQ(reloadsOf(square, 1), 1u);
}

TEST(ReloadEstimate, VectorsTakeWordsMasksAndOffsetsNothing) {
  const char *vector = R"(
  %q = getelementptr i8, ptr addrspace(1) %p, i64 16
  %a = load volatile <8 x half>, ptr addrspace(1) %q
  %m = fcmp olt float %y, 1.0
  store volatile <8 x half> %a, ptr addrspace(1) %q
  %s = select i1 %m, float %y, float 1.0
  store volatile float %s, ptr addrspace(1) %p
)";
  EXPECT_EQ(reloadsOf(vector, 4), 0u);
  EXPECT_EQ(reloadsOf(vector, 3), 4u);
}

TEST(ReloadEstimate, WhatComesByWayOfALoopIsHeldFromThereOn) {
  const char *loop = R"(
  br label %loop
loop:
  %a = phi float [ %y, %0 ], [ %b, %loop ]
  %b = fadd float %a, %y
  br i1 %c, label %loop, label %end
end:
)";
  EXPECT_EQ(reloadsOf(loop, 1), 0u);
  EXPECT_EQ(reloadsOf(loop, 0), 1u);
}

} // namespace
