//===- DelayWritesTest.cpp - What is written behind an iteration's products ------===//

#include "compiler/Target/AMD/DelayWrites.h"
#include "tests/compiler/Target/AMD/ProductLoop.h"
#include <gtest/gtest.h>

using kiln::testing::productOf;

namespace {

std::string loopAfter(const std::string &body) {
  return kiln::testing::loopAfter(kiln::delayWrites, body);
}

const std::string product = productOf("%a", "%other");

TEST(DelayWrites, ProductsComeBeforeTheWorkOnWhatIsLoaded) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(1) %from
  %turned = shufflevector <8 x half> %x, <8 x half> poison, <8 x i32> <i32 1, i32 0, i32 3, i32 2, i32 5, i32 4, i32 7, i32 6>
  %a = load <16 x half>, ptr addrspace(3) %p
  call void @llvm.amdgcn.s.barrier()
  store <8 x half> %turned, ptr addrspace(3) %p
)" + product),
            "x a llvm.amdgcn.s.barrier d llvm.amdgcn.sched.barrier turned write");
}

/// One buffer is free from the beginning, another one behind the barrier.
TEST(DelayWrites, SoDoThoseOnBothSidesOfABarrier) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(1) %from
  %a = load <16 x half>, ptr addrspace(3) %p
  store <8 x half> %x, ptr addrspace(3) @kiln_shared
  call void @llvm.amdgcn.s.barrier()
  store <8 x half> %x, ptr addrspace(3) %p
)" + product),
            "x a d llvm.amdgcn.sched.barrier write llvm.amdgcn.s.barrier write");
}

/// The work of this iteration is written before what it loads.
TEST(DelayWrites, WritesOfWhatIsComputedAheadOfThemStayToo) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(1) %from
  %a = load <16 x half>, ptr addrspace(3) %p
  store <16 x half> %other, ptr addrspace(3) @kiln_shared
  call void @llvm.amdgcn.s.barrier()
  store <8 x half> %x, ptr addrspace(3) %p
)" + product),
            "x a write llvm.amdgcn.s.barrier d llvm.amdgcn.sched.barrier write");
}

/// What the loop reads behind its writes it has to wait for.
TEST(DelayWrites, WritesOfThisIterationStayWhereTheyAre) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(1) %from
  %turned = shufflevector <8 x half> %x, <8 x half> poison, <8 x i32> <i32 1, i32 0, i32 3, i32 2, i32 5, i32 4, i32 7, i32 6>
  store <8 x half> %turned, ptr addrspace(3) %p
  call void @llvm.amdgcn.s.barrier()
  %a = load <16 x half>, ptr addrspace(3) %p
)" + product),
            "x turned write llvm.amdgcn.s.barrier a d");
}

/// What the product reads another thread may have written in front of the barrier.
TEST(DelayWrites, ProductsOfWhatIsReadBehindABarrierStayBehindIt) {
  EXPECT_EQ(loopAfter(R"(
  %x = load <8 x half>, ptr addrspace(1) %from
  store <8 x half> %x, ptr addrspace(3) %p
  call void @llvm.amdgcn.s.barrier()
  %a = load <16 x half>, ptr addrspace(1) %from
)" + product),
            "x write llvm.amdgcn.s.barrier a d");
}

/// Nothing of it comes from memory.
TEST(DelayWrites, WritesOfWhatIsComputedStayWhereTheyAre) {
  EXPECT_EQ(loopAfter(R"(
  %a = load <16 x half>, ptr addrspace(3) %p
  call void @llvm.amdgcn.s.barrier()
  store <16 x half> %other, ptr addrspace(3) %p
)" + product),
            "a llvm.amdgcn.s.barrier write d");
}

} // namespace
