// Which accesses of buffers are left out as nobody's.

#include "compiler/Target/EmptyAccesses.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

using namespace kiln::testing;

namespace {

/// How many accesses are left of a load and a store at the offset, of a buffer of `bytes`.
unsigned accessesAt(const std::string &offset, const std::string &bytes,
                    const std::string &more = "0") {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = parseIR(R"(
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), i32, i32, i32)
declare void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32, ptr addrspace(8), i32, i32, i32)
define i32 @f(ptr addrspace(1) %p, i32 %own, i32 %wave, i64 %size, i1 %some) {
  %chosen = select i1 %some, i64 2147483647, i64 0
  %b = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %p, i16 0, i64 )" +
                                                     bytes + R"(, i32 0)
  %x = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %b, i32 )" +
                                                     offset + ", i32 " + more + R"(, i32 0)
  call void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32 %own, ptr addrspace(8) %b, i32 )" +
                                                     offset + ", i32 " + more + R"(, i32 0)
  ret i32 %x
})",
                                                 context);
  llvm::Function &kernel = *module->getFunction("f");
  llvm::FunctionAnalysisManager analyses;
  kiln::LeaveOutEmptyAccesses().run(kernel, analyses);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  constexpr unsigned makesBuffer = 1;
  unsigned calls = llvm::count_if(llvm::instructions(kernel), [](llvm::Instruction &instruction) {
    return llvm::isa<llvm::CallInst>(instruction);
  });
  auto *result = llvm::cast<llvm::ReturnInst>(kernel.back().getTerminator())->getReturnValue();
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(result);
  EXPECT_EQ(constant && constant->isZero(), calls == makesBuffer);
  return calls - makesBuffer;
}

TEST(EmptyAccesses, WhatLiesBehindTheBufferIsLeftOut) {
  EXPECT_EQ(accessesAt("-2147483648", "254"), 0u);
  EXPECT_EQ(accessesAt("-2147483520", "2147483647"), 0u);
  EXPECT_EQ(accessesAt("-2147483648", "%chosen"), 0u);
  EXPECT_EQ(accessesAt("256", "256"), 0u);
  EXPECT_EQ(accessesAt("-16", "%size"), 0u);
}

TEST(EmptyAccesses, WhatMayBeInTheBufferStays) {
  EXPECT_EQ(accessesAt("252", "256"), 2u);
  EXPECT_EQ(accessesAt("2147483640", "2147483647"), 2u);
  EXPECT_EQ(accessesAt("%own", "256"), 2u);
}

/// A buffer may begin 2 GiB in front of its array.
TEST(EmptyAccesses, OffsetsBeyondTwoGibibytesMayBeInLargeBuffers) {
  EXPECT_EQ(accessesAt("-2147483648", "4294967280"), 2u);
  EXPECT_EQ(accessesAt("-2147483648", "%size"), 2u);
}

/// What is added for the wave may bring the sum back.
TEST(EmptyAccesses, SumsThatAreNotKnownStay) { EXPECT_EQ(accessesAt("-16", "256", "%wave"), 2u); }

} // namespace
