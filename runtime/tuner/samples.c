/* Times of variants, and of rounds. */
#include "tuner/samples.h"

#include <math.h>
#include <stdlib.h>

/* Of two variants, one of which has few rounds, each halves what is left of its error. */
enum { SWEEPS = 20 };

/* Clocks that are too coarse say nought. */
static const double least = 1e-3;

static int compare_numbers(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *numbers, uint32_t count) {
  qsort(numbers, count, sizeof *numbers, compare_numbers);
  return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

static double logarithm(const kiln_tuner_samples *variant, uint32_t round) {
  double time = variant->microseconds[round];
  return log(time > least ? time : least);
}

/* Of each round, how slow it was beside what its variants take; the number of rounds. `numbers` has
 * room for one of each variant. */
static uint32_t fit_rounds(const kiln_tuner_samples *variants, uint32_t count, const double *takes,
                           double *rounds, double *numbers) {
  uint32_t round = 0;
  for (;; ++round) {
    uint32_t present = 0;
    for (uint32_t v = 0; v < count; ++v)
      if (round < variants[v].count)
        numbers[present++] = logarithm(&variants[v], round) - takes[v];
    if (!present)
      return round;
    rounds[round] = median(numbers, present);
    if (round + 1 == KILN_TUNER_MAX_SAMPLES)
      return round + 1;
  }
}

static double fit_variant(const kiln_tuner_samples *variant, const double *rounds) {
  double numbers[KILN_TUNER_MAX_SAMPLES];
  for (uint32_t round = 0; round < variant->count; ++round)
    numbers[round] = logarithm(variant, round) - rounds[round];
  return median(numbers, variant->count);
}

/* Without memory each variant's own median, as where each round is as fast as the others. */
void kiln_tuner_fit(const kiln_tuner_samples *variants, uint32_t count, double *times) {
  double rounds[KILN_TUNER_MAX_SAMPLES] = {0};
  double *numbers = malloc((count ? count : 1) * sizeof *numbers);
  uint32_t num_rounds = 0;
  for (uint32_t v = 0; v < count; ++v)
    times[v] = fit_variant(&variants[v], rounds);
  for (int sweep = 0; numbers && sweep < SWEEPS; ++sweep) {
    num_rounds = fit_rounds(variants, count, times, rounds, numbers);
    for (uint32_t v = 0; v < count; ++v)
      times[v] = fit_variant(&variants[v], rounds);
  }
  double middling = num_rounds ? median(rounds, num_rounds) : 0;
  for (uint32_t v = 0; v < count; ++v)
    times[v] = exp(times[v] + middling);
  free(numbers);
}
