//===- IssueEstimateTest.cpp - How long a wave takes for code --------------------===//

#include "compiler/Target/AMD/IssueEstimate.h"
#include "compiler/Target/CodeGeneration.h"
#include "tests/compiler/Target/AMD/ProductLoop.h"
#include "llvm/Target/TargetMachine.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// Of the kernel `f`.
IssueEstimate estimateOf(const std::string &text) {
  TargetInfo info = target("hip:gfx1100");
  KernelFacts facts;
  facts.symbol = "f";
  facts.launch.threadsPerBlock = 32;
  DeviceBinary binary = emitted(emitText(text, facts, info));
  auto machine = llvm::cantFail(createMachine(info, {}));
  llvm::StringRef bytes(binary.bytes.data(), binary.bytes.size());
  return estimateIssue(llvm::cantFail(listHsaco(bytes, "f", *machine)), *machine);
}

uint64_t cyclesOf(const std::string &text) { return estimateOf(text).cycles; }

/// Two loads, of which the second one's place is INDEX.
uint64_t cyclesOfLoads(const std::string &index) {
  return cyclesOf(R"(
declare i32 @llvm.amdgcn.workitem.id.x()
define void @f(ptr addrspace(1) %a, ptr addrspace(1) %b) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr i32, ptr addrspace(1) %a, i32 %thread
  %loaded = load i32, ptr addrspace(1) %p
  %q = getelementptr i32, ptr addrspace(1) %a, i32 )" +
                  index + R"(
  %second = load volatile i32, ptr addrspace(1) %q
  %sum = add i32 %loaded, %second
  store i32 %sum, ptr addrspace(1) %b
  ret void
})");
}

TEST(IssueEstimate, WaitsForWhatAnInstructionReads) {
  uint64_t together = cyclesOfLoads("%thread"), behind = cyclesOfLoads("%loaded");
  constexpr uint64_t ofLoad = 320; // by LLVM's model
  EXPECT_GT(together, ofLoad);
  EXPECT_LT(together, 2 * ofLoad);
  EXPECT_GT(behind, 2 * ofLoad);
}

/// What stands in front of a loop of products is none of its iterations.
TEST(IssueEstimate, IsOfAnIterationOfProducts) {
  auto cycles = [](const std::string &entry) {
    return cyclesOf(productLoop("ptr addrspace(1) %from, <16 x half> %other", entry,
                                productOf("%other", "%other")));
  };
  uint64_t alone = cycles("");
  EXPECT_LT(alone, 100u);
  EXPECT_EQ(cycles("  store volatile i32 1, ptr addrspace(1) %from\n"
                   "  %x = load volatile i32, ptr addrspace(1) %from\n"
                   "  store volatile i32 %x, ptr addrspace(1) %from\n"),
            alone);
}

/// A product of 16 x 16 x 16, by AMD's figures, and the sum beside it.
TEST(IssueEstimate, ProductsKeepTheVectorUnitBusy) {
  auto busy = [](const std::string &body) {
    return estimateOf(productLoop("ptr addrspace(1) %from, <16 x half> %other", "",
                                  productOf("%other", "%other") + body))
        .busy;
  };
  constexpr uint64_t ofProduct = 32;
  uint64_t alone = busy("");
  EXPECT_GE(alone, ofProduct);
  EXPECT_LT(alone, 2 * ofProduct);
}

/// Accesses to scratch memory in a loop of products are in each of its iterations.
TEST(IssueEstimate, CountsSpillsOfLoops) {
  auto spills = [](const std::string &entry, const std::string &body) {
    return estimateOf(productLoop("ptr addrspace(1) %from, <16 x half> %other",
                                  "  %slot = alloca i32, addrspace(5)\n" + entry,
                                  body + productOf("%other", "%other")))
        .spills;
  };
  const std::string store = "  store volatile i32 1, ptr addrspace(5) %slot\n";
  EXPECT_EQ(spills(store, ""), 0u);
  EXPECT_EQ(spills("", store + store), 2u);
}

} // namespace
