// Numbers of any type as bit patterns in 64-bit words.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_NUMBERS_H
#define KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace kiln::testing {

/// Formats of floating-point numbers.
enum class Format { F16, BF16, F32, F64 };

template <typename To, typename From> To bitsAs(From from) {
  To to;
  static_assert(sizeof(To) == sizeof(From));
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

/// Rounds to nearest even at `mantissa` bits with smallest exponent `minExponent`; `maxExponent`
/// overflows to infinity.
inline double roundTo(double x, int mantissa, int minExponent, double largest) {
  if (x == 0 || std::isnan(x) || std::isinf(x))
    return x;
  int exponent;
  std::frexp(x, &exponent);
  int unit = std::max(exponent - 1, minExponent) - mantissa;
  double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  return std::fabs(rounded) > largest ? std::copysign(INFINITY, x) : rounded;
}

inline double decode(uint64_t bits, Format format) {
  switch (format) {
  case Format::F64:
    return bitsAs<double>(bits);
  case Format::F32:
    return bitsAs<float>(uint32_t(bits));
  case Format::BF16:
    return bitsAs<float>(uint32_t(bits) << 16);
  case Format::F16: {
    int sign = bits >> 15 & 1, exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 31  ? (mantissa ? NAN : INFINITY)
                   : exponent == 0 ? std::ldexp(mantissa, -24)
                                   : std::ldexp(1024 + mantissa, exponent - 25);
    return sign ? -value : value;
  }
  }
  return 0;
}

inline uint64_t encode(double x, Format format) {
  switch (format) {
  case Format::F64:
    return bitsAs<uint64_t>(x);
  case Format::F32:
    return bitsAs<uint32_t>(float(x));
  case Format::BF16:
    if (std::isnan(x))
      return 0x7FC0;
    return bitsAs<uint32_t>(float(roundTo(x, 7, -126, 3.3895313892515355e38))) >> 16;
  case Format::F16: {
    uint64_t sign = std::signbit(x) ? 0x8000 : 0;
    if (std::isnan(x))
      return sign | 0x7E00;
    double magnitude = std::fabs(roundTo(x, 10, -14, 65504));
    if (std::isinf(magnitude))
      return sign | 0x7C00;
    if (magnitude < std::ldexp(1, -14))
      return sign | uint64_t(std::ldexp(magnitude, 24));
    int exponent;
    double fraction = std::frexp(magnitude, &exponent);
    return sign | uint64_t(exponent + 14) << 10 | (uint64_t(std::ldexp(fraction, 11)) & 1023);
  }
  }
  return 0;
}

inline unsigned formatBytes(Format format) {
  return format == Format::F64 ? 8 : format == Format::F32 ? 4 : 2;
}

/// The low `bits` bits as a signed number.
inline int64_t signExtend(uint64_t value, unsigned bits) {
  return bits == 64 ? int64_t(value) : int64_t(value << (64 - bits)) >> (64 - bits);
}

} // namespace kiln::testing

#endif
