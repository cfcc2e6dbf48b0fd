//===- JoinComparisonsTest.cpp - Zero or more, and below an end, at once -===//

#include "compiler/Target/AMD/JoinComparisons.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

using namespace kiln::testing;

namespace {

/// Stores `%result`, which the body computes of an index, its neighbour and an end.
std::string functionOf(const std::string &body) {
  return R"(
define void @f(ptr %in, ptr %none, ptr %other, ptr %out) {
  %index = load i32, ptr %in
  %behind = getelementptr i32, ptr %in, i32 1
  %end = load i32, ptr %behind
  %next = xor i32 %index, 1
)" + body +
         R"(
  %wide = zext i1 %result to i32
  store i32 %wide, ptr %out
  ret void
})";
}

/// Of numbers around zero and at the ends of what words hold.
std::vector<uint32_t> resultsOf(llvm::Module &module) {
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  module.setDataLayout(machine->createDataLayout());
  LoadedObject object(module, *machine, "f");
  auto *function = object.as<void(const int32_t *, void *, void *, uint32_t *)>();
  std::vector<uint32_t> results;
  constexpr int32_t least = std::numeric_limits<int32_t>::min(), most = -1 - least;
  for (int32_t index : {least, -2, -1, 0, 1, 4, 5, most})
    for (int32_t end : {least, -5, -1, 0, 1, 5, most}) {
      const int32_t in[] = {index, end};
      uint32_t out = 2;
      function(in, nullptr, nullptr, &out);
      results.push_back(out);
    }
  return results;
}

/// Comparisons that are left. What they come to must stay.
unsigned comparisonsIn(const std::string &body) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> before = parseIR(functionOf(body), context),
                                after = parseIR(functionOf(body), context);
  kiln::joinComparisons(*after->getFunction("f"), /*ofWords=*/true);
  EXPECT_FALSE(llvm::verifyModule(*after, &llvm::errs()));
  unsigned comparisons = 0;
  for (const llvm::Instruction &op : llvm::instructions(*after->getFunction("f")))
    comparisons += llvm::isa<llvm::ICmpInst>(op);
  EXPECT_EQ(resultsOf(*after), resultsOf(*before)) << body;
  return comparisons;
}

TEST(JoinComparisons, ZeroOrMoreAndBelowAnEnd) {
  EXPECT_EQ(comparisonsIn(R"(
  %isIn = icmp sgt i32 %index, -1
  %isBelow = icmp slt i32 %index, %end
  %result = and i1 %isIn, %isBelow
)"),
            1u);
}

TEST(JoinComparisons, InAnyOrder) {
  EXPECT_EQ(comparisonsIn(R"(
  %isIn = icmp sgt i32 %index, -1
  %isBelow = icmp sgt i32 %end, %index
  %first = and i1 %isBelow, %isIn
  %isNextIn = icmp sgt i32 %next, -1
  %isNextBelow = icmp slt i32 %next, %end
  %second = and i1 %isNextBelow, %isNextIn
  %result = xor i1 %first, %second
)"),
            2u);
}

/// A described block's row: %index is where the block begins, and %lane the row's place in it.
std::string rowsBelow(const std::string &place, const std::string &end) {
  return R"(
  %begin = sext i32 %index to i64
  %lane = and i32 %next, 127
  %low = zext i32 %lane to i64
  %first = add i64 %begin, %low
  %row = add i64 %first, )" +
         place + R"(
  %wideEnd = )" +
         end + R"(
  %isIn = icmp sgt i64 %row, -1
  %isBelow = icmp slt i64 %row, %wideEnd
  %result = and i1 %isIn, %isBelow
)";
}

TEST(JoinComparisons, RowsOfDescribedBlocksAreComparedAsWords) {
  // The last one: as many rows behind the lanes' as a sum below 2^31 leaves.
  for (const char *place : {"0", "16", "2147483520"})
    EXPECT_EQ(comparisonsIn(rowsBelow(place, "sext i32 %end to i64")), 1u) << place;
}

TEST(JoinComparisons, WiderNumbersAreLeft) {
  // A sum that may reach 2^32 as an unsigned number, one that may be below all words, and an end
  // of more than a word.
  EXPECT_EQ(comparisonsIn(rowsBelow("2147483521", "sext i32 %end to i64")), 2u);
  EXPECT_EQ(comparisonsIn(rowsBelow("-16", "sext i32 %end to i64")), 2u);
  EXPECT_EQ(comparisonsIn(rowsBelow("16", "zext i32 %end to i64")), 2u);
}

TEST(JoinComparisons, OthersAreLeft) {
  // Two indices; an end that is in range; a comparison that is needed in any case.
  EXPECT_EQ(comparisonsIn(R"(
  %isIn = icmp sgt i32 %index, -1
  %isBelow = icmp slt i32 %next, %end
  %result = and i1 %isIn, %isBelow
)"),
            2u);
  EXPECT_EQ(comparisonsIn(R"(
  %isIn = icmp sgt i32 %index, -1
  %isBelow = icmp sle i32 %index, %end
  %result = and i1 %isIn, %isBelow
)"),
            2u);
  EXPECT_EQ(comparisonsIn(R"(
  %isIn = icmp sgt i32 %index, -1
  %isBelow = icmp slt i32 %index, %end
  %both = and i1 %isIn, %isBelow
  %result = xor i1 %both, %isIn
)"),
            2u);
}

} // namespace
