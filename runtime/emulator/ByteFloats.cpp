// Conversions to and from 8-bit floats.

#include "runtime/emulator/kiln_emu.h"
#include <algorithm>
#include <cmath>

namespace {

struct Format {
  int mantissaBits, bias;
  float largest;
};
constexpr Format e4m3 = {3, 7, 448}, e5m2 = {2, 15, 57344};

/// PTX ISA, "cvt": to the nearest, of two the even one; .satfinite, which has one NaN.
uint8_t codeOf(float value, const Format &format) {
  if (std::isnan(value))
    return 0x7f;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  float magnitude = std::min(std::fabs(value), format.largest);
  if (magnitude == 0)
    return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent); // magnitude = f * 2^exponent, 0.5 <= f < 1
  exponent = std::max(exponent - 1, 1 - format.bias);
  // In units of the last place: a carry into the next power of two makes the right code by itself.
  int units = int(std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent)));
  int code = ((exponent + format.bias - 1) << format.mantissaBits) + units;
  return sign | uint8_t(code);
}

/// PTX ISA, "cvt": any NaN becomes 0x7fff.
uint16_t halfOf(uint8_t code) {
  unsigned sign = code >> 7, exponent = code >> 3 & 15, mantissa = code & 7;
  if (exponent == 15 && mantissa == 7)
    return 0x7fff;
  if (exponent == 0) {
    // A multiple of 2^-9, which is a normal number of f16 unless it is 0.
    if (mantissa == 0)
      return uint16_t(sign << 15);
    unsigned shift = mantissa >= 4 ? 1 : mantissa >= 2 ? 2 : 3;
    mantissa = mantissa << shift & 7;
    exponent = 1 - shift; // wraps around, and back when the bias is added
  }
  return uint16_t(sign << 15 | (exponent + 8) << 10 | mantissa << 7);
}

} // namespace

uint16_t kiln_emu_narrow_floats(kiln_emu_thread *, float low, float high, uint32_t is_e5m2) {
  const Format &format = is_e5m2 ? e5m2 : e4m3;
  return uint16_t(codeOf(low, format) | codeOf(high, format) << 8);
}

uint32_t kiln_emu_widen_floats(kiln_emu_thread *, uint16_t codes) {
  return halfOf(uint8_t(codes)) | uint32_t(halfOf(uint8_t(codes >> 8))) << 16;
}
