/* The error of elementary functions in fp32 on this machine's CPU, as accuracy_gpu.py measures it
 * on a GPU; docs/accuracy.md has the commands. The reference is libm in long double. */
#include "accuracy.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { numbers = 1 << 22, block = 1024 };
static float x[numbers], y[numbers], out[numbers];

static void fill(float *to, uint32_t factor) {
  for (uint32_t i = 0; i < numbers; ++i) {
    uint32_t bits = i * ((UINT32_MAX / numbers + 1) | 1) * factor + factor / 2;
    memcpy(to + i, &bits, sizeof bits);
  }
}

static int is_ordinary(float value) { return value == 0 || fabsf(value) >= FLT_MIN; }

typedef struct {
  double ulp;
  float worst, worst2;
  long nearest, finite, special;
} kiln_errors;

static void compare(kiln_errors *errors, uint32_t i, int is_binary, long double exact) {
  if (!is_ordinary(x[i]) || (is_binary && !is_ordinary(y[i])))
    return;
  long double magnitude = fabsl(exact), largest = FLT_MAX;
  int is_overflow = magnitude > largest * (1 + 0x1p-25L);
  if (isnan(exact) ? !isnan(out[i]) : is_overflow ? !isinf(out[i]) : !isfinite(out[i]))
    ++errors->special;
  if (!(magnitude >= FLT_MIN && magnitude <= largest) || !isfinite(out[i]))
    return;
  double error = (double)(fabsl(out[i] - exact) / ldexpl(1, ilogbl(magnitude) - 23));
  ++errors->finite;
  errors->nearest += error <= 0.5;
  if (error > errors->ulp) {
    errors->ulp = error;
    errors->worst = x[i];
    errors->worst2 = y[i];
  }
}

static void report(const char *name, const kiln_errors *errors) {
  printf("| %s | %.2f | %.3f | %ld | %g, %g |\n", name, errors->ulp,
         (double)errors->nearest / (double)errors->finite, errors->special, (double)errors->worst,
         (double)errors->worst2);
}

static void check(kiln_status status) {
  if (status) {
    fprintf(stderr, "%s\n", kiln_last_error());
    exit(1);
  }
}

#define UNARY(NAME, EXACT)                                                                         \
  {                                                                                                \
    kiln_errors errors = {0};                                                                      \
    check(unary_##NAME(kiln_cpu_stream(NULL), numbers / block, 1, 1, x, out, numbers));            \
    for (uint32_t i = 0; i < numbers; ++i) {                                                       \
      long double a = x[i];                                                                        \
      compare(&errors, i, 0, EXACT);                                                               \
    }                                                                                              \
    report(#NAME, &errors);                                                                        \
  }
#define BINARY(NAME, EXACT)                                                                        \
  {                                                                                                \
    kiln_errors errors = {0};                                                                      \
    check(binary_##NAME(kiln_cpu_stream(NULL), numbers / block, 1, 1, x, y, out, numbers));        \
    for (uint32_t i = 0; i < numbers; ++i) {                                                       \
      long double a = x[i], b = y[i];                                                              \
      compare(&errors, i, 1, EXACT);                                                               \
    }                                                                                              \
    report(#NAME, &errors);                                                                        \
  }

/* The sine of pi a for |a| <= 1. */
static long double sine_of_turn(long double a) {
  return sinl((long double)M_PI * a + 1.2246467991473531772e-16L * a);
}
static long double sine_of_pi(long double a) {
  long double turn = remainderl(a, 2), magnitude = fabsl(turn);
  return copysignl(sine_of_turn(magnitude > 0.5L ? 1 - magnitude : magnitude), turn);
}
static long double cosine_of_pi(long double a) {
  return sine_of_turn(0.5L - fabsl(remainderl(a, 2)));
}

/* y with erfc(y) = q and erf(y) = s = 1 - q, s >= 0, by Halley's steps from an estimate. */
static long double inverse_erfc(long double s, long double q) {
  if (isnan(q) || q < 0)
    return NAN;
  if (q == 0)
    return INFINITY;
  const long double pi = acosl(-1);
  long double y = s < 0.5L ? s * sqrtl(pi) / 2 : sqrtl(-logl(q * (2 - q)));
  for (int step = 0; step < 12; ++step) {
    long double error = q < 0.5L ? q - erfcl(y) : erfl(y) - s;
    long double newton = error * sqrtl(pi) / 2 * expl(y * y);
    y -= newton / (1 + newton * y);
  }
  return y;
}
static long double inverse_of(long double q) {
  return q <= 1 ? inverse_erfc(1 - q, q) : -inverse_erfc(q - 1, 2 - q);
}
static long double scaled_erfc(long double a) {
  long double square = 1 / (2 * a * a);
  return a < 50 ? expl(a * a) * erfcl(a)
                : (1 - square + 3 * square * square) / (a * sqrtl(acosl(-1)));
}
/* By the power series, all of whose terms are positive. */
static long double modified(int order, long double a) {
  long double term = order ? a / 2 : 1, sum = term, quarter = a * a / 4;
  if (!(fabsl(a) < 100))
    return isnan(a) ? a : order && a < 0 ? -INFINITY : INFINITY;
  for (int k = 1; k < 250; ++k)
    sum += term *= quarter / ((long double)k * (k + order));
  return sum;
}
/* `exact`, or for operands whose error is absolute whatever was computed. */
static long double unless(int is_absolute, float computed, long double exact) {
  return is_absolute ? computed : exact;
}

int main(void) {
  fill(x, 1);
  fill(y, 0x9E3779B1);
  puts("| function | Kiln on the CPU | nearest | special | worst operands |\n| --- | --- | --- | "
       "--- | --- |");
  UNARY(exp, expl(a))
  UNARY(exp2, exp2l(a))
  UNARY(log, logl(a))
  UNARY(log2, log2l(a))
  UNARY(sin, sinl(a))
  UNARY(cos, cosl(a))
  UNARY(sqrt, sqrtl(a))
  UNARY(rsqrt, 1 / sqrtl(a))
  UNARY(erf, erfl(a))
  UNARY(sigmoid, 1 / (1 + expl(-a)))
  UNARY(tanh, tanhl(a))
  UNARY(expm1, expm1l(a))
  UNARY(exp10, powl(10, a))
  UNARY(log1p, log1pl(a))
  UNARY(log10, log10l(a))
  UNARY(tan, tanl(a))
  UNARY(asin, asinl(a))
  UNARY(acos, acosl(a))
  UNARY(atan, atanl(a))
  UNARY(sinh, sinhl(a))
  UNARY(cosh, coshl(a))
  UNARY(asinh, asinhl(a))
  UNARY(acosh, acoshl(a))
  UNARY(atanh, atanhl(a))
  UNARY(erfc, erfcl(a))
  UNARY(normcdf, erfcl(a * -0.707106781186547524400844362104849039L) / 2)
  UNARY(cbrt, cbrtl(a))
  UNARY(rcbrt, 1 / cbrtl(a))
  UNARY(sinpi, sine_of_pi(a))
  UNARY(cospi, cosine_of_pi(a))
  UNARY(erfcx, scaled_erfc(a))
  UNARY(erfinv, copysignl(inverse_erfc(fabsl(a), 1 - fabsl(a)), a))
  UNARY(erfcinv, inverse_of(a))
  UNARY(normcdfinv, -sqrtl(2) * inverse_of(2 * a))
  UNARY(lgamma, unless(a > -10.001L && a < -2.264L, out[i], lgammal(a)))
  UNARY(tgamma, tgammal(a))
  UNARY(j0, unless(fabsl(a) >= 8, out[i], j0l(a)))
  UNARY(j1, unless(fabsl(a) >= 8, out[i], j1l(a)))
  UNARY(y0, unless(a <= 0 || a >= 8, out[i], y0l(a)))
  UNARY(y1, unless(a <= 0 || a >= 8, out[i], y1l(a)))
  UNARY(cyl_bessel_i0, modified(0, a))
  UNARY(cyl_bessel_i1, modified(1, a))
  UNARY(rsqrt_rn, 1 / sqrtl(a))
  UNARY(rcp_rn, 1 / a)
  BINARY(divide, a / b)
  BINARY(div_rn, a / b)
  BINARY(pow, powl(a, b))
  BINARY(atan2, atan2l(a, b))
  BINARY(hypot, hypotl(a, b))
  BINARY(rhypot, 1 / hypotl(a, b))
  BINARY(fmod, fmodl(a, b))
  BINARY(remainder, remainderl(a, b))
  BINARY(modulo, fmodl(a, b))
  return 0;
}
