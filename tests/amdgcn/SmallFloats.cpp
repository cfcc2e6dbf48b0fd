#include "tests/amdgcn/SmallFloats.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace kiln::amdgcn {

double SmallFloat::decode(uint32_t bits) const {
  uint32_t mantissaMask = (1u << mantissaBits) - 1, exponentMask = (1u << exponentBits) - 1;
  uint32_t mantissa = bits & mantissaMask, exponent = bits >> mantissaBits & exponentMask;
  bool isNegative = bits >> (exponentBits + mantissaBits) & 1;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (specials == Specials::OneZero && isNegative && !mantissa && !exponent)
    return nan;
  if (specials == Specials::OneNan && exponent == exponentMask && mantissa == mantissaMask)
    return nan;
  double magnitude;
  if (specials == Specials::Ieee && exponent == exponentMask)
    magnitude = mantissa ? nan : std::numeric_limits<double>::infinity();
  else if (exponent)
    magnitude =
        std::ldexp(double(mantissa | 1u << mantissaBits), int(exponent) - bias - mantissaBits);
  else
    magnitude = std::ldexp(double(mantissa), 1 - bias - mantissaBits);
  return isNegative ? -magnitude : magnitude;
}

uint32_t SmallFloat::encode(double value, bool saturates) const {
  uint32_t sign = std::signbit(value) ? 1u << (exponentBits + mantissaBits) : 0;
  uint32_t allOnes = (1u << (exponentBits + mantissaBits)) - 1;
  uint32_t infinity = allOnes & ~((1u << mantissaBits) - 1);
  uint32_t largest = specials == Specials::Ieee     ? infinity - 1
                     : specials == Specials::OneNan ? allOnes - 1
                                                    : allOnes;
  uint32_t nan = specials == Specials::OneZero ? 1u << (exponentBits + mantissaBits)
                 : specials == Specials::Ieee  ? sign | infinity | 1u << (mantissaBits - 1)
                                               : sign | allOnes;
  if (std::isnan(value))
    return nan;
  double magnitude = std::fabs(value);
  uint32_t result;
  if (std::isinf(magnitude)) {
    result = largest + 1;
  } else {
    int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
    double steps = std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent));
    // Of a subnormal number the field of the exponent is 0; a carry moves on into it by itself.
    double fields = steps + std::ldexp(double(exponent + bias - 1), mantissaBits);
    result = fields > largest ? largest + 1 : uint32_t(fields);
  }
  if (result > largest)
    return saturates                    ? sign | largest
           : specials == Specials::Ieee ? sign | infinity
           : specials == Specials::None ? sign | largest
                                        : nan;
  if (specials == Specials::OneZero && result == 0)
    return 0;
  return sign | result;
}

float halfValue(uint32_t bits) {
  static const std::vector<float> table = [] {
    std::vector<float> values(1 << 16);
    for (uint32_t i = 0; i != values.size(); ++i)
      values[i] = float(halfFormat.decode(i));
    return values;
  }();
  float value = table[bits & 0xffff];
  if (!std::isnan(value))
    return value;
  // What a NaN says stays.
  uint32_t kept = (bits & 0x8000) << 16 | 0x7fc00000 | (bits & 0x3ff) << 13;
  std::memcpy(&value, &kept, sizeof value);
  return value;
}

uint32_t halfBits(double value) {
  if (!std::isnan(value))
    return halfFormat.encode(value);
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return uint32_t(bits >> 48 & 0x8000) | 0x7e00 | uint32_t(bits >> 42 & 0x1ff);
}

} // namespace kiln::amdgcn
