// fp8e4b15: a format that only the language knows. Its conversions are Triton's for NVIDIA GPUs.

#include "tests/language/SourceKernel.h"

#include <cmath>

namespace kiln::testing {
namespace {

class Float8E4B15 : public SourceTest {};

/// Sign, 4 bits of exponent with a bias of 15, 3 of mantissa; all codes are numbers.
float decode(uint8_t code) {
  int exponent = code >> 3 & 15, mantissa = code & 7;
  float magnitude =
      exponent ? std::ldexp(float(8 + mantissa), exponent - 18) : std::ldexp(float(mantissa), -17);
  return code & 0x80 ? -magnitude : magnitude;
}

/// Of fp16 bits: at most 1.75, halves away from zero.
uint8_t encodeHalf(uint16_t bits) {
  unsigned magnitude = std::min(bits & 0x7fffu, 0x3f00u);
  return uint8_t((magnitude + 0x40) >> 7 | (bits >> 8 & 0x80));
}

/// Of a finite fp32 below fp16's overflow: towards zero to fp16 first.
uint8_t encodeSingle(float value) {
  float magnitude = std::fabs(value);
  int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), -14) : -14;
  float cut = std::trunc(std::ldexp(magnitude, 10 - exponent));
  unsigned bits = unsigned(cut) + unsigned((exponent + 14) * 1024);
  return encodeHalf(uint16_t(std::min(bits, 0x7bffu) | (std::signbit(value) ? 0x8000 : 0)));
}

TEST_P(Float8E4B15, EveryCode) {
  Buffer<uint8_t> x(256), same(256), negated(256), absolute(256);
  Buffer<float> single(256);
  Buffer<double> wide(256);
  Buffer<int32_t> below(256);
  for (int i = 0; i < 256; ++i)
    x[i] = uint8_t(i);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, s, w, back, n, a, b):
    i = tl.arange(0, 256)
    x = tl.load(p + i)
    tl.store(s + i, x.to(tl.float32))
    tl.store(w + i, x.to(tl.float64))
    tl.store(back + i, x.to(tl.float32).to(tl.float8e4b15))
    tl.store(n + i, tl.where(i < 256, -x, x))
    tl.store(a + i, tl.abs(x))
    tl.store(b + i, x + 0.25 < tl.full([256], 0.5, tl.float8e4b15))
)",
                      GetParam(),
                      {{"p", "*fp8e4b15", x},
                       {"s", "*fp32", single},
                       {"w", "*fp64", wide},
                       {"back", "*fp8e4b15", same},
                       {"n", "*fp8e4b15", negated},
                       {"a", "*fp8e4b15", absolute},
                       {"b", "*i32", below}}),
            "");
  for (int i = 0; i < 256; ++i) {
    float value = decode(uint8_t(i));
    EXPECT_EQ(single[i], value) << i;
    EXPECT_EQ(wide[i], double(value)) << i;
    EXPECT_EQ(same[i], (i & 0x7f) == 0x7f ? i - 1 : i); // 1.875 becomes 1.75
    EXPECT_EQ(negated[i], i ^ 0x80);
    EXPECT_EQ(absolute[i], i & 0x7f);
    EXPECT_EQ(below[i], value + 0.25f < 0.5f) << i;
  }
}

TEST_P(Float8E4B15, FromWiderTypes) {
  constexpr int count = 65536;
  Buffer<uint16_t> half(count), bfloat(count);
  Buffer<float> single(count);
  Buffer<uint8_t> ofHalf(count), ofBFloat(count), ofSingle(count);
  Random random(1);
  for (int i = 0; i < count; ++i) {
    half[i] = uint16_t(i);
    single[i] = float(std::ldexp(random.next(), int(random.below(24)) - 20));
    uint32_t bits;
    float coarse = single[i];
    std::memcpy(&bits, &coarse, 4);
    bfloat[i] = uint16_t(bits >> 16);
  }
  SourceOptions options;
  options.grid = {count / 1024, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(h, b, s, oh, ob, os):
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    tl.store(oh + i, tl.load(h + i).to(tl.float8e4b15))
    tl.store(ob + i, tl.load(b + i).to(tl.float8e4b15))
    tl.store(os + i, tl.load(s + i).to(tl.float8e4b15))
)",
                      GetParam(),
                      {{"h", "*fp16", half},
                       {"b", "*bf16", bfloat},
                       {"s", "*fp32", single},
                       {"oh", "*fp8e4b15", ofHalf},
                       {"ob", "*fp8e4b15", ofBFloat},
                       {"os", "*fp8e4b15", ofSingle}},
                      {}, options),
            "");
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(ofHalf[i], encodeHalf(half[i])) << i;
    ASSERT_EQ(ofSingle[i], encodeSingle(single[i])) << single[i];
    uint32_t bits = uint32_t(bfloat[i]) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    ASSERT_EQ(ofBFloat[i], encodeSingle(value)) << value;
  }
}

TEST_P(Float8E4B15, Products) {
  Buffer<uint8_t> a(16 * 32), b(32 * 16);
  Buffer<float> c(16 * 16);
  Random random(2);
  for (int i = 0; i < 512; ++i) {
    a[i] = uint8_t(random.below(256));
    b[i] = uint8_t(random.below(256));
  }
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, c):
    m = tl.arange(0, 16)
    k = tl.arange(0, 32)
    x = tl.load(a + m[:, None] * 32 + k[None, :])
    y = tl.load(b + k[:, None] * 16 + m[None, :])
    tl.store(c + m[:, None] * 16 + m[None, :], tl.dot(x, y))
)",
                      GetParam(),
                      {{"a", "*fp8e4b15", a}, {"b", "*fp8e4b15", b}, {"c", "*fp32", c}}),
            "");
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      double sum = 0;
      for (int k = 0; k < 32; ++k)
        sum += double(decode(a[m * 32 + k])) * double(decode(b[k * 16 + n]));
      EXPECT_NEAR(c[m * 16 + n], sum, 1e-5);
    }
}

KILN_SOURCE_TESTS(Float8E4B15);

} // namespace
} // namespace kiln::testing
