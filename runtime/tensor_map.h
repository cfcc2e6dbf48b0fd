/*
 * The tensors that a launch's tensor maps are of: read from its arguments, and checked as the copy
 * engine demands. What a map then looks like is the driver's business (cuda_tensor_map.c,
 * emulator_driver.c).
 *
 * A tensor without elements has no map: extents begin at 1 there. Each driver finds its own way
 * round that; every other number of such a tensor is looked at by nobody.
 */
#ifndef KILN_RUNTIME_TENSOR_MAP_H
#define KILN_RUNTIME_TENSOR_MAP_H

#include "runtime/error.h"
#include "runtime/kiln.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

enum { KILN_TENSOR_MAP_BYTES = 128, KILN_TENSOR_MAP_ALIGNMENT = 64 };

/* When a kernel is loaded: KILN_ERROR_ABI unless its maps' records say what can be made. */
kiln_status kiln_check_tensor_maps(const kiln_variant *variant, const kiln_binary *binary);

/* Bytes of an element (kiln_tensor_element). */
uint32_t kiln_tensor_element_bytes(uint32_t element);

/* Hot: the tensor that `map` is of in a launch with these arguments. */
void kiln_read_tensor(const kiln_tensor_map *map, const kiln_param *params, void *const *values,
                      kiln_tensor *tensor);

/* Whether there is a map of `tensor`. */
bool kiln_has_map(const kiln_tensor_map *map, const kiln_tensor *tensor);

/* Whether copies by the map, which there is, are no slower than threads': of each block at least
 * half of the elements along each axis can exist. What is outside of the tensor takes the engine
 * longer than what it reads (H200: boxes of 128 rows of which 16 exist, twice as long as whole
 * ones). */
bool kiln_map_pays(const kiln_tensor_map *map, const kiln_tensor *tensor);

/* KILN_ERROR_INVALID_ARGUMENT, naming the argument and its value, where there is none. */
kiln_status kiln_check_mapped_tensor(const char *entry, const kiln_tensor_map *map,
                                     const kiln_param *params, const kiln_tensor *tensor);

bool kiln_is_empty_tensor(const kiln_tensor *tensor);

/* The stride of `axis` in bytes, as a map of the checked tensor has it. */
uint64_t kiln_mapped_stride(const kiln_tensor_map *map, const kiln_tensor *tensor, uint32_t axis);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_TENSOR_MAP_H */
