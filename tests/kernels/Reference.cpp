#include "tests/kernels/Reference.h"
#include <array>

namespace kiln::test {

double sumOfProducts(const float *a, const float *b, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += double(a[i]) * double(b[i]);
  return sum;
}

void addScaled(double *sums, double weight, const float *values, int count) {
  for (int i = 0; i < count; ++i)
    sums[i] += weight * double(values[i]);
}

float KernelTest::random(float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(generator);
}

BF16::BF16(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  bits = std::isnan(value) ? 0x7fc0 : uint16_t((word + 0x7fff + (word >> 16 & 1)) >> 16);
}
BF16::operator float() const {
  uint32_t word = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

F16::operator float() const {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float magnitude = exponent == 0    ? std::ldexp(float(mantissa), -24)
                    : exponent == 31 ? (mantissa ? NAN : INFINITY)
                                     : std::ldexp(float(mantissa + 1024), exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}
F16::F16(float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  float magnitude = std::fabs(value);
  if (std::isnan(value)) {
    bits = sign | 0x7e00;
  } else if (magnitude >= 65520.f) {
    bits = sign | 0x7c00;
  } else {
    int exponent = magnitude < 0x1p-14f ? -14 : std::ilogb(magnitude);
    // In units of the last place; nearbyint rounds to even. A carry moves into the exponent by
    // itself.
    int units = int(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    bits = sign | uint16_t(units + (exponent + 14) * 1024);
  }
}

E4M3::operator float() const {
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  if ((bits & 127) == 127)
    return NAN;
  float magnitude =
      exponent ? std::ldexp(float(8 + mantissa), exponent - 10) : std::ldexp(float(mantissa), -9);
  return bits >> 7 ? -magnitude : magnitude;
}

static std::array<float, 256> valuesOfE4M3() {
  std::array<float, 256> values;
  for (int candidate = 0; candidate < 256; ++candidate) {
    E4M3 element;
    element.bits = uint8_t(candidate);
    values[size_t(candidate)] = float(element);
  }
  return values;
}
E4M3::E4M3(float value) {
  static const std::array<float, 256> values = valuesOfE4M3();
  float least = INFINITY;
  for (int candidate = 0; candidate < 256; ++candidate) {
    float distance = std::fabs(values[size_t(candidate)] - value); // of NaN less than nothing
    if (distance < least) {
      least = distance;
      bits = uint8_t(candidate);
    }
  }
}

} // namespace kiln::test
