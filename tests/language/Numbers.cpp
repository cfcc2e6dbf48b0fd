#include "tests/language/Numbers.h"

#include <cmath>
#include <limits>

namespace kiln::testing {
namespace {

NumberType integer(const char *name, const char *language, NumberType::Kind kind, unsigned bits) {
  NumberType type;
  type.name = name;
  type.language = language;
  type.kind = kind;
  type.bits = bits;
  return type;
}

NumberType real(const char *name, const char *language, unsigned bits, unsigned mantissa,
                int minExponent, uint64_t maxFinite, uint64_t infinity, uint64_t nan,
                bool hasNegativeZero = true) {
  NumberType type = integer(name, language, NumberType::Float, bits);
  type.mantissa = mantissa;
  type.minExponent = minExponent;
  type.maxFinite = maxFinite;
  type.infinity = infinity;
  type.nan = nan;
  type.hasNegativeZero = hasNegativeZero;
  return type;
}

/// IEEE 754; the OCP specification of 8-bit floats for fp8e5 and fp8e4nv; the formats of AMD's
/// CDNA3 ISA for the others.
const NumberType numberTypes[] = {
    integer("i1", "int1", NumberType::Bool, 1),
    integer("i8", "int8", NumberType::Signed, 8),
    integer("i16", "int16", NumberType::Signed, 16),
    integer("i32", "int32", NumberType::Signed, 32),
    integer("i64", "int64", NumberType::Signed, 64),
    integer("u8", "uint8", NumberType::Unsigned, 8),
    integer("u16", "uint16", NumberType::Unsigned, 16),
    integer("u32", "uint32", NumberType::Unsigned, 32),
    integer("u64", "uint64", NumberType::Unsigned, 64),
    real("fp8e5", "float8e5", 8, 2, -14, 0x7b, 0x7c, 0x7e),
    real("fp8e4nv", "float8e4nv", 8, 3, -6, 0x7e, 0, 0x7f),
    real("fp8e4b8", "float8e4b8", 8, 3, -7, 0x7f, 0, 0x80, false),
    real("fp8e5b16", "float8e5b16", 8, 2, -15, 0x7f, 0, 0x80, false),
    real("fp16", "float16", 16, 10, -14, 0x7bff, 0x7c00, 0x7e00),
    real("bf16", "bfloat16", 16, 7, -126, 0x7f7f, 0x7f80, 0x7fc0),
    real("fp32", "float32", 32, 23, -126, 0x7f7fffff, 0x7f800000, 0x7fc00000),
    real("fp64", "float64", 64, 52, -1022, 0x7fefffffffffffff, 0x7ff0000000000000,
         0x7ff8000000000000),
};

constexpr long double infinity = std::numeric_limits<long double>::infinity();

} // namespace

const NumberType &NumberType::of(const std::string &name) {
  for (const NumberType &type : numberTypes)
    if (type.name == name)
      return type;
  ADD_FAILURE() << "no type " << name;
  return numberTypes[0];
}

long double NumberType::decode(uint64_t code) const {
  if (kind == Signed)
    return (long double)(int64_t(code << (64 - bits)) >> (64 - bits));
  if (kind != Float)
    return (long double)code;
  uint64_t sign = uint64_t(1) << (bits - 1), magnitude = code & (sign - 1);
  if ((!hasNegativeZero && code == nan) || magnitude > (infinity ? infinity : maxFinite))
    return std::numeric_limits<long double>::quiet_NaN();
  uint64_t exponent = magnitude >> mantissa, fraction = magnitude - (exponent << mantissa);
  long double value = infinity && magnitude == infinity ? testing::infinity
                      : exponent == 0
                          ? std::ldexp((long double)fraction, minExponent - int(mantissa))
                          : std::ldexp((long double)(fraction + (uint64_t(1) << mantissa)),
                                       minExponent + int(exponent) - 1 - int(mantissa));
  return code & sign ? -value : value;
}

uint64_t NumberType::encode(long double value) const {
  uint64_t ones = ~uint64_t(0) >> (64 - bits);
  if (kind == Bool)
    return value != 0;
  if (kind != Float)
    return (value < 0 ? -uint64_t(-value) : uint64_t(value)) & ones;
  if (std::isnan(value))
    return nan;
  uint64_t sign = std::signbit(value) ? uint64_t(1) << (bits - 1) : 0;
  long double magnitude = std::fabs(value);
  uint64_t beyond = infinity ? infinity : nan, code = beyond;
  if (!std::isinf(magnitude)) {
    int exponent = magnitude == 0 ? minExponent : std::max(std::ilogb(magnitude), minExponent);
    // In units of the last place; rint rounds to even. A carry moves into the exponent by
    // itself.
    long double units = std::rint(std::ldexp(magnitude, int(mantissa) - exponent));
    if (exponent - minExponent < int(uint64_t(1) << (bits - mantissa - 1)))
      code = (uint64_t(exponent - minExponent) << mantissa) + uint64_t(units);
    code = std::min(code, maxFinite + 1) > maxFinite ? beyond : code;
  }
  if (!hasNegativeZero && (code == nan || code == 0))
    return code;
  return code | sign;
}

long double NumberType::ulp(long double value) const {
  if (kind != Float)
    return 1;
  int exponent = value == 0 || !std::isfinite(value) ? minExponent : std::ilogb(value);
  return std::ldexp(1.0L, std::max(exponent, minExponent) - int(mantissa));
}

std::vector<uint64_t> NumberType::edges() const {
  if (kind == Bool)
    return {0, 1};
  uint64_t ones = ~uint64_t(0) >> (64 - bits), top = uint64_t(1) << (bits - 1);
  if (kind != Float)
    return {0, 1, ones, 2, 3, top - 1, top, ones - 1, top + 1, top - 2, 7, 0x55 & ones};
  std::vector<uint64_t> codes = {0, encode(1), encode(2), encode(0.5), encode(1.5), encode(3),
                                 // Denormals and the smallest normal number.
                                 1, (uint64_t(1) << mantissa) - 1, uint64_t(1) << mantissa,
                                 maxFinite};
  if (infinity)
    codes.push_back(infinity);
  size_t positive = codes.size();
  for (size_t i = 0; i < positive; ++i)
    if (codes[i] || hasNegativeZero)
      codes.push_back(codes[i] | top);
  codes.push_back(nan);
  return codes;
}

uint64_t Array::bits(size_t index) const {
  uint64_t code = 0;
  std::memcpy(&code, memory.data() + index * numberType->bytes(), numberType->bytes());
  return code;
}
void Array::setBits(size_t index, uint64_t code) {
  std::memcpy(memory.data() + index * numberType->bytes(), &code, numberType->bytes());
}

Array mixedArray(const std::string &type, size_t count, uint64_t seed, double range, bool finite) {
  Array result(type, count);
  const NumberType &info = result.type();
  Random random(seed);
  std::vector<uint64_t> edges = info.edges();
  uint64_t ones = ~uint64_t(0) >> (64 - info.bits);
  for (size_t i = 0; i < count; ++i) {
    uint64_t code = i < edges.size() ? edges[i]
                    : i % 2          ? random.bits() & ones
                                     : info.encode(random.next() * range);
    if (finite && !std::isfinite(info.decode(code)))
      code = info.encode(random.next() * range);
    result.setBits(i, code);
  }
  return result;
}

Array uniformArray(const std::string &type, size_t count, uint64_t seed, double low, double high) {
  Array result(type, count);
  Random random(seed);
  for (size_t i = 0; i < count; ++i)
    result.set(i, low + (high - low) * (random.next() + 1) / 2);
  return result;
}

long double ulpsBetween(const NumberType &type, uint64_t code, long double expected) {
  long double value = type.decode(code);
  if (!type.isFloat())
    return value == expected ? 0 : std::fabs(value - expected);
  uint64_t rounded = type.encode(expected);
  if (code == rounded || (std::isnan(value) && std::isnan(type.decode(rounded))))
    return 0;
  if (std::isnan(value) || std::isnan(expected) || std::isinf(expected))
    return infinity;
  if (expected == 0 && value == 0)
    return infinity; // The sign.
  // An infinity counts as the number after the largest.
  long double limit = type.decode(type.maxFinite) + type.ulp(type.decode(type.maxFinite));
  value = std::max(-limit, std::min(limit, value));
  expected = std::max(-limit, std::min(limit, expected));
  return std::fabs(value - expected) / type.ulp(expected);
}

namespace {

const char *const names[] = {"x", "y", "z", "w"};

/// "x = 1.5 (0x3fc00000), y = …"
std::string describe(const std::vector<Array> &inputs, size_t index) {
  std::string text;
  for (size_t j = 0; j < inputs.size(); ++j) {
    char buffer[80];
    snprintf(buffer, sizeof buffer, "%s%s = %.12Lg (0x%llx)", j ? ", " : "", names[j],
             inputs[j][index], (unsigned long long)inputs[j].bits(index));
    text += buffer;
  }
  return text;
}

/// The first few failures in full, then their number.
template <typename Check>
void expectAll(const Array &result, const std::vector<Array> &inputs, const std::string &what,
               Check check) {
  unsigned failures = 0;
  for (size_t i = 0; i < result.count(); ++i) {
    std::string expected = check(i);
    if (expected.empty() || ++failures > 3)
      continue;
    ADD_FAILURE() << what << " as " << result.type().name << " at " << i << ", "
                  << describe(inputs, i) << ": got " << result[i] << ", expected " << expected;
  }
  if (failures > 3)
    ADD_FAILURE() << what << ": " << failures << " of " << result.count() << " are wrong";
}

} // namespace

std::vector<Array> evaluate(const std::string &target, const std::vector<Expression> &expressions,
                            const std::vector<Array> &inputs, bool scalars) {
  size_t count = inputs.front().count();
  std::string source = "@triton.jit\ndef kernel(", mask = scalars ? ")\n" : ", mask=i < n)\n";
  std::string body = scalars ? "    i = tl.program_id(0)\n"
                             : "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n";
  std::vector<SourceArgument> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name = names[i];
    source += name + ", ";
    body += "    " + name + " = tl.load(" + name + " + i" + mask;
    arguments.push_back(inputs[i].argument(name));
  }
  std::vector<Array> results;
  for (const Expression &expression : expressions)
    results.emplace_back(expression.resultType, count);
  for (size_t i = 0; i < expressions.size(); ++i) {
    std::string name = "out" + std::to_string(i);
    source += name + ", ";
    body += "    tl.store(" + name + " + i, " + expressions[i].text + mask;
    arguments.push_back(results[i].argument(name));
  }
  arguments.push_back({"n", "i32", int(count)});
  SourceOptions options;
  constexpr int block = 128;
  options.numWarps = scalars ? 1 : 4;
  options.grid = {scalars ? uint32_t(count) : uint32_t((count + block - 1) / block), 1, 1};
  std::string errors = runSource(source + "n, BLOCK: tl.constexpr):\n" + body, target, arguments,
                                 {{"BLOCK", block}}, options);
  EXPECT_EQ(errors, "");
  if (!errors.empty())
    results.clear();
  return results;
}

void expectClose(const Array &result, const std::vector<Array> &inputs, Reference reference,
                 double ulps, const std::string &what) {
  expectAll(result, inputs, what, [&](size_t index) -> std::string {
    long double x[4] = {};
    for (size_t j = 0; j < inputs.size(); ++j)
      x[j] = inputs[j][index];
    long double expected = reference(x);
    long double off = ulpsBetween(result.type(), result.bits(index), expected);
    char text[80];
    snprintf(text, sizeof text, "%.17Lg (off by %.3Lg ulps)", expected, off);
    return off <= ulps ? "" : text;
  });
}

void expectEqual(const Array &result, const std::vector<Array> &inputs, IntegerReference reference,
                 const std::string &what) {
  uint64_t ones = ~uint64_t(0) >> (64 - result.type().bits);
  expectAll(result, inputs, what, [&](size_t index) -> std::string {
    __int128 x[4] = {};
    for (size_t j = 0; j < inputs.size(); ++j)
      x[j] = __int128(inputs[j][index]);
    uint64_t expected = uint64_t(reference(x)) & ones;
    return result.bits(index) == expected ? "" : "the bits " + std::to_string(expected);
  });
}

namespace {

template <typename Check, typename Expect>
void checkAll(const std::string &target, const std::vector<Array> &inputs,
              const std::vector<Check> &checks, Expect expect) {
  std::vector<Expression> expressions;
  for (const Check &check : checks)
    expressions.push_back(check.expression);
  for (bool scalars : {false, true}) {
    std::vector<Array> results = evaluate(target, expressions, inputs, scalars);
    for (size_t i = 0; i < results.size(); ++i)
      expect(results[i], checks[i],
             checks[i].expression.text + " of " + inputs.front().type().name +
                 (scalars ? " scalars on " : " tensors on ") + target);
  }
}

} // namespace

void checkElementwise(const std::string &target, const std::vector<Array> &inputs,
                      const std::vector<FloatCheck> &checks) {
  checkAll(target, inputs, checks,
           [&](const Array &result, const FloatCheck &check, const std::string &what) {
             expectClose(result, inputs, check.reference, check.ulps, what);
           });
}
void checkElementwise(const std::string &target, const std::vector<Array> &inputs,
                      const std::vector<IntegerCheck> &checks) {
  checkAll(target, inputs, checks,
           [&](const Array &result, const IntegerCheck &check, const std::string &what) {
             expectEqual(result, inputs, check.reference, what);
           });
}

} // namespace kiln::testing
