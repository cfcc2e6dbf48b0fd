// Conversions to 8-bit floats.

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

} // namespace

uint16_t kiln_emu_narrow_floats(kiln_emu_thread *, float low, float high, uint32_t is_e5m2) {
  const Format &format = is_e5m2 ? e5m2 : e4m3;
  return uint16_t(codeOf(low, format) | codeOf(high, format) << 8);
}
