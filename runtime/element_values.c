#include "runtime/element_values.h"

#include <float.h>
#include <string.h>

uint32_t kiln_element_bytes(uint32_t kind) {
  static const uint8_t sizes[] = {
      [KILN_PARAM_POINTER] = 8,
#define KILN_PARAM_TYPE(KIND, NAME, BYTES, C_TYPE) [KILN_PARAM_##KIND] = (BYTES),
#include "runtime/element_types.def"
  };
  _Static_assert(sizeof sizes == KILN_PARAM_BYTES, "every kind but the last has one size");
  return kind < sizeof sizes ? sizes[kind] : 0;
}

static double float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

/* IEEE binary16: its exponent moves by 112, and its subnormal numbers are multiples of 2^-24. */
static double half_value(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
  if (rest >= 0x7c00u)
    return float_of_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  if (rest >= 0x400u)
    return float_of_bits(sign | ((rest << 13) + (112u << 23)));
  return (sign ? -1.0 : 1.0) * (double)rest / 16777216.0;
}

double kiln_element_value(uint32_t kind, const void *array, uint64_t index) {
  const char *element = (const char *)array + index * kiln_element_bytes(kind);
  switch (kind) {
#define AS(KIND, TYPE)                                                                             \
  case KILN_PARAM_##KIND: {                                                                        \
    TYPE value;                                                                                    \
    memcpy(&value, element, sizeof value);                                                         \
    return (double)value;                                                                          \
  }
    AS(POINTER, uint64_t)
    AS(I1, uint8_t)
    AS(I8, int8_t)
    AS(U8, uint8_t)
    AS(I16, int16_t)
    AS(U16, uint16_t)
    AS(I32, int32_t)
    AS(U32, uint32_t)
    AS(I64, int64_t)
    AS(U64, uint64_t)
    AS(F8, uint8_t)
    AS(F32, float)
    AS(F64, double)
#undef AS
  case KILN_PARAM_F16:
  case KILN_PARAM_BF16: {
    uint16_t bits;
    memcpy(&bits, element, sizeof bits);
    return kind == KILN_PARAM_F16 ? half_value(bits) : float_of_bits((uint32_t)bits << 16);
  }
  default:
    return 0.0;
  }
}

static bool is_float(uint32_t kind) {
  return kind == KILN_PARAM_F16 || kind == KILN_PARAM_BF16 || kind == KILN_PARAM_F32 ||
         kind == KILN_PARAM_F64;
}

bool kiln_elements_agree(uint32_t kind, const void *array, const void *expected, uint64_t index,
                         double absolute, double relative) {
  uint32_t bytes = kiln_element_bytes(kind);
  if (memcmp((const char *)array + index * bytes, (const char *)expected + index * bytes, bytes) ==
      0)
    return true;
  if (!is_float(kind))
    return false;
  double a = kiln_element_value(kind, array, index), b = kiln_element_value(kind, expected, index);
  if (a != a || b != b)
    return a != a && b != b;
  double distance = a < b ? b - a : a - b;
  return a == b || (distance <= DBL_MAX && distance <= absolute + relative * (b < 0 ? -b : b));
}
