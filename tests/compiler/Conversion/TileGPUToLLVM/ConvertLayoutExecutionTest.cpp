// Layout conversions between random layouts: what one thread writes in one layout, another reads in
// the other.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/TileText.h"
#include "gtest/gtest.h"

namespace kiln::testing {
namespace {

class ConvertLayout : public ::testing::TestWithParam<const char *> {};

/// A 16 x 32 tile of its own row-major index, made in layout a, converted, stored in layout b.
std::string kernelText(const LinearLayout &a, const LinearLayout &b, const std::string &type) {
  TileText text("%o: !tile.ptr<" + type + ">");
  text.addLayout("a", a);
  text.addLayout("b", b);
  std::string value = text.index("a", 16, 32), index = text.index("b", 16, 32);
  if (type != "i32") {
    text.line("%v = " + conversionFromI32(type) + " " + value + " : " +
              tensor("16x32", "i32", "a") + " to " + tensor("16x32", type, "a"));
    value = "%v";
  }
  text.line("%t = tilegpu.convert_layout " + value + " : " + tensor("16x32", type, "a") + " -> " +
            tensor("16x32", type, "b"));
  text.store("%o", "%t", index, "16x32", type, "b");
  return text.str();
}

template <typename T>
void checkConversions(const char *target, const std::string &type, T (*expect)(int)) {
  Random random(type.size() + target[4]);
  TargetInfo info = llvm::cantFail(parseTarget(target));
  unsigned laneBits = info.warpSize == 64 ? 6 : 5;
  uint64_t barriers = 0;
  for (int round = 0; round < 12; ++round) {
    LinearLayout a = randomLayout(random, 4, 5, laneBits, 2);
    LinearLayout b = randomLayout(random, 4, 5, laneBits, 2);
    CompiledKernel kernel(kernelText(a, b, type), target, /*hasLayouts=*/true);
    ASSERT_EQ(kernel.errors, "") << kernelText(a, b, type);
    Buffer<T> out(512);
    kernel.use(out);
    barriers += instructionsOf(kernel.count({out.argument()}), "barrier");
    for (int index = 0; index < 512; ++index)
      ASSERT_EQ(out[index], expect(index)) << kernelText(a, b, type);
  }
  EXPECT_GT(barriers, 0u) << "no conversion went through shared memory";
}

TEST_P(ConvertLayout, OfWords) {
  checkConversions<int32_t>(GetParam(), "i32", [](int i) { return i; });
}
TEST_P(ConvertLayout, OfDoubleWords) {
  checkConversions<int64_t>(GetParam(), "i64", [](int i) { return int64_t(i); });
}
TEST_P(ConvertLayout, OfHalves) {
  checkConversions<uint16_t>(GetParam(), "i16", [](int i) { return uint16_t(i); });
}
TEST_P(ConvertLayout, OfBytes) {
  checkConversions<uint8_t>(GetParam(), "i8", [](int i) { return uint8_t(i); });
}

// 256 KB through 64 KB, in four slices.
TEST(ConvertLayoutSlices, OfATileThatDoesNotFit) {
  Random random(9);
  TileText text("%o: !tile.ptr<i32>");
  text.addLayout("a", randomLayout(random, 8, 8, /*laneBits=*/5, /*warpBits=*/2));
  text.addLayout("b", randomLayout(random, 8, 8, /*laneBits=*/5, /*warpBits=*/2));
  std::string value = text.index("a", 256, 256), index = text.index("b", 256, 256);
  text.line("%t = tilegpu.convert_layout " + value + " : " + tensor("256x256", "i32", "a") +
            " -> " + tensor("256x256", "i32", "b"));
  text.store("%o", "%t", index, "256x256", "i32", "b");
  CompiledKernel kernel(text.str(), "hip:gfx1100", /*hasLayouts=*/true);
  ASSERT_EQ(kernel.errors, "");
  Buffer<int32_t> out(1 << 16);
  kernel.use(out);
  ASSERT_EQ(kernel.run({out.argument()}), "");
  for (int index = 0; index < 1 << 16; ++index)
    ASSERT_EQ(out[index], index);
}

// Each warp exchanges with itself through memory, which serves its accesses in order: whole, and
// cut by allocation to what others leave. No barrier, and none is missed.
TEST(ConvertLayoutWithinWarps, MeetsNoOtherWarp) {
  auto layout = [](const char *text) { return llvm::cantFail(LinearLayout::parse(text)); };
  TileText text("%o: !tile.ptr<i32>");
  text.addLayout("a",
                 layout("register: 0,1 0,2 0,4 0,8 0,32 0,64; lane: 1,0 2,0 4,0 8,0 16,0 0,16; "
                        "warp: 32,0 64,0; block: -> 128x128"));
  text.addLayout("b",
                 layout("register: 1,0 2,0 4,0 8,0 0,32 0,64; lane: 0,1 0,2 0,4 0,8 16,0 0,16; "
                        "warp: 32,0 64,0; block: -> 128x128"));
  std::string value = text.index("a", 128, 128), index = text.index("b", 128, 128);
  text.line("%t = tilegpu.convert_layout " + value + " : " + tensor("128x128", "i32", "a") +
            " -> " + tensor("128x128", "i32", "b"));
  text.store("%o", "%t", index, "128x128", "i32", "b");
  CompiledKernel kernel(text.str(), "hip:gfx942", /*hasLayouts=*/true);
  ASSERT_EQ(kernel.errors, "");
  Buffer<int32_t> out(1 << 14);
  kernel.use(out);
  auto counts = kernel.count({out.argument()});
  EXPECT_EQ(instructionsOf(counts, "barrier"), 0u);
  EXPECT_GT(instructionsOf(counts, "shared store"), 0u);
  for (int index = 0; index < 1 << 14; ++index)
    ASSERT_EQ(out[index], index);
}

/// Lanes that swap words with one another meet nowhere, whatever a word holds.
template <typename T> void checkSwaps(const std::string &type, T (*expect)(int)) {
  auto layout = [](const char *text) { return llvm::cantFail(LinearLayout::parse(text)); };
  LinearLayout result = layout("register: 0,1 0,8; lane: 1,0 2,0 4,0 8,0 0,2 0,4; warp: 0,16 0,0; "
                               "block: -> 16x32");
  LinearLayout one = layout("register: 0,1 0,2; lane: 1,0 2,0 4,0 8,0 0,8 0,4; warp: 0,16 0,0; "
                            "block: -> 16x32");
  LinearLayout both = layout("register: 0,4 0,1; lane: 1,0 2,0 4,0 8,0 0,8 0,2; warp: 0,16 0,0; "
                             "block: -> 16x32");
  for (const LinearLayout &to : {one, both}) {
    CompiledKernel kernel(kernelText(result, to, type), "hip:gfx950", /*hasLayouts=*/true);
    ASSERT_EQ(kernel.errors, "");
    Buffer<T> out(512);
    kernel.use(out);
    auto counts = kernel.count({out.argument()});
    EXPECT_EQ(instructionsOf(counts, "barrier"), 0u);
    EXPECT_EQ(instructionsOf(counts, "shared store"), 0u);
    for (int index = 0; index < 512; ++index)
      ASSERT_EQ(out[index], expect(index)) << type;
  }
}

TEST(ConvertLayoutSwaps, OfAllWidths) {
  checkSwaps<int32_t>("i32", [](int i) { return i; });
  checkSwaps<int64_t>("i64", [](int i) { return int64_t(i); });
  checkSwaps<uint16_t>("i16", [](int i) { return uint16_t(i); });
  checkSwaps<uint8_t>("i8", [](int i) { return uint8_t(i); });
}

INSTANTIATE_TEST_SUITE_P(AllTargets, ConvertLayout, ::testing::ValuesIn(testTargets), targetName);

} // namespace
} // namespace kiln::testing
