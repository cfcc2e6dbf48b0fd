// Conversions to and from 8-bit floats.

#include "runtime/emulator/MatrixNumbers.h"
#include <algorithm>
#include <cmath>

namespace {

using kiln::emulator::asFloat;
using kiln::emulator::bitsOfFloat;
using kiln::emulator::widen;

struct Format {
  int mantissaBits, bias;
  float largest;
};
constexpr Format e4m3 = {3, 7, 448}, e5m2 = {2, 15, 57344};
constexpr Format e4m3Fnuz = {3, 8, 240}, e5m2Fnuz = {2, 16, 57344};

const Format &formatOf(uint32_t type) {
  switch (type) {
  case KILN_EMU_E4M3:
    return e4m3;
  case KILN_EMU_E5M2:
    return e5m2;
  case KILN_EMU_E4M3FNUZ:
    return e4m3Fnuz;
  default:
    return e5m2Fnuz;
  }
}

bool isFnuz(uint32_t type) { return type == KILN_EMU_E4M3FNUZ || type == KILN_EMU_E5M2FNUZ; }

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

/// CDNA 3 ISA, "MODE": with FP16_OVFL off what is beyond the largest number becomes infinity, or
/// NaN where there is none; a NaN keeps its sign. FNUZ formats have one NaN, which has minus zero's
/// code: zeros have no sign.
uint8_t amdCodeOf(float value, uint32_t type) {
  const Format &format = formatOf(type);
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  bool isBeyond = std::fabs(value) > format.largest;
  if (isFnuz(type)) {
    uint8_t code = std::isnan(value) || isBeyond ? 0x80 : codeOf(value, format);
    return (code & 0x7f) || std::isnan(value) || isBeyond ? code : 0;
  }
  if (std::isnan(value))
    return sign | (type == KILN_EMU_E5M2 ? 0x7e : 0x7f);
  if (isBeyond)
    return sign | (type == KILN_EMU_E5M2 ? 0x7c : 0x7f);
  return codeOf(value, format);
}

/// With the bits of NaN that conversions without an instruction give it.
uint32_t amdSingleOf(uint8_t code, uint32_t type) {
  constexpr uint32_t quietBit = 0x400000, fnuzNan = 0x7fc00000, e4m3Nan = 0x7ff00000;
  const Format &format = formatOf(type);
  float number = widen(code, 8, format.mantissaBits, format.bias, type == KILN_EMU_E5M2);
  uint32_t bits = bitsOfFloat(number), sign = bits & 0x80000000;
  if (isFnuz(type))
    return code == 0x80 ? fnuzNan : bits;
  if (type == KILN_EMU_E4M3)
    return (code & 0x7f) == 0x7f ? sign | e4m3Nan : bits;
  return std::isnan(number) ? bits | quietBit : bits;
}

} // namespace

uint16_t kiln_emu_narrow_pair(kiln_emu_thread *, float low, float high, uint32_t type) {
  return uint16_t(amdCodeOf(low, type) | amdCodeOf(high, type) << 8);
}

uint64_t kiln_emu_widen_pair(kiln_emu_thread *, uint32_t codes, uint32_t type) {
  return amdSingleOf(uint8_t(codes), type) | uint64_t(amdSingleOf(uint8_t(codes >> 8), type)) << 32;
}

uint64_t kiln_emu_widen_scaled(kiln_emu_thread *, uint32_t codes, uint32_t type, float power) {
  auto scaled = [&](unsigned index) {
    float number = type == KILN_EMU_E2M1
                       ? widen(codes >> (4 * index) & 15, 4, 1, 1, /*hasInfinity=*/false)
                       : asFloat(amdSingleOf(uint8_t(codes >> (8 * index)), type));
    return bitsOfFloat(number * power);
  };
  return scaled(0) | uint64_t(scaled(1)) << 32;
}

uint16_t kiln_emu_narrow_floats(kiln_emu_thread *, float low, float high, uint32_t is_e5m2) {
  const Format &format = is_e5m2 ? e5m2 : e4m3;
  return uint16_t(codeOf(low, format) | codeOf(high, format) << 8);
}

uint32_t kiln_emu_widen_floats(kiln_emu_thread *, uint16_t codes) {
  return halfOf(uint8_t(codes)) | uint32_t(halfOf(uint8_t(codes >> 8))) << 16;
}
