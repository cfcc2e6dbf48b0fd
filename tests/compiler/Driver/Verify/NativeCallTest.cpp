// Functions get what was passed, wherever their way to be called puts it.

#include "compiler/Driver/Verify/NativeCall.h"
#include <cstring>
#include <gtest/gtest.h>

namespace kiln {
namespace {

/// What the functions below found: they are called by their addresses alone.
std::vector<double> found;

template <typename... Values> int note(Values... values) {
  found = {double(values)...};
  return int(found.size());
}

int few(kiln_stream stream, int32_t n, float x, double y) {
  return note(stream.driver, reinterpret_cast<uintptr_t>(stream.handle), n, x, y);
}

int many(uint32_t index, kiln_stream stream, int8_t a, bool b, uint64_t c, int16_t d, int64_t e,
         int32_t f, uint8_t g, float s0, float s1, double s2, float s3, float s4, float s5,
         float s6, float s7, float s8, double s9, int32_t last) {
  return note(index, stream.driver, a, b, c, d, e, f, g, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9,
              last);
}

int tensors(kiln_stream stream, kiln_tensor x, float scale, const void *pointer, kiln_tensor y,
            int32_t n) {
  return note(stream.driver, x.rank, x.shape[0], x.strides[4], scale, pointer == &found, y.rank,
              y.shape[1], reinterpret_cast<uintptr_t>(y.base), n);
}

uint64_t bitsOf(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint64_t bitsOf(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

constexpr kiln_stream stream = {3, 0, nullptr};

template <typename Function> std::optional<int> call(const NativeCall &native, Function *function) {
  return native.call(reinterpret_cast<void *>(function));
}

TEST(NativeCall, PassesByRegisters) {
  NativeCall native;
  native.addStream({2, 0, reinterpret_cast<void *>(64)});
  native.addInteger(uint64_t(-5));
  native.addFloat(bitsOf(0.5f));
  native.addFloat(bitsOf(-2.25));
  EXPECT_EQ(call(native, few), 5);
  EXPECT_EQ(found, (std::vector<double>{2, 64, -5, 0.5, -2.25}));
}

TEST(NativeCall, PassesTheRestOnTheStack) {
  NativeCall native;
  native.addInteger(9);
  native.addStream(stream);
  for (int64_t value : {-100, 1, 1 << 30, -30000, -1, 7, 255})
    native.addInteger(uint64_t(value));
  std::vector<double> wanted = {9, 3, -100, 1, 1 << 30, -30000, -1, 7, 255};
  for (int i = 0; i < 10; ++i) {
    double value = i + 0.5;
    native.addFloat(i == 2 || i == 9 ? bitsOf(value) : bitsOf(float(value)));
    wanted.push_back(value);
  }
  native.addInteger(uint64_t(-77));
  wanted.push_back(-77);
  EXPECT_EQ(call(native, many), int(wanted.size()));
  EXPECT_EQ(found, wanted);
}

TEST(NativeCall, PassesTensorsByValue) {
  NativeCall native;
  native.addStream(stream);
  native.addTensor({nullptr, 5, 0, {11, 12, 13, 14, 15}, {1, 2, 3, 4, 21}});
  native.addFloat(bitsOf(1.5f));
  native.addInteger(reinterpret_cast<uintptr_t>(&found));
  native.addTensor({reinterpret_cast<void *>(4096), 2, 0, {31, 32}, {32, 1}});
  native.addInteger(6);
  EXPECT_EQ(call(native, tensors), 10);
  EXPECT_EQ(found, (std::vector<double>{3, 5, 11, 21, 1.5, 1, 2, 32, 4096, 6}));
}

TEST(NativeCall, RefusesWhatDoesNotFit) {
  NativeCall native;
  for (int i = 0; i < 500; ++i)
    native.addInteger(1);
  found = {-1};
  EXPECT_EQ(call(native, few), std::nullopt);
  EXPECT_EQ(found, std::vector<double>{-1});
}

} // namespace
} // namespace kiln
