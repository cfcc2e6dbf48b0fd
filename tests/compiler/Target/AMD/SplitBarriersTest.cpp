//===- SplitBarriersTest.cpp - Products between a barrier's signal and its wait ---===//

#include "compiler/Target/AMD/SplitBarriers.h"
#include "tests/compiler/Target/AMD/ProductLoop.h"
#include <gtest/gtest.h>

using kiln::testing::productOf;
using kiln::testing::wmma;

namespace {

std::string loopAfter(const std::string &body) {
  return kiln::testing::loopAfter(kiln::splitBarriers, body);
}

std::string barrier(const std::string &annotation) {
  return "  fence syncscope(\"workgroup\") release" + annotation +
         "\n  call void @llvm.amdgcn.s.barrier()\n" + "  fence syncscope(\"workgroup\") acquire" +
         annotation + "\n";
}

const std::string ofShared = barrier(", !mmra !0"), ofAll = barrier(""),
                  read = "  %a = load <16 x half>, ptr addrspace(3) %p\n",
                  write = "  store <16 x half> %other, ptr addrspace(3) %p\n",
                  load = "  %x = load <16 x half>, ptr addrspace(1) %from\n",
                  product = productOf("%a", "%other"),
                  signal = "release llvm.amdgcn.s.barrier.signal llvm.amdgcn.sched.barrier",
                  wait = "llvm.amdgcn.sched.barrier llvm.amdgcn.s.barrier.wait acquire";

TEST(SplitBarriers, ProductsOfWhatIsReadStandBetween) {
  const std::string split = "a " + signal + " d " + wait + " write";
  EXPECT_EQ(loopAfter(read + ofShared + product + write), split);
  EXPECT_EQ(loopAfter(read + product + ofShared + write), split);
}

/// All reads have to be there for the signal, and products wait for no more than they take.
TEST(SplitBarriers, TheFirstHalfOfABlocksProductsStandsInFront) {
  auto after = [](const std::string &name, const std::string &sum) {
    return "  %" + name + " = call <8 x float> " + wmma +
           "(<16 x half> %a, <16 x half> %other, <8 x float> %" + sum + ")\n";
  };
  EXPECT_EQ(loopAfter(read + ofShared + after("c0", "c") + after("c1", "c0") + after("c2", "c1") +
                      after("d", "c2") + write),
            "a c0 c1 " + signal + " c2 d " + wait + " write");
}

/// Others' stores to global memory have to be seen behind the barrier of all memory.
TEST(SplitBarriers, LoadsStandBetweenWhereOnlySharedMemoryIsOrdered) {
  EXPECT_EQ(loopAfter(read + ofShared + load + product + write),
            "a x " + signal + " d " + wait + " write");
  EXPECT_EQ(loopAfter(read + ofAll + load + product + write),
            "a release llvm.amdgcn.s.barrier acquire x d write");
  EXPECT_EQ(loopAfter(read + ofAll + product + load + write),
            "a " + signal + " d " + wait + " x write");
}

TEST(SplitBarriers, WhatIsReadBehindABarrierIsWaitedFor) {
  EXPECT_EQ(loopAfter(write + ofShared + read + product),
            "write release llvm.amdgcn.s.barrier acquire a d");
}

/// A scheduler that has to keep it in front of the wait lacks registers.
TEST(SplitBarriers, WorkOnAResultStaysBehindTheBarrier) {
  const std::string work = "  %w = fadd <8 x float> %d, %d\n";
  EXPECT_EQ(loopAfter(read + ofShared + product + work + write),
            "a release llvm.amdgcn.s.barrier acquire d w write");
}

/// One that orders no memory is no pattern of the lowering's.
TEST(SplitBarriers, BarriersWithoutFencesStay) {
  EXPECT_EQ(loopAfter(read + "  call void @llvm.amdgcn.s.barrier()\n" + product + write),
            "a llvm.amdgcn.s.barrier d write");
}

} // namespace
