/* Elements of arrays as numbers, whatever their type, for comparisons. */
#ifndef KILN_RUNTIME_ELEMENT_VALUES_H
#define KILN_RUNTIME_ELEMENT_VALUES_H

#include "runtime/kiln.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of an element of a kiln_param_kind; 0 for KILN_PARAM_BYTES. */
uint32_t kiln_element_bytes(uint32_t kind);

/* Of 8-bit floats, whose format is not known, the bits. */
double kiln_element_value(uint32_t kind, const void *array, uint64_t index);

/* Floats are equal within absolute + relative * |expected|, as are two infinities of one sign and
 * two NaNs; anything else in all bits. */
bool kiln_elements_agree(uint32_t kind, const void *array, const void *expected, uint64_t index,
                         double absolute, double relative);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_ELEMENT_VALUES_H */
