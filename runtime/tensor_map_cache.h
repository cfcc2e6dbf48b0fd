/*
 * Tensor maps that a loaded kernel keeps, by the tensors that they are of: the driver takes longer
 * to make one than the rest of a launch.
 *
 * Each map of a kernel has a few slots of its own, in which the oldest makes room for the newest.
 * Readers and writers may be any threads and never wait: a slot is a sequence lock
 * (sequence_lock.h) and is copied out whole, so that nobody uses a map that is being replaced.
 */
#ifndef KILN_RUNTIME_TENSOR_MAP_CACHE_H
#define KILN_RUNTIME_TENSOR_MAP_CACHE_H

#include "runtime/kiln.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

/* A map as kernels get it (CUtensorMap; the header of CUDA 13 aligns it so, the driver asks for
 * 64). */
typedef struct __attribute__((aligned(128))) kiln_encoded_map {
  uint64_t words[16];
} kiln_encoded_map;

typedef struct kiln_tensor_map_cache kiln_tensor_map_cache;

/* The tensors that a map of a kernel is kept for. */
enum { KILN_KEPT_TENSOR_MAPS = 16 };

/* An empty cache for each of `count` maps, for one kiln_os_free_aligned(); null: no memory. */
kiln_tensor_map_cache *kiln_make_tensor_map_caches(uint32_t count);
kiln_tensor_map_cache *kiln_tensor_map_cache_at(kiln_tensor_map_cache *caches, uint32_t index);

/* Hot: whether there is a map of `tensor`, which is then copied to `map`. */
bool kiln_find_tensor_map(const kiln_tensor_map_cache *cache, const kiln_tensor *tensor,
                          kiln_encoded_map *map);
void kiln_keep_tensor_map(kiln_tensor_map_cache *cache, const kiln_tensor *tensor,
                          const kiln_encoded_map *map);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_TENSOR_MAP_CACHE_H */
