// Conversions: every element type to every other, rounding modes, bit casts, and tensors made of
// constants of every type.

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.cast tl.to tl.full tl.zeros tl.zeros_like tl.to_tensor");

class Cast : public SourceTest {};

std::vector<std::string> allTypes() {
  std::vector<std::string> all = {"i1"};
  for (const auto *types : {&integerTypes, &float8Types, &floatTypes})
    all.insert(all.end(), types->begin(), types->end());
  return all;
}

/// What `value` of type `from` becomes; false where the language does not say.
bool expectedCast(const NumberType &from, const NumberType &to, long double value, uint64_t &code) {
  if (to.kind == NumberType::Bool) {
    code = value != 0;
    return true;
  }
  if (!to.isFloat()) {
    if (from.isFloat()) {
      // In range after truncation.
      long double whole = std::trunc(value), limit = std::ldexp(1.0L, int(to.bits) - 1);
      bool fits = to.kind == NumberType::Signed ? whole >= -limit && whole < limit
                                                : whole >= 0 && whole < 2 * limit;
      if (!fits)
        return false;
      value = whole;
    }
    code = to.encode(value);
    return true;
  }
  // Integers reach 8-bit floats through fp32.
  if (!from.isFloat() && to.bits == 8)
    value = NumberType::of("fp32").decode(NumberType::of("fp32").encode(value));
  // Between 8-bit formats, and between half formats, through a wider one that holds both.
  code = to.encode(value);
  // Beyond the largest 8-bit number: targets saturate or not.
  return to.bits != 8 || (std::isfinite(value) && code == to.encode(value) &&
                          std::fabs(value) <= to.decode(to.maxFinite));
}

TEST_P(Cast, FromEveryTypeToEveryType) {
  for (const std::string &from : allTypes()) {
    const NumberType &source = NumberType::of(from);
    Array x = from == "i1"       ? mixedArray(from, 33, 1)
              : source.bits == 8 ? Array(from, 256)
                                 : mixedArray(from, 301, 7, 300);
    if (source.bits == 8)
      for (size_t i = 0; i < 256; ++i)
        x.setBits(i, i);
    std::vector<Expression> expressions;
    for (const std::string &to : allTypes())
      expressions.push_back({"x.to(tl." + NumberType::of(to).language + ")", to});
    for (bool scalars : {false, true}) {
      std::vector<Array> results = evaluate(GetParam(), expressions, {x}, scalars);
      for (const Array &result : results)
        for (size_t i = 0, failures = 0; i < x.count() && failures < 3; ++i) {
          uint64_t expected;
          if (!expectedCast(source, result.type(), x[i], expected))
            continue;
          bool bothNan = result.type().isFloat() && std::isnan(result[i]) &&
                         std::isnan(result.type().decode(expected));
          if (result.bits(i) == expected || bothNan)
            continue;
          ++failures;
          ADD_FAILURE() << from << " to " << result.type().name << (scalars ? ", scalar" : "")
                        << ": " << x[i] << " (" << x.bits(i) << ") became " << result[i] << " ("
                        << result.bits(i) << "), expected " << expected;
        }
    }
  }
}

/// The largest number of `type` that is no larger in magnitude.
uint64_t truncated(const NumberType &type, long double value) {
  uint64_t code = type.encode(value), sign = uint64_t(1) << (type.bits - 1);
  if (std::isnan(value) || std::isinf(value))
    return code;
  bool tooLarge =
      !std::isfinite(type.decode(code)) || std::fabs(type.decode(code)) > std::fabs(value);
  return tooLarge ? (((code & ~sign) - 1) | (code & sign)) : code;
}

TEST_P(Cast, RoundingModes) {
  for (auto [from, to] : {std::pair("fp32", "fp16"), {"fp32", "bf16"}, {"fp32", "fp8e5"}}) {
    const NumberType &type = NumberType::of(to);
    double range = std::string(to) == "bf16" ? 1e30 : 5e4;
    Array x = mixedArray(from, 301, 11, range, true);
    for (size_t i = 0; i < x.count(); ++i)
      if (std::fabs(x[i]) > type.decode(type.maxFinite))
        x.set(i, 1.0L + i / 1024.0L + 1 / 1048576.0L);
    std::string dtype = "tl." + type.language;
    std::vector<Array> results =
        evaluate(GetParam(),
                 {{"tl.cast(x, " + dtype + ", fp_downcast_rounding='rtz')", to},
                  {"x.to(" + dtype + ", fp_downcast_rounding='rtne')", to},
                  {"tl.cast(x, " + dtype + ")", to}},
                 {x});
    ASSERT_EQ(results.size(), 3u);
    for (size_t i = 0; i < x.count(); ++i) {
      ASSERT_EQ(results[0].bits(i), truncated(type, x[i])) << to << " toward zero: " << x[i];
      ASSERT_EQ(results[1].bits(i), type.encode(x[i])) << to << " to nearest: " << x[i];
      ASSERT_EQ(results[2].bits(i), type.encode(x[i])) << to << ": " << x[i];
    }
  }
}

TEST_P(Cast, TiesAndTheirNeighbours) {
  // Halfway between every two numbers of 8 bits, and the floats on both sides of it.
  for (const std::string &name : float8Types) {
    const NumberType &type = NumberType::of(name);
    std::vector<float> values;
    for (uint64_t code = 0; code < type.maxFinite; ++code) {
      auto tie = float((type.decode(code) + type.decode(code + 1)) / 2);
      for (float value : {std::nextafterf(tie, 0), tie, std::nextafterf(tie, INFINITY)})
        for (float sign : {1.0f, -1.0f})
          values.push_back(sign * value);
    }
    Array x("fp32", values.size());
    for (size_t i = 0; i < values.size(); ++i)
      x.set(i, values[i]);
    std::vector<Array> results =
        evaluate(GetParam(), {{"x.to(tl." + type.language + ")", name}}, {x});
    ASSERT_EQ(results.size(), 1u);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(results[0].bits(i), type.encode(values[i])) << name << " of " << values[i];
  }
}

TEST_P(Cast, BitcastsKeepTheBits) {
  for (unsigned bits : {8, 16, 32, 64}) {
    std::vector<std::string> types;
    for (const std::string &type : allTypes())
      if (NumberType::of(type).bits == bits)
        types.push_back(type);
    for (const std::string &from : types) {
      Array x = mixedArray(from, 77, bits);
      std::vector<Expression> expressions;
      for (const std::string &to : types)
        expressions.push_back({"x.to(tl." + NumberType::of(to).language + ", bitcast=True)", to});
      for (const Array &result : evaluate(GetParam(), expressions, {x}))
        for (size_t i = 0; i < x.count(); ++i)
          ASSERT_EQ(result.bits(i), x.bits(i)) << from << " as " << result.type().name;
    }
  }
}

TEST_P(Cast, ConstantsOfEveryType) {
  for (const std::string &type : allTypes()) {
    Array x = mixedArray(type, 40, 3);
    std::string dtype = "tl." + NumberType::of(type).language;
    const NumberType &info = NumberType::of(type);
    std::vector<Expression> expressions = {
        {"tl.full([BLOCK], 1, " + dtype + ")", type},
        {"tl.zeros([BLOCK], dtype=" + dtype + ")", type},
        {"tl.zeros_like(x)", type},
        {"tl.full((BLOCK, ), x.to(tl.float32).to(" + dtype + ").max(0) * 0 + 1 if False else 1, " +
             dtype + ")",
         type},
        {"tl.zeros([BLOCK], " + dtype + ") + tl.to_tensor(1).to(" + dtype + ")", type}};
    std::vector<Array> results = evaluate(GetParam(), expressions, {x});
    ASSERT_EQ(results.size(), expressions.size());
    for (size_t i = 0; i < x.count(); ++i) {
      ASSERT_EQ(results[0].bits(i), info.encode(1)) << type;
      ASSERT_EQ(results[1].bits(i), 0u) << type;
      ASSERT_EQ(results[2].bits(i), 0u) << type;
      ASSERT_EQ(results[3].bits(i), info.encode(1)) << type;
      ASSERT_EQ(results[4].bits(i), info.encode(1)) << type;
    }
  }
}

TEST_P(Cast, ExtremeConstants) {
  Array x("i32", 3);
  struct Extreme {
    const char *text, *type;
    uint64_t bits;
  };
  const Extreme extremes[] = {
      {"tl.full([BLOCK], -128, tl.int8)", "i8", 0x80},
      {"tl.full([BLOCK], 255, tl.uint8)", "u8", 0xff},
      {"tl.full([BLOCK], -2**31, tl.int32)", "i32", 0x80000000},
      {"tl.full([BLOCK], 2**32 - 1, tl.uint32)", "u32", 0xffffffff},
      {"tl.full([BLOCK], -2**63, tl.int64)", "i64", 0x8000000000000000},
      {"tl.full([BLOCK], 2**64 - 1, tl.uint64)", "u64", 0xffffffffffffffff},
      {"tl.full([BLOCK], float('inf'), tl.float16)", "fp16", 0x7c00},
      {"tl.full([BLOCK], float('-inf'), tl.float32)", "fp32", 0xff800000},
      {"tl.full([BLOCK], -0.0, tl.float64)", "fp64", 0x8000000000000000},
      {"tl.full([BLOCK], 1e-45, tl.float32)", "fp32", 1},
      {"tl.full([BLOCK], 65504.0, tl.float16)", "fp16", 0x7bff},
      {"tl.full([BLOCK], 0.1, tl.bfloat16)", "bf16", 0x3dcd},
  };
  std::vector<Expression> expressions;
  for (const Extreme &extreme : extremes)
    expressions.push_back({extreme.text, extreme.type});
  std::vector<Array> results = evaluate(GetParam(), expressions, {x});
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i].bits(1), extremes[i].bits) << extremes[i].text;
}

/// Weights and zeros of 4 bits, in the order of AWQ, which has neighbours 16 bits apart, and in
/// that of their places.
TEST_P(Cast, FieldsOfWords) {
  constexpr size_t words = 64, numbers = 8;
  Buffer<int32_t> w(words), z(words);
  for (size_t i = 0; i < words; ++i) {
    w[i] = int32_t(uint32_t(i) * 2654435761u + 0x12345678u);
    z[i] = int32_t(uint32_t(i) * 40503u + 0x9abcdef0u);
  }
  for (int order : {0, 1}) {
    Buffer<uint16_t> differences(words * numbers), offsets(words * numbers);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(w, z, d, o, AWQ: tl.constexpr):
    i, j = tl.arange(0, 64), tl.arange(0, 8)
    shift = ((j % 2) * 4 + j // 2) * 4 if AWQ else j * 4
    x = (tl.load(w + i)[:, None] >> shift[None, :]) & 15
    y = (tl.load(z + i)[:, None] >> shift[None, :]) & 15
    at = i[:, None] * 8 + j[None, :]
    tl.store(d + at, (x - y).to(tl.float16) * 0.5)
    tl.store(o + at, (x - 8).to(tl.float16))
)",
                        GetParam(),
                        {{"w", "*i32", w},
                         {"z", "*i32", z},
                         {"d", "*fp16", differences},
                         {"o", "*fp16", offsets}},
                        {{"AWQ", order}}),
              "");
    const NumberType &half = NumberType::of("fp16");
    for (size_t i = 0; i < words * numbers; ++i) {
      size_t j = i % numbers, shift = 4 * (order ? j % 2 * 4 + j / 2 : j);
      int x = w[i / numbers] >> shift & 15, y = z[i / numbers] >> shift & 15;
      ASSERT_EQ(differences[i], half.encode((x - y) * 0.5L)) << order << ' ' << i;
      ASSERT_EQ(offsets[i], half.encode(x - 8)) << order << ' ' << i;
    }
  }
}

KILN_SOURCE_TESTS(Cast);

} // namespace
} // namespace kiln::testing
