#include "compiler/Target/MainLoop.h"
#include <gtest/gtest.h>

using namespace kiln;

namespace {

constexpr auto M = ListedKind::Matrix, S = ListedKind::Shared, G = ListedKind::Global,
               W = ListedKind::Wait, O = ListedKind::Other;

ListedInstruction one(ListedKind kind) { return {kind, std::nullopt}; }
ListedInstruction branch(size_t to) { return {O, to}; }

TEST(MainLoop, NeedsAWayBack) {
  EXPECT_FALSE(findMainLoop({}));
  EXPECT_FALSE(findMainLoop({one(M), branch(2), one(G)}));
}

TEST(MainLoop, IsTheInnermost) {
  // 0: outer { 2: inner { M S } G }
  auto found = findMainLoop({one(O), one(G), one(M), one(S), branch(2), one(G), branch(0)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->instructions, 3u);
  EXPECT_EQ(found->matrix, 1u);
  EXPECT_EQ(found->shared, 1u);
  EXPECT_EQ(found->global, 0u);
}

TEST(MainLoop, IsTheOneThatMultipliesMost) {
  auto found = findMainLoop({one(O), one(O), one(O), one(M), branch(0), // a longer one
                             one(M), one(M), branch(5)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->matrix, 2u);
  EXPECT_EQ(found->instructions, 3u);
}

TEST(MainLoop, WithoutProductsIsTheLongest) {
  auto found = findMainLoop({one(G), branch(0), one(G), one(O), one(G), branch(2)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->instructions, 4u);
  EXPECT_EQ(found->global, 2u);
}

TEST(MainLoop, HoldsLoopsThatOnlyWait) {
  auto found = findMainLoop({one(G), one(W), branch(1), one(G), branch(0)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->instructions, 5u);
  EXPECT_EQ(found->waits, 1u);
  EXPECT_FALSE(findMainLoop({one(W), branch(0)}));
}

TEST(MainLoop, HoldsLoopsOverOneAccess) {
  // { M { G } M }: the lanes of an access take turns.
  auto found = findMainLoop({one(M), one(G), branch(1), one(M), branch(0)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->matrix, 2u);
  EXPECT_EQ(found->global, 1u);
  EXPECT_EQ(found->instructions, 5u);
}

TEST(MainLoop, EndsWithTheLastBranchToItsHead) {
  // A loop with `continue`.
  auto found = findMainLoop({one(M), branch(0), one(S), branch(0)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->instructions, 4u);
}

} // namespace
