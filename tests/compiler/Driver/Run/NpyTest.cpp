// .npy files: what NumPy writes is read, damage is an error and never a crash; and the numbers that
// arguments are made of.

#include "compiler/Driver/Run/Npy.h"
#include "compiler/Driver/Run/RunValues.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace kiln {
namespace {

/// A file with a header of our own wording.
std::string fileOf(const std::string &header, const std::string &data, unsigned version = 1) {
  std::string file = "\x93NUMPY";
  file += {char(version), '\0', char(header.size()), char(header.size() >> 8)};
  if (version > 1)
    file += {'\0', '\0'};
  return file + header + data;
}

std::string errorOf(const std::string &file) {
  auto array = readNpy(file);
  return array ? "" : llvm::toString(array.takeError());
}

TEST(Npy, ReadsWhatItWrites) {
  std::string data = "abcdefghijklmnopqrstuvwx";
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{6}, {2, 3}, {1, 6, 1}, std::vector<int64_t>{3, 2, 1, 1}}) {
    std::string file = writeNpy("<f4", shape, data);
    EXPECT_EQ((file.size() - data.size()) % 64, 0u);
    auto array = readNpy(file);
    ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
    EXPECT_EQ(array->descr, "<f4");
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(array->data, data);
  }
  auto single = readNpy(writeNpy("<f8", {}, "12345678"));
  ASSERT_TRUE(bool(single));
  EXPECT_TRUE(single->shape.empty());
  auto empty = readNpy(writeNpy("|b1", {0, 5}, ""));
  ASSERT_TRUE(bool(empty));
  EXPECT_EQ(empty->data.size(), 0u);
}

TEST(Npy, ReadsEveryVersion) {
  for (unsigned version : {1, 2, 3}) {
    auto array = readNpy(
        fileOf("{\"shape\": (2,), 'fortran_order': False, 'descr': '<i2'}\n", "abcd", version));
    ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
    EXPECT_EQ(array->shape, std::vector<int64_t>{2});
  }
}

TEST(Npy, SaysWhatIsWrong) {
  EXPECT_EQ(errorOf("PK\x03\x04"), "not a .npy file");
  EXPECT_EQ(errorOf("\x93NUMPY\x01"), "the file is cut short: its header is not whole");
  EXPECT_EQ(errorOf(fileOf("{", "", 9)), "version 9 of the format is not known");
  EXPECT_EQ(errorOf(fileOf("{'descr': '<f4'}", "")), "the header is malformed");
  EXPECT_EQ(errorOf(fileOf("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "abcd")),
            "the elements are in Fortran order; numpy.ascontiguousarray gives C order");
  EXPECT_EQ(errorOf(fileOf("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }", "")),
            "the elements are structured");
  EXPECT_EQ(errorOf(fileOf("{'descr': '|O', 'fortran_order': False, 'shape': (), }", "")),
            "elements of '|O' are not known");
  EXPECT_EQ(errorOf(writeNpy("<f4", {3}, "short")),
            "the file is cut short: its shape needs 12 bytes, got 5");
  EXPECT_EQ(errorOf(writeNpy("<f4", {1}, "too long")),
            "the file has 4 bytes more than its shape needs");
  EXPECT_NE(errorOf(writeNpy("<f4", {INT64_MAX, INT64_MAX}, "x")), "");
}

TEST(Npy, SurvivesDamage) {
  std::mt19937 random(1);
  std::string good = writeNpy("<f4", {2, 3}, std::string(24, 'x'));
  for (int round = 0; round < 20000; ++round) {
    std::string file = good;
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      size_t at = random() % (file.size() + 1);
      switch (random() % 4) {
      case 0:
        file.erase(at, random() % 8);
        break;
      case 1:
        file.insert(at, 1, "(){},:'\"09-L"[random() % 12]);
        break;
      case 2:
        file.resize(at);
        break;
      case 3:
        if (at < file.size())
          file[at] = char(random());
        break;
      }
    }
    auto array = readNpy(file);
    if (!array) {
      llvm::consumeError(array.takeError());
      continue;
    }
    EXPECT_GE(array->data.begin(), file.data());
    EXPECT_LE(array->data.end(), file.data() + file.size());
  }
}

ArgumentType pointerTo(ElementType element) {
  ArgumentType type;
  type.kind = ArgumentType::Kind::Pointer;
  type.pointerDepth = 1;
  type.element = element;
  return type;
}

TEST(RunValues, RoundsToTheElementType) {
  EXPECT_EQ(elementOf(ElementType::FP16, 1.5), 0x3e00u);
  EXPECT_EQ(elementOf(ElementType::BF16, -2), 0xc000u);
  EXPECT_EQ(elementOf(ElementType::FP8E4NV, 1), 0x38u);
  EXPECT_EQ(elementOf(ElementType::FP8E5, 1), 0x3cu);
  EXPECT_EQ(elementOf(ElementType::FP8E5, std::numeric_limits<double>::quiet_NaN()), 0x7fu);
  EXPECT_EQ(elementOf(ElementType::FP8E5, -1e6), 0xfbu);
  EXPECT_EQ(elementOf(ElementType::FP64, 0.1), llvm::bit_cast<uint64_t>(0.1));
  EXPECT_EQ(elementOf(ElementType::Int8, -1.9), 0xffu);
  EXPECT_EQ(elementOf(ElementType::Int8, 1000), 0x7fu);
  EXPECT_EQ(elementOf(ElementType::UInt8, -3), 0u);
  EXPECT_EQ(elementOf(ElementType::Int32, std::numeric_limits<double>::quiet_NaN()), 0u);
  EXPECT_EQ(elementOf(ElementType::Int1, 0.5), 1u);
  EXPECT_EQ(elementOf(ElementType::FP8E4B15, 1), std::nullopt);
}

TEST(RunValues, GeneratesTheSameNumbersEverywhere) {
  DiagnosticEngine diagnostics;
  auto make = [&](const char *name, const char *text, uint64_t seed) {
    auto value = readRunValue(name, pointerTo(ElementType::FP64), text, seed, diagnostics);
    const double *first = reinterpret_cast<const double *>(value->array->data.get());
    return std::vector<double>(first, first + value->array->bytes / sizeof(double));
  };
  // From the definition of SplitMix64, computed apart from this code.
  EXPECT_EQ(make("x", "uniform(2)", 0),
            (std::vector<double>{0x1.9c1316c784b1cp-3, 0x1.9df738459ea32p-1}));
  EXPECT_NE(make("x", "uniform(2)", 0), make("y", "uniform(2)", 0));
  EXPECT_NE(make("x", "uniform(2)", 0), make("x", "uniform(2)", 1));
  EXPECT_EQ(make("x", "arange(3, start=1, step=-2)", 0), (std::vector<double>{1, -1, -3}));
  EXPECT_EQ(make("x", "full((2, 1), 0.5)", 0), (std::vector<double>{0.5, 0.5}));
  double sum = 0, squares = 0;
  constexpr int count = 100000;
  for (double value : make("x", "normal(100000, mean=3, std=2)", 5)) {
    sum += value;
    squares += (value - 3) * (value - 3);
  }
  EXPECT_NEAR(sum / count, 3, 0.03);
  EXPECT_NEAR(std::sqrt(squares / count), 2, 0.03);
  EXPECT_FALSE(diagnostics.hasErrors());
}

} // namespace
} // namespace kiln
