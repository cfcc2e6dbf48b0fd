// What agrees with a recorded launch, and what does not: by type, by view, at the edges of memory.

#include "compiler/Driver/Verify/Comparison.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace kiln {
namespace {

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

template <typename T>
Comparison compare(ElementType element, std::vector<T> wanted, std::vector<T> got,
                   Tolerances tolerances = defaultTolerances()) {
  std::string before(wanted.size() * sizeof(T), '\0');
  return compareStorage(before, bytesOf(wanted), bytesOf(got), {{element, 0}}, tolerances);
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();

TEST(Comparison, EqualMemoryAgrees) {
  Comparison same = compare<float>(ElementType::FP32, {1, 2, 0, nan}, {1, 2, 0, nan});
  EXPECT_EQ(same.differing, 0u);
  EXPECT_EQ(same.worst, 0);
  EXPECT_EQ(same.changed, 3u);
}

TEST(Comparison, FloatsMayBeOffByTheirTolerance) {
  // rms is 1: the first may be off by 0.002 x 2.
  EXPECT_EQ(compare<float>(ElementType::FP32, {1, -1}, {1.0039f, -1}).differing, 0u);
  Comparison off = compare<float>(ElementType::FP32, {1, -1}, {1, -1.0041f});
  EXPECT_EQ(off.differing, 1u);
  EXPECT_EQ(off.place, 4u);
  EXPECT_NEAR(off.rms, 1, 1e-6);
  EXPECT_NEAR(off.worst, 0.00205, 1e-5);
  EXPECT_EQ(compare<float>(ElementType::FP32, {1, -1}, {1, -1.0041f}, {{ElementType::FP32, 0.01}})
                .differing,
            0u);
  EXPECT_EQ(compare<double>(ElementType::FP64, {1, 1}, {1 + 1e-8, 1}).differing, 1u);
}

TEST(Comparison, SumsThatCancelAreMeasuredByTheirSize) {
  std::vector<float> wanted(100, 50), got(100, 50);
  wanted[7] = 1e-6f, got[7] = 2e-2f;
  EXPECT_EQ(compare(ElementType::FP32, wanted, got).differing, 0u);
  got[7] = 1;
  EXPECT_EQ(compare(ElementType::FP32, wanted, got).differing, 1u);
}

TEST(Comparison, NaNAndInfinity) {
  EXPECT_EQ(compare<float>(ElementType::FP32, {nan}, {-nan}).differing, 0u);
  EXPECT_EQ(compare<float>(ElementType::FP32, {0, 1}, {-0.0f, 1}).differing, 0u);
  for (auto [wanted, got] : {std::pair<float, float>{nan, 1},
                             {1, nan},
                             {infinity, 1},
                             {1, infinity},
                             {infinity, -infinity}}) {
    Comparison one = compare<float>(ElementType::FP32, {wanted, 1}, {got, 1});
    EXPECT_EQ(one.differing, 1u) << wanted << " " << got;
    EXPECT_TRUE(std::isinf(one.worst));
  }
}

TEST(Comparison, IntegersAreExact) {
  EXPECT_EQ(compare<int32_t>(ElementType::Int32, {1000000, 5}, {1000001, 5}).differing, 1u);
  int64_t large = int64_t(1) << 60;
  EXPECT_EQ(compare<int64_t>(ElementType::Int64, {large}, {large + 1}).differing, 1u);
  EXPECT_EQ(compare<int8_t>(ElementType::Int8, {100, 50}, {101, 50}, {{ElementType::Int8, 0.02}})
                .differing,
            0u);
}

TEST(Comparison, SmallFloatsAreReadAsTheyAre) {
  EXPECT_EQ(compare<uint16_t>(ElementType::BF16, {0x3f80, 0x3f80}, {0x3f81, 0x3f80}).differing, 0u);
  EXPECT_EQ(compare<uint16_t>(ElementType::BF16, {0x3f80, 0x3f80}, {0x4000, 0x3f80}).differing, 1u);
  // 1 and the next number above it, and 2.
  for (auto [element, one, next, two] :
       {std::tuple<ElementType, int, int, int>{ElementType::FP8E4NV, 0x38, 0x39, 0x40},
        {ElementType::FP8E5, 0x3c, 0x3d, 0x40},
        {ElementType::FP8E4B15, 0x78, 0x79, 0x7f}}) {
    EXPECT_EQ(compare<uint8_t>(element, {uint8_t(one)}, {uint8_t(next)}).differing, 0u);
    EXPECT_EQ(compare<uint8_t>(element, {uint8_t(one)}, {uint8_t(two)}).differing, 1u);
  }
}

TEST(Comparison, AgreesInOneOfItsViews) {
  std::string wanted = bytesOf<float>({1, 2}) + bytesOf<int32_t>({7, 8});
  std::string got = bytesOf<float>({1.001f, 2}) + bytesOf<int32_t>({7, 8});
  std::string before(wanted.size(), '\0');
  std::vector<ElementView> views = {{ElementType::Int32, 0}, {ElementType::FP32, 0}};
  EXPECT_EQ(compareStorage(before, wanted, got, views, defaultTolerances()).differing, 0u);
  EXPECT_EQ(compareStorage(before, wanted, got, views[0], defaultTolerances()).differing, 1u);
  got[15] = 0x7f; // far away in both
  Comparison off = compareStorage(before, wanted, got, views, defaultTolerances());
  EXPECT_EQ(off.differing, 1u);
  EXPECT_EQ(off.place, 12u);
  EXPECT_EQ(off.got, 0x7f000008);
}

TEST(Comparison, EveryByteCounts) {
  std::string before(11, '\0'), wanted = before;
  for (size_t place = 0; place < wanted.size(); ++place) {
    std::string got = wanted;
    got[place] = 77;
    for (uint64_t phase : {0, 2})
      EXPECT_NE(
          compareStorage(before, wanted, got, {{ElementType::Int32, phase}}, defaultTolerances())
              .differing,
          0u)
          << place << " " << phase;
    EXPECT_EQ(compareStorage(before, wanted, got, {}, defaultTolerances()).place, place);
  }
  EXPECT_EQ(compareStorage("", "", "", {{ElementType::FP32, 0}}, defaultTolerances()).differing,
            0u);
}

} // namespace
} // namespace kiln
