#include "codegen/DispatchProof.h"
#include "codegen/ArgumentRanges.h"
#include "codegen/VariantConditions.h"
#include "tests/codegen/TestModel.h"
#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using Kind = DispatchMistake::Kind;
using Texts = std::vector<std::string>;

EntryModel kernel() {
  EntryModel entry = test::entry("f", {{"x", "*fp32"}, {"n", "i32"}, {"m", "i32"}, {"u", "u64"}});
  entry.grid = {expression("cdiv(n, BLOCK)"), expression("m")};
  return entry;
}

void declare(EntryModel &entry, llvm::StringRef name, ArgumentRange range) {
  entry.ranges.push_back({*findArgument(entry, name), std::move(range), {}});
}

void add(EntryModel &entry, int64_t block, const Texts &conditions, const char *promise = nullptr) {
  VariantModel one = variant({{"BLOCK", block}});
  if (promise)
    one.facts.push_back(*factOf(promise[0] == '*' ? 0 : 1, type(promise)));
  one.promises = one.facts.size();
  for (const std::string &condition : conditions)
    addCondition(expression(condition), entry, one);
  entry.variants.push_back(std::move(one));
}

DispatchProof prove(const EntryModel &entry, int64_t budget = kProofBudget) {
  std::vector<TargetVariants> targets;
  for (const char *name : {"cuda:sm_90a", "cpu:x86-64-v3"}) {
    targets.push_back({name, {}});
    auto target = parseTarget(name);
    EXPECT_TRUE(bool(target));
    for (unsigned i = 0; i < entry.variants.size(); ++i)
      targets.back().variants.push_back({i, gridLimits(*target, 4, 1)});
  }
  return proveDispatch(entry, targets, budget);
}

Texts textsOf(const DispatchProof &proof, Kind kind) {
  Texts texts;
  for (const DispatchMistake &mistake : proof.mistakes)
    if (mistake.kind == kind)
      texts.push_back((mistake.isUndecided ? "undecided: " : "") + mistake.text);
  return texts;
}

TEST(DispatchProof, ProvesThatAllCallsAreServed) {
  EntryModel entry = kernel();
  declare(entry, "n", {1, 65536, 8, {}});
  declare(entry, "m", {1, 4, 1, {}});
  add(entry, 64, {"n <= 1024"});
  add(entry, 256, {"n > 1024"});
  DispatchProof proof = prove(entry);
  EXPECT_EQ(proof.mistakes.size(), 0u);
  EXPECT_EQ(proof.summary.coverage, DispatchSummary::Coverage::Proven);
  EXPECT_EQ(proof.summary.overlaps.size(), 0u);
  EXPECT_TRUE(proof.summary.listsAllOverlaps);
}

TEST(DispatchProof, ShowsACallWithoutAVariant) {
  EntryModel entry = kernel();
  declare(entry, "n", {1, 2000, 8, {}});
  declare(entry, "m", {1, 4, 1, {}});
  add(entry, 64, {"n < 1024"});
  add(entry, 256, {"n > 1024"});
  DispatchProof proof = prove(entry);
  EXPECT_EQ(textsOf(proof, Kind::Gap).size(), 1u);
  EXPECT_TRUE(llvm::StringRef(textsOf(proof, Kind::Gap).front())
                  .starts_with("no variant of 'f' is legal for n=1024, m="))
      << textsOf(proof, Kind::Gap).front();
  EXPECT_EQ(proof.summary.coverage, DispatchSummary::Coverage::HasGaps);
}

TEST(DispatchProof, TakesWhatAllSignaturesPromiseForGranted) {
  EntryModel entry = kernel();
  declare(entry, "m", {1, 4, 1, {}});
  add(entry, 64, {}, "i32:16");
  EXPECT_EQ(textsOf(prove(entry), Kind::Gap), Texts());
  // Of two signatures one may take what the other does not, and neither what none does.
  add(entry, 64, {"n % 2 == 0"});
  EXPECT_EQ(textsOf(prove(entry), Kind::Gap).size(), 1u);
  entry.variants.pop_back();
  add(entry, 64, {});
  EXPECT_EQ(textsOf(prove(entry), Kind::Gap), Texts());
  entry.variants.clear();
  add(entry, 64, {}, "*fp32:16");
  add(entry, 64, {"n < 5"});
  DispatchProof proof = prove(entry);
  ASSERT_EQ(textsOf(proof, Kind::Gap).size(), 1u);
  EXPECT_TRUE(llvm::StringRef(textsOf(proof, Kind::Gap).front()).contains("x=0x"));
}

TEST(DispatchProof, FindsVariantsThatNoCallChooses) {
  EntryModel entry = kernel();
  declare(entry, "n", {1, 64, 1, {}});
  declare(entry, "m", {1, 4, 1, {}});
  add(entry, 64, {});
  add(entry, 256, {"n > 64"});
  EXPECT_EQ(
      textsOf(prove(entry), Kind::DeadVariant),
      (Texts{"variant 1 (BLOCK=256, n >= 65) of 'f' is legal for no call within the ranges"}));
  // One that promises more is legal wherever it is.
  entry.ranges[0].range = {8, 64, 8, {}};
  entry.variants.clear();
  add(entry, 64, {}, "i32:8");
  add(entry, 256, {});
  Texts dead = textsOf(prove(entry), Kind::DeadVariant);
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_TRUE(llvm::StringRef(dead.front()).starts_with("variant 1 (BLOCK=256, any arguments)"))
      << dead.front();
}

TEST(DispatchProof, FindsGridsThatCannotBeLaunched) {
  EntryModel entry = kernel();
  declare(entry, "n", {1, 64, 1, {}});
  declare(entry, "m", {1, 100000, 1, {}});
  add(entry, 64, {});
  Texts large = textsOf(prove(entry), Kind::LargeGrid);
  ASSERT_EQ(large.size(), 1u); // 65535 is the limit of GPUs alone
  EXPECT_TRUE(
      llvm::StringRef(large.front()).contains("more than the 65535 that cuda:sm_90a allows"));
  entry.ranges[1].range.maximum = 65535;
  EXPECT_EQ(prove(entry).mistakes.size(), 0u);
  entry.grid[1] = expression("m - 2");
  DispatchProof proof = prove(entry);
  EXPECT_EQ(textsOf(proof, Kind::NegativeGrid).size(), 1u);
  EXPECT_EQ(textsOf(proof, Kind::EmptyGrid).size(), 1u);
  EXPECT_EQ(proof.summary.coverage, DispatchSummary::Coverage::HasGaps);
  entry.grid[1] = expression("m // (n - 7)");
  EXPECT_EQ(textsOf(prove(entry), Kind::FailingGrid).size(), 1u);
  // A size of zero is the caller's: nothing is launched.
  entry.grid[1] = expression("m");
  entry.ranges[1].range.minimum = 0;
  EXPECT_EQ(prove(entry).mistakes.size(), 0u);
  entry.grid[1] = expression("m // 2");
  EXPECT_EQ(textsOf(prove(entry), Kind::EmptyGrid).size(), 1u);
  entry.ranges[1].range.minimum = -1;
  EXPECT_EQ(textsOf(prove(entry), Kind::NegativeGrid).size(), 1u);
}

TEST(DispatchProof, ListsWhatIsLegalTogether) {
  EntryModel entry = kernel();
  declare(entry, "m", {1, 4, 1, {}});
  add(entry, 64, {"n <= 1024"});
  add(entry, 128, {"n <= 1024"});
  add(entry, 256, {"n >= 1000"});
  DispatchProof proof = prove(entry);
  ASSERT_EQ(proof.summary.overlaps.size(), 2u);
  EXPECT_EQ(proof.summary.overlaps[0].variants, (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(proof.summary.overlaps[1].variants, (std::vector<unsigned>{0, 1, 2}));
  EXPECT_EQ(proof.summary.overlaps[1].chosenBy, "cost");
}

TEST(DispatchProof, ClaimsNothingThatItDidNotProve) {
  EntryModel entry = kernel();
  declare(entry, "n", {3, 100000, 1, {}});
  declare(entry, "m", {3, 65535, 1, {}});
  add(entry, 64, {"n * n * m % 1000003 != 77 or m % 7919 == n % 7907"});
  DispatchProof proof = prove(entry, 1000);
  EXPECT_EQ(proof.summary.coverage, DispatchSummary::Coverage::Undecided);
  // Conditions on what 64 signed bits do not hold.
  entry.variants.clear();
  entry.grid[1] = expression("1");
  add(entry, 64, {"u <= 9223372036854775807"});
  Texts gaps = textsOf(prove(entry), Kind::Gap);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_TRUE(llvm::StringRef(gaps.front()).starts_with("undecided: ")) << gaps.front();
  declare(entry, "u", {std::nullopt, 1000, 1, {}});
  EXPECT_EQ(prove(entry).summary.coverage, DispatchSummary::Coverage::Proven);
}

TEST(DispatchProof, LooksAtEachTargetsVariants) {
  EntryModel entry = kernel();
  declare(entry, "m", {1, 4, 1, {}});
  add(entry, 64, {"n <= 8"});
  add(entry, 256, {"n > 8"});
  std::array<int64_t, 3> limits = {INT32_MAX, 65535, 65535};
  DispatchProof proof = proveDispatch(
      entry, {{"hip:gfx942", {{0, limits}, {1, limits}}}, {"cuda:sm_80", {{0, limits}}}});
  Texts gaps = textsOf(proof, Kind::Gap);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_TRUE(llvm::StringRef(gaps.front()).contains("is legal on cuda:sm_80 for n="));
}

TEST(DispatchProof, ManyVariantsTakeLittleTime) {
  EntryModel entry = kernel();
  declare(entry, "n", {1, 1 << 20, 1, {}});
  declare(entry, "m", {1, 1000, 1, {}});
  for (int64_t i = 0; i < 200; ++i)
    add(entry, 64,
        {"n > " + std::to_string(i * 100) + " and n % 16 == " + std::to_string(i % 16),
         i < 199 ? "n <= " + std::to_string(i * 100 + 100) + " or m % 3 == 1" : "n or m"});
  DispatchProof proof = prove(entry);
  EXPECT_EQ(textsOf(proof, Kind::Gap).size(), 1u);
  EXPECT_FALSE(proof.summary.listsAllOverlaps);
}

} // namespace
} // namespace kiln::test
