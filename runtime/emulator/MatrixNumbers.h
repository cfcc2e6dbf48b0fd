// Elements of matrices as numbers that a vector unit multiplies, and rows of products.
//
// Accuracy: products of 8 and 16-bit operands and of tf32 are exact in f32, and are added there in
// the order of k; the sum is added to C. The order and inner width of real units differ by
// generation and are not documented. Where f32 is the operand type, f64 is used inside.
//
// Emulated code needs AVX2 on x86-64 anyhow (LowerToEmulator), so these functions use it too; each
// says so by itself, as the rest of the program may run on older machines.

#ifndef KILN_RUNTIME_EMULATOR_MATRIXNUMBERS_H
#define KILN_RUNTIME_EMULATOR_MATRIXNUMBERS_H

#include "runtime/emulator/kiln_emu.h"
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#ifdef __x86_64__
#include <immintrin.h>
#define KILN_WIDE __attribute__((target("avx2,fma,f16c"), flatten))
#define KILN_WIDE_PART __attribute__((target("avx2,fma,f16c"), always_inline)) inline
#else
#define KILN_WIDE
#define KILN_WIDE_PART inline
#endif

namespace kiln::emulator {

inline float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// A float with `mantissa` bits, `bits` in all: its exponent and mantissa go
/// where f32 has them, and a product corrects the bias.
inline float widen(uint32_t word, unsigned bits, unsigned mantissa, int bias, bool hasInfinity) {
  uint32_t magnitude = word & ((1u << (bits - 1)) - 1), sign = word >> (bits - 1) << 31;
  uint32_t exponents = (1u << (bits - 1 - mantissa)) - 1;
  uint32_t moved = magnitude << (23 - mantissa);
  float value = hasInfinity && magnitude >> mantissa == exponents
                    ? asFloat(moved | 0x7f800000)
                    : asFloat(moved) * asFloat(uint32_t(127 - bias + 127) << 23);
  return asFloat(bitsOfFloat(value) | sign);
}

inline float fromHalf(uint16_t half) { return widen(half, 16, 10, 15, true); }

/// f32 to f16, to nearest even.
inline uint16_t toHalf(float value) {
  uint32_t bits = bitsOfFloat(value), sign = bits >> 16 & 0x8000;
  float magnitude = std::fabs(value);
  if (std::isnan(value))
    return uint16_t(sign | 0x7e00);
  if (magnitude >= 65520.f)
    return uint16_t(sign | 0x7c00);
  if (magnitude < 0x1p-14f) // adding a number whose last place is 2^-24 rounds
    return uint16_t(sign | (bitsOfFloat(magnitude + 0.5f) - bitsOfFloat(0.5f)));
  uint32_t word = bits & 0x7fffffff;
  return uint16_t(sign | ((word + 0xfff + (word >> 13 & 1) - (112u << 23)) >> 13));
}

template <typename Stored> Stored stored(const void *fragment, uint32_t e) {
  Stored value;
  std::memcpy(&value, static_cast<const unsigned char *>(fragment) + sizeof(Stored) * e,
              sizeof value);
  return value;
}

/// The value of an 8-bit float.
template <uint32_t type> float smallFloat(uint32_t byte) {
  switch (type) {
  case KILN_EMU_E4M3: // OFP8: no infinity, all ones is NaN
    return (byte & 0x7f) == 0x7f ? NAN : widen(byte, 8, 3, 7, false);
  case KILN_EMU_E5M2:
    return widen(byte, 8, 2, 15, true);
  case KILN_EMU_E4M3FNUZ: // the sign bit alone is NaN
    return byte == 0x80 ? NAN : widen(byte, 8, 3, 8, false);
  default:
    return byte == 0x80 ? NAN : widen(byte, 8, 2, 16, false);
  }
}

/// The values of all 8-bit floats of a type.
template <uint32_t type> const std::array<float, 256> &smallFloats() {
  static const std::array<float, 256> values = [] {
    std::array<float, 256> table;
    for (uint32_t byte = 0; byte < 256; ++byte)
      table[byte] = smallFloat<type>(byte);
    return table;
  }();
  return values;
}

/// Element `e` of a fragment of the type as a number.
template <uint32_t type, typename Number> Number element(const void *fragment, uint32_t e) {
  switch (type) {
  case KILN_EMU_F16:
    return Number(fromHalf(stored<uint16_t>(fragment, e)));
  case KILN_EMU_BF16:
    return Number(asFloat(uint32_t(stored<uint16_t>(fragment, e)) << 16));
  case KILN_EMU_TF32:
    return Number(asFloat(stored<uint32_t>(fragment, e) & ~0x1fffu));
  case KILN_EMU_F32:
    return Number(stored<float>(fragment, e));
  case KILN_EMU_S32:
    return Number(stored<int32_t>(fragment, e));
  case KILN_EMU_F64:
    return Number(stored<double>(fragment, e));
  case KILN_EMU_S8:
    return Number(stored<int8_t>(fragment, e));
  case KILN_EMU_U8:
    return Number(stored<uint8_t>(fragment, e));
  case KILN_EMU_E2M1: {
    uint32_t code = stored<uint8_t>(fragment, e / 2) >> (e % 2 * 4) & 15;
    return Number(widen(code, 4, 1, 1, false));
  }
  default:
    return Number(smallFloats<type>()[stored<uint8_t>(fragment, e)]);
  }
}

template <uint32_t type, typename Number>
KILN_WIDE_PART void widenElements(const unsigned char *elements, size_t count, Number *to) {
  size_t e = 0;
#ifdef __x86_64__
  if constexpr (type == KILN_EMU_F16)
    for (; e < count; e += 8)
      _mm256_storeu_ps(to + e, _mm256_cvtph_ps(_mm_loadu_si128(
                                   reinterpret_cast<const __m128i *>(elements + 2 * e))));
#endif
  for (; e < count; ++e)
    to[e] = element<type, Number>(elements, e);
}

/// Elements of a type as the numbers that they are multiplied as: those of the
/// type's own width are in place.
template <typename Number>
KILN_WIDE_PART void widen(uint32_t type, const unsigned char *elements, size_t count, Number *to) {
  switch (type) {
#define KILN_WIDEN(TYPE, NUMBER)                                                                   \
  case TYPE:                                                                                       \
    if constexpr (std::is_same_v<Number, NUMBER>)                                                  \
      widenElements<TYPE>(elements, count, to);                                                    \
    break;
    KILN_WIDEN(KILN_EMU_F16, float)
    KILN_WIDEN(KILN_EMU_BF16, float)
    KILN_WIDEN(KILN_EMU_TF32, float)
    KILN_WIDEN(KILN_EMU_E4M3, float)
    KILN_WIDEN(KILN_EMU_E5M2, float)
    KILN_WIDEN(KILN_EMU_E4M3FNUZ, float)
    KILN_WIDEN(KILN_EMU_E5M2FNUZ, float)
    KILN_WIDEN(KILN_EMU_E2M1, float)
    KILN_WIDEN(KILN_EMU_F32, double)
    KILN_WIDEN(KILN_EMU_S8, uint32_t)
    KILN_WIDEN(KILN_EMU_U8, uint32_t)
#undef KILN_WIDEN
  }
}

/// c = a * b of m rows, m a multiple of 4: element (row, i) of A is number place[row * k + i] of
/// `a`; n columns of B and C, whose rows are so many numbers apart. Some rows stay in registers at
/// a time.
template <uint32_t n, typename Number>
KILN_WIDE_PART void multiplyRows(size_t m, size_t k, const uint16_t *place, const Number *a,
                                 const Number *b, size_t strideB, Number *c, size_t strideC) {
  constexpr size_t together = n <= 16 ? 4 : 2;
  for (size_t row = 0; row < m; row += together, place += together * k) {
    Number sums[together][n] = {};
    for (size_t i = 0; i < k; ++i)
      for (size_t r = 0; r < together; ++r) {
        Number factor = a[place[r * k + i]];
        for (size_t column = 0; column < n; ++column)
          sums[r][column] += factor * b[i * strideB + column];
      }
    for (size_t r = 0; r < together; ++r)
      std::memcpy(c + (row + r) * strideC, sums[r], sizeof sums[r]);
  }
}

} // namespace kiln::emulator

#endif
