// Floats that the integer type cannot hold: as GPUs convert them, on every target.

#include "tests/language/SourceKernel.h"

#include <cmath>
#include <limits>

namespace kiln::testing {
namespace {

class Saturation : public SourceTest {};

template <typename T, typename F> T expectedOf(F x) {
  using Wide = std::conditional_t<(sizeof(T) < 4),
                                  std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>, T>;
  if (std::isnan(x))
    return 0;
  if (x >= std::ldexp(F(1), std::numeric_limits<Wide>::digits))
    return T(std::numeric_limits<Wide>::max());
  if (x <= F(std::numeric_limits<Wide>::min()))
    return T(std::numeric_limits<Wide>::min());
  return T(Wide(x));
}

template <typename F> void check(const char *target, const std::string &from) {
  F infinity = std::numeric_limits<F>::infinity();
  Buffer<F> x({F(0.9),
               F(-0.9),
               F(-1.5),
               F(300.7),
               F(-300.2),
               F(70000),
               F(2147483648.0),
               F(-2147483648.0),
               F(3e9),
               F(-3e9),
               F(4294967296.0),
               F(1e19),
               F(-1e19),
               F(2e19),
               infinity,
               -infinity,
               std::numeric_limits<F>::quiet_NaN(),
               F(2.5),
               F(-0.0),
               F(127),
               F(128),
               F(255),
               F(256),
               F(32768),
               F(65535),
               F(1e9),
               F(-1e9),
               F(1e15),
               F(-1e15),
               F(1),
               F(-1),
               F(7.99)});
  Buffer<int8_t> i8(32);
  Buffer<uint16_t> u16(32);
  Buffer<int32_t> i32(32);
  Buffer<uint32_t> u32(32);
  Buffer<int64_t> i64(32);
  Buffer<uint64_t> u64(32);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, a, b, c, d, e, f):
    i = tl.arange(0, 32)
    x = tl.load(p + i)
    tl.store(a + i, x.to(tl.int8))
    tl.store(b + i, x.to(tl.uint16))
    tl.store(c + i, x.to(tl.int32))
    tl.store(d + i, x.to(tl.uint32))
    tl.store(e + i, x.to(tl.int64))
    tl.store(f + i, x.to(tl.uint64))
)",
                      target,
                      {{"p", from, x},
                       {"a", "*i8", i8},
                       {"b", "*u16", u16},
                       {"c", "*i32", i32},
                       {"d", "*u32", u32},
                       {"e", "*i64", i64},
                       {"f", "*u64", u64}}),
            "");
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(i8[i], expectedOf<int8_t>(x[i])) << x[i];
    EXPECT_EQ(u16[i], expectedOf<uint16_t>(x[i])) << x[i];
    EXPECT_EQ(i32[i], expectedOf<int32_t>(x[i])) << x[i];
    EXPECT_EQ(u32[i], expectedOf<uint32_t>(x[i])) << x[i];
    EXPECT_EQ(i64[i], expectedOf<int64_t>(x[i])) << x[i];
    EXPECT_EQ(u64[i], expectedOf<uint64_t>(x[i])) << x[i];
  }
}

TEST_P(Saturation, OfSingles) { check<float>(GetParam(), "*fp32"); }
TEST_P(Saturation, OfDoubles) { check<double>(GetParam(), "*fp64"); }

KILN_SOURCE_TESTS(Saturation);

} // namespace
} // namespace kiln::testing
