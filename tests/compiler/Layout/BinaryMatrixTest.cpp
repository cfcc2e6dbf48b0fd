//===- BinaryMatrixTest.cpp - linear algebra over GF(2) -------------------===//

#include "compiler/Layout/BinaryMatrix.h"
#include "tests/compiler/Layout/RandomLayouts.h"

#include <gtest/gtest.h>

using namespace kiln;

TEST(BinaryMatrix, RankAndKernelAddUp) {
  RandomLayouts random(1);
  for (int round = 0; round < 200; ++round) {
    BinaryColumns columns;
    for (unsigned i = 0; i < 12; ++i)
      columns.push_back(random.engine() & 0x3ff);
    BinaryColumns null = kernel(columns);
    EXPECT_EQ(rank(columns) + null.size(), columns.size());
    EXPECT_EQ(rank(null), null.size());
    for (BinaryVector x : null)
      EXPECT_EQ(multiply(columns, x), 0u);
  }
}

TEST(BinaryMatrix, SolveFindsWhatMultiplyMade) {
  RandomLayouts random(2);
  for (int round = 0; round < 200; ++round) {
    BinaryColumns columns;
    for (unsigned i = 0; i < 9; ++i)
      columns.push_back(random.engine() & 0xffff);
    BinaryVector target = multiply(columns, random.engine() & 0x1ff);
    auto x = solve(columns, target);
    ASSERT_TRUE(x);
    EXPECT_EQ(multiply(columns, *x), target);
    EXPECT_EQ(*x & ~pivotColumns(columns), 0u);
  }
  EXPECT_FALSE(solve({1, 2}, 4));
}

TEST(BinaryMatrix, InverseOfInvertible) {
  RandomLayouts random(3);
  for (int round = 0; round < 100; ++round) {
    BinaryColumns columns = random.invertible(10);
    auto inverted = inverse(columns);
    ASSERT_TRUE(inverted);
    for (BinaryVector x = 0; x < 1024; x += 37)
      EXPECT_EQ(multiply(*inverted, multiply(columns, x)), x);
  }
  EXPECT_FALSE(inverse({1, 1}));
}

TEST(BinaryMatrix, IntersectionHasTheDimensionTheFormulaSays) {
  RandomLayouts random(4);
  for (int round = 0; round < 200; ++round) {
    BinaryColumns a, b, both;
    for (unsigned i = 0; i < 4; ++i)
      a.push_back(random.engine() & 0x3f), b.push_back(random.engine() & 0x3f);
    both = a;
    both.append(b.begin(), b.end());
    BinaryColumns common = intersection(a, b);
    EXPECT_EQ(common.size(), rank(a) + rank(b) - rank(both));
    for (BinaryVector v : common) {
      EXPECT_TRUE(BinarySpan(a).contains(v));
      EXPECT_TRUE(BinarySpan(b).contains(v));
    }
  }
}

TEST(BinaryMatrix, ComplementExtendsWithoutOverlap) {
  BinaryColumns complement = complementWithin({0b011}, {0b011, 0b001, 0b010, 0b100});
  EXPECT_EQ(complement, (BinaryColumns{0b001, 0b100}));
}
