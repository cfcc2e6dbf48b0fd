// The steps of an exact division (ISA guides, V_DIV_SCALE, V_DIV_FMAS and V_DIV_FIXUP). Where the
// guides' text would give no quotient, what gives one: a denominator whose reciprocal is subnormal
// is scaled down in each case, and a quotient that is no number, as of steps that overflowed, is
// one beyond the largest (so the hardware, by tinygrad's measurements on RDNA 3).
#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"

namespace kiln::amdgcn {
namespace {

/// The numbers by which f32 and f64 differ here.
template <typename T> struct Format;
template <> struct Format<float> {
  using Bits = uint32_t;
  static constexpr int mantissaBits = 23, exponentMask = 0xff, scale = 64, farApart = 96,
                       small = 23, bias = 127, underflow = -150;
};
template <> struct Format<double> {
  using Bits = uint64_t;
  static constexpr int mantissaBits = 52, exponentMask = 0x7ff, scale = 128, farApart = 768,
                       small = 53, bias = 1023, underflow = -1075;
};

/// The field of the exponent.
template <typename T> int exponentOf(T value) {
  using F = Format<T>;
  return int(bitsAs<typename F::Bits>(value) >> F::mantissaBits) & F::exponentMask;
}

template <typename T> bool isSubnormal(T value) { return std::fpclassify(value) == FP_SUBNORMAL; }

template <typename T> struct Scaled {
  T value;
  bool isScaled;
};

/// `value` is the denominator or the numerator; one of them is scaled where a step would overflow
/// or lose bits.
template <typename T> Scaled<T> scaled(T value, T denominator, T numerator) {
  using F = Format<T>;
  if (numerator == 0 || denominator == 0)
    return {std::numeric_limits<T>::quiet_NaN(), false};
  bool isDenominator = bitsAs<typename F::Bits>(value) == bitsAs<typename F::Bits>(denominator);
  bool isNumerator = bitsAs<typename F::Bits>(value) == bitsAs<typename F::Bits>(numerator);
  T up = std::ldexp(value, F::scale);
  if (exponentOf(numerator) - exponentOf(denominator) >= F::farApart)
    return {isDenominator ? up : value, true};
  if (isSubnormal(denominator))
    return {up, false};
  // In f64 for both formats, so that it is never true of f32.
  bool isReciprocalSmall = isSubnormal(1 / double(denominator));
  bool isQuotientSmall = isSubnormal(numerator / denominator);
  if (isReciprocalSmall && isQuotientSmall)
    return {isDenominator ? std::ldexp(value, -F::scale) : value, true};
  if (isReciprocalSmall)
    return {std::ldexp(value, -F::scale), false};
  if (isQuotientSmall)
    return {isNumerator ? up : value, true};
  if (exponentOf(numerator) <= F::small)
    return {up, false};
  return {value, false};
}

template <typename T> T fixedUp(T quotient, T denominator, T numerator) {
  using F = Format<T>;
  bool isNegative = std::signbit(denominator) != std::signbit(numerator);
  auto withSign = [&](T value) { return isNegative ? -value : value; };
  const T infinity = std::numeric_limits<T>::infinity();
  if (std::isnan(numerator) || std::isnan(denominator))
    return numerator + denominator;
  if ((denominator == 0 && numerator == 0) || (std::isinf(denominator) && std::isinf(numerator)))
    return std::numeric_limits<T>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator))
    return withSign(infinity);
  if (std::isinf(denominator) || numerator == 0)
    return withSign(0);
  if (exponentOf(numerator) - exponentOf(denominator) < F::underflow)
    return withSign(0);
  return withSign(std::isnan(quotient) ? infinity : std::fabs(quotient));
}

/// V_DIV_SCALE dst, mask, value, denominator, numerator.
template <typename T> void divScale(Wave &wave, const Instruction &in) {
  LaneValues<T> value = read<T>(wave, in, {2, 0}), denominator = read<T>(wave, in, {3, 1}),
                numerator = read<T>(wave, in, {4, 2}), result;
  uint64_t mask = 0;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    Scaled<T> one = scaled(value[lane], denominator[lane], numerator[lane]);
    result[lane] = one.value;
    if (one.isScaled && wave.isActive(lane))
      mask |= uint64_t(1) << lane;
  }
  write<T>(wave, in, 3, result);
  if (in[1].isScalar())
    wave.setMask(in[1].index, mask);
}

/// a * b + c, times a power of two, rounded once. Below the normal numbers that is nearly so: there
/// it is rounded in a format with more bits first.
template <typename T> T scaledSum(T a, T b, T c, int exponent) {
  using Wide = long double;
  T sum = std::ldexp(std::fma(a, b, c), exponent);
  if (sum != 0 && !isSubnormal(sum))
    return sum;
  return T(std::ldexp(std::fma(Wide(a), Wide(b), Wide(c)), exponent));
}

/// A fused multiply-add that takes back what V_DIV_SCALE did, in the lanes of VCC.
template <typename T> void divFmas(Wave &wave, const Instruction &in) {
  using F = Format<T>;
  LaneValues<T> a = read<T>(wave, in, {1, 0}), b = read<T>(wave, in, {2, 1}),
                c = read<T>(wave, in, {3, 2}), result;
  uint64_t mask = wave.mask(VccLow);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    bool isScaled = mask >> lane & 1;
    int exponent = exponentOf(c[lane]) > F::bias ? F::scale : -F::scale;
    result[lane] = isScaled ? scaledSum(a[lane], b[lane], c[lane], exponent)
                            : std::fma(a[lane], b[lane], c[lane]);
  }
  write<T>(wave, in, 3, result);
}

} // namespace

void addDivision(OperationTable &table) {
  table["v_div_scale_f32"] = divScale<float>;
  table["v_div_scale_f64"] = divScale<double>;
  table["v_div_fmas_f32"] = divFmas<float>;
  table["v_div_fmas_f64"] = divFmas<double>;
  table["v_div_fixup_f32"] = ternary<float>(fixedUp<float>);
  table["v_div_fixup_f64"] = ternary<double>(fixedUp<double>);
  // Of halves nothing is scaled: the quotient of f32 is exact enough.
  table["v_div_fixup_f16"] = ternary<Half>(fixedUp<double>);
}

} // namespace kiln::amdgcn
