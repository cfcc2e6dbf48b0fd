//===- LinearLayoutTest.cpp - algebra, reshaping and questions ------------===//

#include "compiler/Layout/LinearLayout.h"
#include "tests/compiler/Layout/RandomLayouts.h"

#include <gtest/gtest.h>

using namespace kiln;

/// The 4x8 tile of the essay in LinearLayout.h.
static LinearLayout essayLayout() {
  return llvm::cantFail(LinearLayout::parse("register: 0,1 2,0; lane: 0,2 0,4 1,0; warp: -> 4x8"));
}

TEST(LinearLayout, EssayExample) {
  LinearLayout layout = essayLayout();
  EXPECT_EQ(layout.coordinates(3, 5, 0), (llvm::SmallVector<int64_t, 4>{3, 3}));
  EXPECT_EQ(layout.coordinates(1, 2, 0), (llvm::SmallVector<int64_t, 4>{0, 5}));
  EXPECT_TRUE(layout.isBijective());
  EXPECT_EQ(layout.str(), "register: 0,1 2,0; lane: 0,2 0,4 1,0; warp: -> 4x8");
}

TEST(LinearLayout, InverseAndCompositionOfRandomLayouts) {
  RandomLayouts random(10);
  for (int round = 0; round < 100; ++round) {
    LayoutSpace out = random.shape(9);
    LinearLayout a = random.distributed(2, 5, 2, out), b = random.distributed(4, 3, 2, out);
    EXPECT_TRUE(a.isBijective());
    LinearLayout back = a.compose(a.invert());
    LinearLayout across = a.invertAndCompose(b);
    for (uint64_t x = 0; x < 512; ++x) {
      EXPECT_EQ(back.apply(x), x);
      EXPECT_EQ(b.apply(across.apply(x)), a.apply(x));
    }
  }
}

TEST(LinearLayout, InvertAndComposeKeepsDuplicatesInPlace) {
  LinearLayout layout = essayLayout().withInBits(Dim::Lane, 5);
  LinearLayout same = layout.invertAndCompose(layout);
  for (uint64_t x = 0; x < uint64_t(layout.in().totalSize()); ++x)
    EXPECT_EQ(same.apply(x), x);
}

TEST(LinearLayout, ProductHasTheMinorBitsBelow) {
  RandomLayouts random(12);
  for (int round = 0; round < 100; ++round) {
    LinearLayout minor = random.distributed(1, 3, 0, random.shape(4));
    LinearLayout major = random.distributed(2, 2, 2, random.shape(6));
    LinearLayout product = minor * major;
    for (Dim in : {Dim::Register, Dim::Lane, Dim::Warp}) {
      unsigned below = minor.in().bits(in);
      ASSERT_EQ(product.in().bits(in), below + major.in().bits(in));
      for (unsigned bit = 0; bit < product.in().bits(in); ++bit)
        for (Dim out : {Dim::axis(0), Dim::axis(1)})
          EXPECT_EQ(product.basis(in, bit, out), bit < below ? minor.basis(in, bit, out)
                                                             : major.basis(in, bit - below, out)
                                                                   << minor.out().bits(out));
    }
  }
}

TEST(LinearLayout, TransposeMovesAxes) {
  LinearLayout layout = essayLayout(), turned = layout.transpose({1, 0});
  EXPECT_EQ(turned.shape(), (llvm::SmallVector<int64_t, 4>{8, 4}));
  for (uint64_t x = 0; x < 32; ++x) {
    auto before = layout.out().unpack(layout.apply(x)),
         after = turned.out().unpack(turned.apply(x));
    EXPECT_EQ(before[0], after[1]);
    EXPECT_EQ(before[1], after[0]);
  }
}

TEST(LinearLayout, ReshapeIsRowMajor) {
  LinearLayout layout = essayLayout(), flat = layout.reshape({32});
  for (uint64_t x = 0; x < 32; ++x) {
    auto point = layout.out().unpack(layout.apply(x));
    EXPECT_EQ(flat.out().unpack(flat.apply(x))[0], point[0] * 8 + point[1]);
  }
  EXPECT_EQ(layout.expandAxis(1).squeezeAxis(1), layout);
}

TEST(LinearLayout, SliceDropsRepeatedRegisters) {
  LinearLayout rows = essayLayout().slice(1);
  EXPECT_EQ(rows.str(), "register: 2; lane: 0 0 1; warp: -> 4");
  EXPECT_EQ(rows.freeBits(Dim::Lane), 0b011u);
  EXPECT_EQ(essayLayout().shrinkAxis(0).str(), "register: 0,1; lane: 0,2 0,4 0,0; warp: -> 1x8");
}

TEST(LinearLayout, GrowAxisIsUndoneByShrinkAxis) {
  LinearLayout packed = essayLayout().expandAxis(1);
  LinearLayout unpacked = packed.growAxis(1, 4);
  EXPECT_EQ(unpacked.shrinkAxis(1), packed);
  // Rows 0 to 3 come from row 0, and lie below the registers that step from row to row.
  EXPECT_EQ(unpacked.reshape({16, 8}).str(),
            "register: 0,1 1,0 2,0 8,0; lane: 0,2 0,4 4,0; warp: -> 16x8");
  EXPECT_EQ(essayLayout().slice(0).expandAxis(1).growAxis(1, 2).reshape({16}).str(),
            "register: 1 2; lane: 4 8 0; warp: -> 16");
}

TEST(LinearLayout, GrowAxisSharesItBetweenLanesThatHoldTheSame) {
  LinearLayout rows = essayLayout().slice(1).expandAxis(1);
  LinearLayout grown = rows.growAxis(1, 8, /*overLanes=*/true);
  EXPECT_EQ(grown.str(), "register: 0,4 2,0; lane: 0,1 0,2 1,0; warp: -> 4x8");
  EXPECT_EQ(grown.shrinkAxis(1), rows);
  // Of two lanes one holds duplicates still.
  EXPECT_EQ(rows.growAxis(1, 2, /*overLanes=*/true).str(),
            "register: 2,0; lane: 0,1 0,0 1,0; warp: -> 4x2");
}

TEST(LinearLayout, FitToShapeGrowsAndShrinks) {
  LinearLayout grown = essayLayout().fitToShape({8, 16}, {1, 0});
  EXPECT_EQ(grown.str(), "register: 0,1 2,0 0,8 4,0; lane: 0,2 0,4 1,0; warp: -> 8x16");
  LinearLayout shrunk = essayLayout().fitToShape({2, 4}, {1, 0});
  EXPECT_EQ(shrunk.str(), "register: 0,1; lane: 0,2 0,0 1,0; warp: -> 2x4");
}

TEST(LinearLayout, ContiguousRegistersFollowTheOrder) {
  EXPECT_EQ(essayLayout().contiguousRegisters({1, 0}), 2);
  EXPECT_EQ(essayLayout().contiguousRegisters({0, 1}), 1);
  LinearLayout wide =
      llvm::cantFail(LinearLayout::parse("register: 0,1 0,2 1,0; lane: 2,0 -> 4x4"));
  EXPECT_EQ(wide.contiguousRegisters({1, 0}), 8);
}

TEST(LinearLayout, TextRoundTrip) {
  RandomLayouts random(13);
  for (int round = 0; round < 100; ++round) {
    LinearLayout layout = random.distributed(3, 5, 2, random.shape(10));
    LinearLayout parsed = llvm::cantFail(LinearLayout::parse(layout.str()));
    EXPECT_EQ(parsed, layout);
    EXPECT_EQ(hash_value(parsed), hash_value(layout));
    EXPECT_EQ(llvm::cantFail(LinearLayout::parse(layout.invert().str())), layout.invert());
  }
  LinearLayout scalar = LinearLayout::zeros(5, Dim::Lane, Dim::axis(0)).squeezeAxis(0);
  EXPECT_EQ(llvm::cantFail(LinearLayout::parse(scalar.str())), scalar);
}

TEST(LinearLayout, MalformedTextIsAnError) {
  for (const char *text :
       {"register: 0,1", "register: 0,1 -> 3x8", "register: 0 -> 4x8", "register: 9,9 -> 4x8",
        "nowhere: 0,1 -> 4x8", "lane: ; lane: -> 4x8", "register: 0,1 -> x", "-> offset:4 offset:4",
        "-> 1099511627776x1099511627776"})
    EXPECT_FALSE(bool(llvm::expectedToOptional(LinearLayout::parse(text)))) << text;
}
