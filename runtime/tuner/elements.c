/* Elements of arrays: their formats, contents and comparison. */
#include "tuner/elements.h"

#include <math.h>
#include <string.h>

typedef enum kiln_tuner_class {
  CLASS_Bool,
  CLASS_Signed,
  CLASS_Unsigned,
  CLASS_Float
} kiln_tuner_class;

/* What of a float's bits is no number: element_types.def. */
typedef enum kiln_tuner_specials {
  SPECIALS_None,
  SPECIALS_IEEE,
  SPECIALS_Ones,
  SPECIALS_Zero
} kiln_tuner_specials;

typedef struct element_type {
  uint8_t kind; /* kiln_tuner_class */
  uint8_t bits;
} element_type;

static const element_type types[] = {
#define KILN_ELEMENT_TYPE(NAME, SPEC, SYNONYM, LANGUAGE, CLASS, BITS, ...) {CLASS_##CLASS, BITS},
#include "element_types.def"
};

typedef struct float_format {
  uint8_t mantissa;
  uint8_t specials; /* kiln_tuner_specials */
  int16_t bias;
} float_format;

static const float_format formats[] = {
#define KILN_FLOAT_FORMAT(NAME, MANTISSA, BIAS, SPECIALS)                                          \
  [KILN_TUNER_##NAME] = {MANTISSA, SPECIALS_##SPECIALS, BIAS},
#include "element_types.def"
};

size_t kiln_tuner_element_bytes(uint32_t element) { return (types[element].bits + 7u) / 8u; }

static double small_float_number(uint32_t bits, uint32_t element) {
  const float_format *format = &formats[element];
  int mantissa = format->mantissa, width = types[element].bits;
  uint32_t sign = bits >> (width - 1), rest = bits & ((1u << (width - 1)) - 1);
  uint32_t exponent = rest >> mantissa, fraction = rest & ((1u << mantissa) - 1);
  uint32_t largest = (1u << (width - 1 - mantissa)) - 1;
  int bias = format->bias;
  double value;
  switch ((kiln_tuner_specials)format->specials) {
  case SPECIALS_IEEE:
    if (exponent == largest)
      return fraction ? NAN : sign ? -INFINITY : INFINITY;
    break;
  case SPECIALS_Ones:
    if (rest == (1u << (width - 1)) - 1)
      return NAN;
    break;
  case SPECIALS_Zero:
    if (sign && rest == 0)
      return NAN;
    break;
  case SPECIALS_None:
    break;
  }
  value = exponent ? ldexp(1.0 + ldexp(fraction, -mantissa), (int)exponent - bias)
                   : ldexp(fraction, 1 - bias - mantissa);
  return sign ? -value : value;
}

/* To nearest, halves to even; what is too large becomes the largest number, and a NaN zero:
 * contents of arrays and arguments are numbers. */
static uint32_t small_float_bits(double value, uint32_t element) {
  const float_format *format = &formats[element];
  int mantissa = format->mantissa, bias = format->bias, width = types[element].bits, exponent;
  uint32_t sign = signbit(value) != 0, rest, most = (1u << (width - 1)) - 1;
  uint8_t specials = format->specials;
  if (specials == SPECIALS_IEEE)
    most -= 1u << mantissa;
  else if (specials == SPECIALS_Ones)
    most -= 1;
  value = fabs(value);
  if (!(value > 0))
    return specials == SPECIALS_Zero ? 0 : sign << (width - 1);
  frexp(value, &exponent); /* in [2^(exponent-1), 2^exponent) */
  if (exponent - 1 < 1 - bias)
    exponent = 2 - bias; /* subnormal */
  value = nearbyint(ldexp(value, mantissa - (exponent - 1)));
  /* The leading one adds itself to the exponent, so does a carry. */
  if (exponent - 1 + bias - 1 > (int)(most >> mantissa))
    rest = most;
  else
    rest = ((uint32_t)(exponent - 1 + bias - 1) << mantissa) + (uint32_t)value;
  if (rest > most)
    rest = most;
  return specials == SPECIALS_Zero && rest == 0 ? 0 : sign << (width - 1) | rest;
}

uint16_t kiln_tuner_bits(kiln_tuner_element element, double value) {
  return (uint16_t)small_float_bits(value, element);
}

kiln_tensor kiln_tuner_tensor(const kiln_tuner_actual *parts, uint32_t rank) {
  int64_t shape[KILN_MAX_RANK] = {0};
  kiln_tensor tensor;
  for (uint32_t axis = 0; axis < rank && axis < KILN_MAX_RANK; ++axis)
    shape[axis] = parts[1 + axis].integer;
  tensor = kiln_contiguous_tensor(parts[0].address, rank, shape);
  for (uint32_t axis = 0; axis + 1 < rank && axis < KILN_MAX_RANK; ++axis)
    tensor.strides[axis] = parts[1 + rank + axis].integer;
  return tensor;
}

/* --- contents --- */

/* splitmix64: public domain, Sebastiano Vigna. */
static uint64_t mixed(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static void store_float(char *at, uint32_t element, double value) {
  uint32_t bits;
  float single = (float)value;
  if (element == KILN_TUNER_FP64) {
    memcpy(at, &value, sizeof value);
  } else if (element == KILN_TUNER_FP32) {
    memcpy(at, &single, sizeof single);
  } else {
    bits = small_float_bits(value, element);
    memcpy(at, &bits, kiln_tuner_element_bytes(element)); /* hosts are little-endian */
  }
}

void kiln_tuner_fill(void *array, uint32_t element, const kiln_tuner_value *value, uint64_t seed) {
  size_t bytes = kiln_tuner_element_bytes(element);
  bool is_float = types[element].kind == CLASS_Float;
  uint64_t span = (uint64_t)value->high - (uint64_t)value->low;
  char *at = array;
  for (int64_t i = 0; i < value->integer; ++i, at += bytes) {
    uint64_t random = mixed(seed ^ mixed((uint64_t)i));
    if (is_float) {
      double part = (double)(random >> 11) * 0x1p-53;
      store_float(at, element,
                  value->step ? (double)value->low + (double)i * (double)value->step
                              : (double)value->low + part * (double)span);
    } else {
      uint64_t number = value->step ? (uint64_t)value->low + (uint64_t)i * (uint64_t)value->step
                                    : (uint64_t)value->low + (span ? random % span : 0);
      if (types[element].kind == CLASS_Bool)
        number &= 1;
      memcpy(at, &number, bytes);
    }
  }
}

/* --- comparison --- */

double kiln_tuner_tolerance(uint32_t element) {
  if (types[element].kind != CLASS_Float)
    return 0;
  /* Sums in another order, and products of shorter numbers (tf32) where the type allows them. */
  return element == KILN_TUNER_FP64   ? 1e-10
         : element == KILN_TUNER_FP32 ? 2e-3
                                      : ldexp(4, -formats[element].mantissa);
}

static int64_t integer_at(const char *at, uint32_t element) {
  uint64_t bits = 0;
  unsigned unused = 64u - 8u * (unsigned)kiln_tuner_element_bytes(element);
  memcpy(&bits, at, kiln_tuner_element_bytes(element));
  return types[element].kind == CLASS_Signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

double kiln_tuner_number(const void *array, size_t index, uint32_t element) {
  const char *at = (const char *)array + index * kiln_tuner_element_bytes(element);
  if (types[element].kind != CLASS_Float)
    return (double)integer_at(at, element);
  if (element == KILN_TUNER_FP64) {
    double value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  if (element == KILN_TUNER_FP32) {
    float value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  uint32_t bits = 0;
  memcpy(&bits, at, kiln_tuner_element_bytes(element));
  return small_float_number(bits, element);
}

/* How far two numbers are apart; of those that are none, 0 for the like and infinity for others. */
static double distance(double a, double b) {
  if (isnan(a) || isnan(b))
    return isnan(a) && isnan(b) ? 0 : INFINITY;
  return a == b ? 0 : fabs(a - b);
}

bool kiln_tuner_agree(const void *a, const void *b, size_t count, uint32_t element,
                      double tolerance, size_t *index) {
  size_t bytes = kiln_tuner_element_bytes(element);
  double largest = 0, furthest = -1;
  *index = 0;
  if (memcmp(a, b, count * bytes) == 0)
    return true;
  for (size_t i = 0; i < count; ++i) {
    double there = kiln_tuner_number(b, i, element), apart;
    bool is_same = memcmp((const char *)a + i * bytes, (const char *)b + i * bytes, bytes) == 0;
    if (isfinite(there) && fabs(there) > largest)
      largest = fabs(there);
    apart = is_same ? 0 : distance(kiln_tuner_number(a, i, element), there);
    /* Integers beyond a double's: those that differ are at least 1 apart. */
    if (!is_same && apart == 0 && types[element].kind != CLASS_Float)
      apart = 1;
    if (apart > furthest) {
      furthest = apart;
      *index = i;
    }
  }
  return furthest <= tolerance * largest;
}
