/*
 * What variants take, by launches in turns.
 *
 * A machine that others use runs at several speeds, for a tenth of a second or for minutes: a
 * median of a variant's own times is that of the moments in which it happened to run, and their
 * least the best of these moments. But what runs in one round runs at much the same speed. So a
 * time is taken as what its variant takes, times how slow its round was, times chance; rounds and
 * variants are told apart by Tukey's median polish ("Exploratory Data Analysis", 1977) of the
 * logarithms.
 */
#ifndef KILN_RUNTIME_TUNER_SAMPLES_H
#define KILN_RUNTIME_TUNER_SAMPLES_H

#include <stdint.h>

enum { KILN_TUNER_MAX_SAMPLES = 100 };

typedef struct kiln_tuner_samples {
  uint32_t variant;
  uint32_t wanted;
  uint32_t count;                              /* so many rounds, from the first */
  double microseconds[KILN_TUNER_MAX_SAMPLES]; /* by round, positive */
} kiln_tuner_samples;

/* The microseconds of each variant in a round of middling speed; each has a sample. */
void kiln_tuner_fit(const kiln_tuner_samples *variants, uint32_t count, double *times);

#endif /* KILN_RUNTIME_TUNER_SAMPLES_H */
