// libdevice's arithmetic and conversions in rounding modes, bit by bit against the host's processor
// in the same mode.

#include "tests/language/Numbers.h"

#include <cfenv>
#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS(
    "libdevice.add_rz libdevice.add_rd libdevice.add_ru libdevice.sub_rz libdevice.sub_rd "
    "libdevice.sub_ru libdevice.mul_rz libdevice.mul_rd libdevice.mul_ru libdevice.fma_rz "
    "libdevice.fma_rd libdevice.fma_ru libdevice.div_rz libdevice.div_rd libdevice.div_ru "
    "libdevice.sqrt_rz libdevice.sqrt_rd libdevice.sqrt_ru libdevice.rcp_rz libdevice.rcp_rd "
    "libdevice.rcp_ru libdevice.double2float_rd libdevice.double2float_ru "
    "libdevice.int2float_rz libdevice.int2float_rd libdevice.int2float_ru "
    "libdevice.uint2float_rz libdevice.uint2float_rd libdevice.uint2float_ru "
    "libdevice.ll2float_rz libdevice.ll2float_rd libdevice.ll2float_ru libdevice.ull2float_rz "
    "libdevice.ull2float_rd libdevice.ull2float_ru libdevice.ll2double_rz "
    "libdevice.ll2double_rd libdevice.ll2double_ru libdevice.ull2double_rz "
    "libdevice.ull2double_rd libdevice.ull2double_ru");

class Rounding : public SourceTest {};

struct Mode {
  const char *suffix;
  int host;
};
constexpr Mode modes[] = {{"_rz", FE_TOWARDZERO}, {"_rd", FE_DOWNWARD}, {"_ru", FE_UPWARD}};

/// One operation of the host, with operands and result in memory so that it stays in its mode.
template <typename T> T compute(char operation, int mode, T a, T b, T c) {
  volatile T x = a, y = b, z = c, result = 0;
  int before = std::fegetround();
  std::fesetround(mode);
  switch (operation) {
  case '+':
    result = x + y;
    break;
  case '-':
    result = x - y;
    break;
  case '*':
    result = x * y;
    break;
  case '/':
    result = x / y;
    break;
  case 'r':
    result = std::sqrt(x);
    break;
  case '1':
    result = T(1) / x;
    break;
  default:
    result = std::fma(x, y, z);
  }
  std::fesetround(before);
  return result;
}

/// The bits as `type`, NaN all alike.
uint64_t canonical(const NumberType &type, uint64_t code) {
  return std::isnan(type.decode(code)) ? type.nan : code;
}

template <typename T> uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

constexpr struct {
  const char *name, *arguments;
  char operation;
} functions[] = {{"add", "(x, y)", '+'},   {"sub", "(x, y)", '-'}, {"mul", "(x, y)", '*'},
                 {"div", "(x, y)", '/'},   {"sqrt", "(x)", 'r'},   {"rcp", "(x)", '1'},
                 {"fma", "(x, y, z)", 'f'}};

template <typename T>
void checkArithmetic(const std::string &target, const std::string &type,
                     const std::vector<Array> &inputs) {
  std::vector<Expression> expressions;
  for (const auto &function : functions)
    for (const Mode &mode : modes)
      expressions.push_back(
          {std::string("libdevice.") + function.name + mode.suffix + function.arguments, type});
  std::vector<Array> results = evaluate(target, expressions, inputs);
  ASSERT_EQ(results.size(), expressions.size());
  size_t k = 0;
  for (const auto &function : functions)
    for (const Mode &mode : modes) {
      const Array &result = results[k];
      for (size_t i = 0; i < result.count(); ++i) {
        T x = T(inputs[0][i]), y = T(inputs[1][i]), z = T(inputs[2][i]);
        T expected = compute<T>(function.operation, mode.host, x, y, z);
        EXPECT_EQ(canonical(result.type(), result.bits(i)),
                  canonical(result.type(), bitsOf(expected)))
            << type << " " << expressions[k].text << " of " << x << ", " << y << ", " << z << ": "
            << result[i] << ", not " << expected;
      }
      ++k;
    }
}

template <typename T> void checkAll(const std::string &target, const std::string &type) {
  // Every pair of edges, then numbers of all magnitudes, and two more parts: one kernel for all.
  std::vector<uint64_t> edges = NumberType::of(type).edges();
  size_t pairs = edges.size() * edges.size(), first = pairs + 300, count = 240;
  Array x = mixedArray(type, first + 2 * count, 31), y = mixedArray(type, first + 2 * count, 32),
        z = mixedArray(type, first + 2 * count, 33);
  for (size_t i = 0; i < pairs; ++i) {
    x.setBits(i, edges[i / edges.size()]);
    y.setBits(i, edges[i % edges.size()]);
    z.setBits(i, edges[(i * 7 + i / 5) % edges.size()]);
  }
  // Cancellation, exact results, and operands far apart.
  Array a = uniformArray(type, count, 34, 1, 2), b = uniformArray(type, count, 35, -2, 2),
        c = uniformArray(type, count, 36, -4, 4);
  for (size_t i = 0; i < count; ++i) {
    if (i % 4 == 0)
      c.set(i, -(T(a[i]) * T(b[i])));
    if (i % 4 == 1)
      b.set(i, std::nextafter(T(-a[i]), T(0)));
    if (i % 4 == 2) {
      a.set(i, T(i));
      b.set(i, T(1 + i % 16));
      c.set(i, T(a[i] * b[i]) * (i % 8 == 2 ? -1 : 1));
    }
    if (i % 4 == 3)
      c.set(i, std::ldexp(T(c[i]), int(i) - 120));
    x.setBits(first + i, a.bits(i));
    y.setBits(first + i, b.bits(i));
    z.setBits(first + i, c.bits(i));
  }
  // Around the smallest and the largest numbers.
  int bottom = sizeof(T) == 8 ? -537 : -75, top = sizeof(T) == 8 ? 512 : 64;
  for (size_t i = 0; i < count; ++i) {
    size_t at = first + count + i;
    int scale = i % 2 ? bottom : top, shift = int(i / 2 % 13) - 6;
    x.set(at, std::ldexp(T(1) + T(i) / 512, scale + shift));
    y.set(at, std::ldexp(T(1) + T(i) / 911, scale));
    z.set(at, std::ldexp(T(1) + T(i) / 617, 2 * scale + int(i % 7)) * (i % 5 < 2 ? -1 : 1));
  }
  checkArithmetic<T>(target, type, {x, y, z});
}

TEST_P(Rounding, OfSingles) { checkAll<float>(GetParam(), "fp32"); }
TEST_P(Rounding, OfDoubles) { checkAll<double>(GetParam(), "fp64"); }

TEST_P(Rounding, TakesNumbersAndScalars) {
  Array x = uniformArray("fp64", 40, 37, -9, 9);
  for (bool scalars : {false, true}) {
    std::vector<Array> results = evaluate(
        GetParam(), {{"libdevice.add_ru(x, 0.1)", "fp64"}, {"libdevice.div_rd(1, x)", "fp64"}}, {x},
        scalars);
    ASSERT_EQ(results.size(), 2u);
    for (size_t i = 0; i < x.count(); ++i) {
      EXPECT_EQ(results[0][i], compute<double>('+', FE_UPWARD, double(x[i]), 0.1, 0));
      EXPECT_EQ(results[1][i], compute<double>('/', FE_DOWNWARD, 1, double(x[i]), 0));
    }
  }
}

/// A product that goes into a sum is rounded before it.
TEST_P(Rounding, DoesNotFuse) {
  Array x = uniformArray("fp32", 200, 38, 1, 2), y = uniformArray("fp32", 200, 39, 1, 2);
  std::vector<Array> results = evaluate(GetParam(),
                                        {{"libdevice.add_rn(x * y, -1.5)", "fp32"},
                                         {"libdevice.sub_rn(1.5, x * y)", "fp32"},
                                         {"libdevice.mul_rn(x, y) - 1.5", "fp32"},
                                         {"libdevice.add_ru(libdevice.mul_rn(x, y), -1.5)", "fp32"},
                                         {"libdevice.add_rn(x * 0 * -1, y * 0 * -1)", "fp32"},
                                         {"libdevice.mul_rn(x * 0 * -1, y)", "fp32"}},
                                        {x, y});
  ASSERT_EQ(results.size(), 6u);
  for (size_t i = 0; i < x.count(); ++i) {
    volatile float product = float(x[i]) * float(y[i]);
    volatile float rest = product - 1.5f;
    EXPECT_EQ(results[0][i], rest);
    EXPECT_EQ(results[1][i], -rest);
    EXPECT_EQ(results[2][i], rest);
    EXPECT_EQ(results[3][i], compute<float>('+', FE_UPWARD, product, -1.5f, 0));
    EXPECT_EQ(results[4].bits(i), 0x80000000u);
    EXPECT_EQ(results[5].bits(i), 0x80000000u);
  }
}

TEST_P(Rounding, Conversions) {
  struct {
    const char *name, *source, *target;
  } conversions[] = {{"int2float", "i32", "fp32"},    {"uint2float", "u32", "fp32"},
                     {"ll2float", "i64", "fp32"},     {"ull2float", "u64", "fp32"},
                     {"ll2double", "i64", "fp64"},    {"ull2double", "u64", "fp64"},
                     {"double2float", "fp64", "fp32"}};
  for (const auto &conversion : conversions) {
    Array x = mixedArray(conversion.source, 300, 40, 1e9);
    bool isFloat = x.type().isFloat();
    for (size_t i = 60; isFloat && i < 200; ++i)
      x.set(i, std::ldexp(1.0L + i / 4096.0L + i * 0x1p-40L, int(i) * 2 - 230));
    for (const Mode &mode : modes) {
      if (isFloat && mode.host == FE_TOWARDZERO)
        continue; // DeviceTest has it.
      Array result = evaluate(GetParam(),
                              {{std::string("libdevice.") + conversion.name + mode.suffix + "(x)",
                                conversion.target}},
                              {x})
                         .at(0);
      for (size_t i = 0; i < x.count(); ++i) {
        volatile long double number = x[i];
        volatile float narrow = 0;
        volatile double wide = 0;
        std::fesetround(mode.host);
        narrow = float(number);
        wide = double(number);
        std::fesetround(FE_TONEAREST);
        float single = narrow;
        double twice = wide;
        uint64_t expected = result.type().bits == 32 ? bitsOf(single) : bitsOf(twice);
        EXPECT_EQ(canonical(result.type(), result.bits(i)), canonical(result.type(), expected))
            << conversion.name << mode.suffix << " of " << number;
      }
    }
  }
}

KILN_SOURCE_TESTS(Rounding);

} // namespace
} // namespace kiln::testing
