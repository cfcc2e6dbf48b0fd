// Which name is offered for a misspelt one.
#include "compiler/Basic/NameSuggestion.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(NameSuggestion, FindsTheNearest) {
  llvm::StringRef names[] = {"zeros", "zeros_like", "where", "arange"};
  EXPECT_EQ(findNearestName("zero", names), "zeros");
  EXPECT_EQ(findNearestName("zeroslike", names), "zeros_like");
  EXPECT_EQ(findNearestName("arrange", names), "arange");
  EXPECT_EQ(findNearestName("wheer", names), "where") << "two letters swapped";
}

TEST(NameSuggestion, PrefersADifferenceOfCase) {
  llvm::StringRef names[] = {"clock", "BLOCK"};
  EXPECT_EQ(findNearestName("block", names), "clock") << "one letter is less than five cases";
  llvm::StringRef sizes[] = {"Block_n", "BLOCK_M"};
  EXPECT_EQ(findNearestName("BLOCK_m", sizes), "BLOCK_M");
}

TEST(NameSuggestion, OffersNothingFarAway) {
  llvm::StringRef names[] = {"program_id", "x"};
  EXPECT_EQ(findNearestName("where", names), "");
  EXPECT_EQ(findNearestName("y", names), "") << "sharing no letter is no likeness";
  EXPECT_EQ(findNearestName("", names), "");
  EXPECT_EQ(findNearestName("where", {}), "");
}

TEST(NameSuggestion, WritesAHint) {
  llvm::StringRef names[] = {"num_warps"};
  EXPECT_EQ(suggestName("num_warp", names), "did you mean 'num_warps'?");
  EXPECT_EQ(suggestName("stages", names), "");
}

} // namespace
} // namespace kiln
