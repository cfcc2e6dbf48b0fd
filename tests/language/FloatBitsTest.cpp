// Conversions to and from floats of 8 and 16 bits, bit for bit: every fp16, bf16 and 8-bit code,
// and fp32 numbers around every place where a conversion turns, with NaNs of all kinds. Every
// target makes the same bits, of constants too.

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

class FloatBits : public SourceTest {};

bool isNan(const NumberType &type, uint64_t code) { return std::isnan(type.decode(code)); }

/// The sign bit; where -0 is the only NaN, that has none.
uint64_t signOf(const NumberType &type, uint64_t code) {
  return !type.hasNegativeZero && isNan(type, code) ? 0 : code >> (type.bits - 1);
}

/// NaN `code` of `from` as one of `to`, a type of 16 or 32 bits: the mantissa's upper bits, quiet.
uint64_t convertNan(const NumberType &from, const NumberType &to, uint64_t code) {
  // The upper half of an fp32 stays what it is.
  if (from.name == "bf16" && to.name == "fp32")
    return code << 16;
  uint64_t quiet = uint64_t(1) << (to.mantissa - 1), exponent = to.infinity;
  if (!from.hasNegativeZero)
    return exponent | quiet;
  uint64_t fraction = code & ((uint64_t(1) << from.mantissa) - 1);
  fraction = fraction << 32 >> from.mantissa << to.mantissa >> 32;
  return signOf(from, code) << (to.bits - 1) | exponent | quiet | fraction;
}

/// The code of `to` that the number `code` of `from` becomes.
uint64_t convert(const NumberType &from, const NumberType &to, uint64_t code) {
  if (isNan(from, code)) {
    if (to.bits > 8)
      return convertNan(from, to, code);
    return to.hasNegativeZero ? 0x7f | signOf(from, code) << 7 : 0x80;
  }
  long double value = from.decode(code);
  if (to.bits == 8) {
    long double largest = to.decode(to.maxFinite);
    value = std::fmax(-largest, std::fmin(value, largest));
  }
  return to.encode(value);
}

/// The same for fp8e4b15 (see Float8E4B15Test): towards zero to fp16, then halves away from zero.
uint64_t convertToE4B15(const NumberType &from, uint64_t code) {
  uint64_t half = 0x7c00;
  if (!isNan(from, code)) {
    const NumberType &fp16 = NumberType::of("fp16");
    long double magnitude = std::fabs(from.decode(code));
    half = fp16.encode(magnitude);
    half -= fp16.decode(half) > magnitude;
  }
  return (std::min<uint64_t>(half, 0x3f00) + 0x40) >> 7 | signOf(from, code) << 7;
}

std::vector<uint64_t> everyCode(const std::string &type) {
  std::vector<uint64_t> codes(size_t(1) << NumberType::of(type).bits);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = i;
  return codes;
}

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// For every upper half the ends of its lower halves and one between, so every tie of bf16 and
/// every kind of NaN; every tie of the other formats with its neighbours.
std::vector<uint64_t> singles() {
  std::vector<uint64_t> codes;
  Random random(5);
  for (uint64_t upper = 0; upper < 65536; ++upper)
    for (uint64_t lower :
         {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu, unsigned(random.below(65536))})
      codes.push_back(upper << 16 | lower);
  for (const char *name : {"fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16", "fp16"}) {
    const NumberType &type = NumberType::of(name);
    for (uint64_t code = 0; code < type.maxFinite; ++code) {
      uint64_t tie = bitsOf(float((type.decode(code) + type.decode(code + 1)) / 2));
      for (uint64_t bits : {tie - 1, tie, tie + 1})
        for (uint64_t sign : {uint64_t(0), uint64_t(1) << 31})
          codes.push_back(bits | sign);
    }
  }
  return codes;
}

TEST_P(FloatBits, OfEveryNumber) {
  constexpr size_t block = 1024;
  for (const char *name : {"fp32", "fp16", "bf16", "fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16"}) {
    const NumberType &from = NumberType::of(name);
    std::vector<uint64_t> codes = from.bits == 32 ? singles() : everyCode(name);
    codes.resize((codes.size() + block - 1) / block * block);
    Array x(name, codes.size());
    for (size_t i = 0; i < codes.size(); ++i)
      x.setBits(i, codes[i]);
    std::string source = "@triton.jit\ndef kernel(x, e4b15";
    std::string body = "    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)\n"
                       "    v = tl.load(x + i)\n"
                       "    tl.store(e4b15 + i, v.to(tl.float8e4b15))\n";
    Buffer<uint8_t> e4b15(codes.size());
    std::vector<SourceArgument> arguments{x.argument("x"), {"e4b15", "*fp8e4b15", e4b15}};
    std::vector<Array> results;
    for (const char *to : {"fp32", "fp16", "bf16", "fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16"}) {
      // To itself nothing changes.
      if (std::string(to) == name)
        continue;
      results.emplace_back(to, codes.size());
      source += std::string(", ") + to;
      body += std::string("    tl.store(") + to + " + i, v.to(tl." + NumberType::of(to).language +
              "))\n";
    }
    for (const Array &result : results)
      arguments.push_back(result.argument(result.type().name));
    SourceOptions options;
    options.grid[0] = uint32_t(codes.size() / block);
    ASSERT_EQ(runSource(source + "):\n" + body, GetParam(), arguments, {}, options), "");
    for (const Array &result : results)
      for (size_t i = 0, failures = 0; i < codes.size() && failures < 5; ++i)
        if (uint64_t expected = convert(from, result.type(), codes[i]);
            result.bits(i) != expected) {
          ++failures;
          ADD_FAILURE() << std::hex << name << " " << codes[i] << " became " << result.type().name
                        << " " << result.bits(i) << ", expected " << expected;
        }
    for (size_t i = 0; i < codes.size(); ++i)
      ASSERT_EQ(e4b15[i], convertToE4B15(from, codes[i])) << std::hex << name << " " << codes[i];
  }
}

TEST_P(FloatBits, OfConstants) {
  const NumberType &single = NumberType::of("fp32");
  const std::pair<const char *, float> numbers[] = {{"float('nan')", NAN},
                                                    {"-float('nan')", -NAN},
                                                    {"float('inf')", INFINITY},
                                                    {"-float('inf')", -INFINITY},
                                                    {"1e6", 1e6f},
                                                    {"-1e6", -1e6f},
                                                    {"448.0", 448},
                                                    {"464.0", 464},
                                                    {"-480.0", -480},
                                                    {"57344.0", 57344},
                                                    {"61440.0", 61440},
                                                    {"240.0", 240},
                                                    {"0.0", 0},
                                                    {"-0.0", -0.0f},
                                                    {"1e-10", 1e-10f},
                                                    {"-1e-10", -1e-10f},
                                                    {"1.0625", 1.0625f},
                                                    {"-1.1875", -1.1875f},
                                                    {"1.53e-5", 1.53e-5f},
                                                    {"3.4e38", 3.4e38f},
                                                    {"0.1", 0.1f}};
  size_t count = std::size(numbers);
  for (const char *name : {"fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16", "fp16", "bf16"}) {
    const NumberType &type = NumberType::of(name);
    std::string dtype = "tl." + type.language;
    // Cast, made as such, a scalar, and the same at run time.
    std::string source = "@triton.jit\ndef kernel(y, z, s, w):\n    i = tl.arange(0, 2)\n";
    for (size_t k = 0; k < count; ++k) {
      std::string number = numbers[k].first, at = " + " + std::to_string(2 * k);
      source += "    tl.store(y" + at + " + i, tl.full([2], " + number + ", tl.float32).to(" +
                dtype + "))\n    tl.store(z" + at + " + i, tl.full([2], " + number + ", " + dtype +
                "))\n    tl.store(s" + at + ", tl.cast(" + number + ", " + dtype +
                "))\n    tl.store(w" + at + " + i, tl.where(i < 2, " + number + ", 0.0).to(" +
                dtype + "))\n";
    }
    std::vector<Array> results(4, Array(name, 2 * count));
    ASSERT_EQ(runSource(source, GetParam(),
                        {results[0].argument("y"), results[1].argument("z"),
                         results[2].argument("s"), results[3].argument("w")}),
              "");
    for (size_t k = 0; k < count; ++k)
      for (size_t form = 0; form < results.size(); ++form)
        for (size_t i = 2 * k; i < 2 * k + (form == 2 ? 1 : 2); ++i)
          EXPECT_EQ(results[form].bits(i), convert(single, type, bitsOf(numbers[k].second)))
              << name << " of " << numbers[k].first << ", form " << form;
  }
}

KILN_SOURCE_TESTS_ON_ALL(FloatBits);
/// With instructions of their own for the OCP's formats.
INSTANTIATE_TEST_SUITE_P(OfOcp, FloatBits, ::testing::Values("emu:gfx950", "emu:gfx1201"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing
