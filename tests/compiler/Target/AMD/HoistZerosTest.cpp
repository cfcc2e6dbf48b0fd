//===- HoistZerosTest.cpp - The address of zeros, in loops and beside them -----===//

#include "compiler/Target/AMD/HoistZeros.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

/// Where the module names the zeros: "loop: 0, elsewhere: 1".
std::string usesAfter(const std::string &text) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(text, context);
  kiln::hoistZeros(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  unsigned inLoop = 0, elsewhere = 0;
  for (llvm::Use &use : module->getNamedGlobal("kiln_zeros")->uses()) {
    auto *user = llvm::cast<llvm::Instruction>(use.getUser());
    ++(user->getParent()->getName() == "loop" ? inLoop : elsewhere);
  }
  return "loop: " + std::to_string(inLoop) + ", elsewhere: " + std::to_string(elsewhere);
}

const std::string zeros =
    "@kiln_zeros = internal addrspace(1) constant [16 x i8] zeroinitializer\n";

TEST(HoistZeros, LoopsShareOneAddress) {
  EXPECT_EQ(usesAfter(zeros + R"(
define void @f(ptr addrspace(1) %p, i1 %c, i1 %d, ptr addrspace(1) %out) {
entry:
  br label %loop
loop:
  %a = select i1 %c, ptr addrspace(1) %p, ptr addrspace(1) @kiln_zeros
  %x = load i32, ptr addrspace(1) %a
  %b = select i1 %d, ptr addrspace(1) %p, ptr addrspace(1) @kiln_zeros
  %y = load i32, ptr addrspace(1) %b
  %s = add i32 %x, %y
  store i32 %s, ptr addrspace(1) %out
  br i1 %d, label %loop, label %end
end:
  ret void
})"),
            "loop: 0, elsewhere: 1");
}

TEST(HoistZeros, OthersKeepTheConstant) {
  EXPECT_EQ(usesAfter(zeros + R"(
define void @f(ptr addrspace(1) %p, i1 %c, ptr addrspace(1) %out) {
  %a = select i1 %c, ptr addrspace(1) %p, ptr addrspace(1) @kiln_zeros
  %x = load i32, ptr addrspace(1) %a
  store i32 %x, ptr addrspace(1) %out
  ret void
})"),
            "loop: 0, elsewhere: 1");
}

/// What comes over a loop's back edge is of the loop, over the edge into it is not.
TEST(HoistZeros, PhisTakeItFromTheirEdges) {
  EXPECT_EQ(usesAfter(zeros + R"(
define void @f(i1 %c, ptr addrspace(1) %p, ptr addrspace(1) %out) {
entry:
  br label %loop
loop:
  %a = phi ptr addrspace(1) [ @kiln_zeros, %entry ], [ @kiln_zeros, %loop ]
  %x = load i32, ptr addrspace(1) %a
  store i32 %x, ptr addrspace(1) %out
  br i1 %c, label %loop, label %end
end:
  ret void
})"),
            "loop: 1, elsewhere: 1");
}

} // namespace
