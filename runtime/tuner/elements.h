/* Arrays of any element type on the host: what they hold at first, and whether two hold the same.
 */
#ifndef KILN_RUNTIME_TUNER_ELEMENTS_H
#define KILN_RUNTIME_TUNER_ELEMENTS_H

#include "tuner/kiln_tuner.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of an element. */
size_t kiln_tuner_element_bytes(uint32_t element);

/* Fills an array as `value` says. Random numbers depend on `seed` and the index alone. */
void kiln_tuner_fill(void *array, uint32_t element, const kiln_tuner_value *value, uint64_t seed);

/* How much of a result may be rounding where the spec does not say: of floats a share of the
 * largest number, 0 of integers. */
double kiln_tuner_tolerance(uint32_t element);

/* Whether no element of `a` is further from that of `b` than `tolerance` times the largest of `b`.
 * NaNs and infinities are equal to their like. Else, *index is of the element furthest off. */
bool kiln_tuner_agree(const void *a, const void *b, size_t count, uint32_t element,
                      double tolerance, size_t *index);

/* An element as a number. */
double kiln_tuner_number(const void *array, size_t index, uint32_t element);

#endif /* KILN_RUNTIME_TUNER_ELEMENTS_H */
