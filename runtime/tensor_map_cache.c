/*
 * A table of tags (sums of a tensor's numbers) says which slots to look into: one cache line for
 * all of them. The slot itself has the numbers in full, behind a version (sequence_lock.h).
 */
#include "runtime/tensor_map_cache.h"

#include "runtime/driver.h"
#include "runtime/platform.h"
#include "runtime/sequence_lock.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_WORDS = 2 * KILN_MAX_RANK, MAP_WORDS = 16 };

typedef struct slot {
  uint64_t version; /* 0: never written */
  uint64_t key[KEY_WORDS];
  _Alignas(64) uint64_t map[MAP_WORDS];
} slot;

struct kiln_tensor_map_cache {
  _Alignas(64) uint32_t tags[KILN_KEPT_TENSOR_MAPS]; /* odd; 0: none */
  uint32_t next;                                     /* the oldest slot, modulo their number */
  slot slots[KILN_KEPT_TENSOR_MAPS];
};

kiln_tensor_map_cache *kiln_make_tensor_map_caches(uint32_t count) {
  size_t size = count * sizeof(kiln_tensor_map_cache);
  kiln_tensor_map_cache *caches = kiln_os_allocate_aligned(64, size);
  if (caches)
    memset(caches, 0, size);
  return caches;
}

kiln_tensor_map_cache *kiln_tensor_map_cache_at(kiln_tensor_map_cache *caches, uint32_t index) {
  return &caches[index];
}

/* The numbers that a map depends on, and how many: base, extents, strides but the last. */
static uint32_t write_key(const kiln_tensor *tensor, uint64_t key[KEY_WORDS]) {
  uint32_t words = 0;
  key[words++] = (uintptr_t)tensor->base;
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    key[words++] = (uint64_t)tensor->shape[axis];
  for (uint32_t axis = 0; axis + 1 < tensor->rank; ++axis)
    key[words++] = (uint64_t)tensor->strides[axis];
  return words;
}

static uint32_t tag_of(const uint64_t key[KEY_WORDS], uint32_t words) {
  uint64_t sum = 0, factor = UINT64_C(0x9e3779b97f4a7c15);
  for (uint32_t i = 0; i < words; ++i, factor += UINT64_C(0xd1342543de82ef96))
    sum += key[i] * factor;
  return (uint32_t)(sum >> 32) | 1u;
}

static bool read_slot(const slot *from, const uint64_t key[KEY_WORDS], uint32_t words,
                      kiln_encoded_map *map) {
  uint64_t version;
  if (!kiln_begin_reading(&from->version, &version))
    return false;
  for (uint32_t i = 0; i < words; ++i)
    if (kiln_load_acquire(&from->key[i]) != key[i])
      return false;
  for (uint32_t i = 0; i < MAP_WORDS; ++i)
    map->words[i] = kiln_load_acquire(&from->map[i]);
  return kiln_end_reading(&from->version, version);
}

bool kiln_find_tensor_map(const kiln_tensor_map_cache *cache, const kiln_tensor *tensor,
                          kiln_encoded_map *map) {
  uint64_t key[KEY_WORDS];
  uint32_t words = write_key(tensor, key), tag = tag_of(key, words);
  for (uint32_t i = 0; i < KILN_KEPT_TENSOR_MAPS; ++i)
    if (__atomic_load_n(&cache->tags[i], __ATOMIC_RELAXED) == tag &&
        read_slot(&cache->slots[i], key, words, map))
      return true;
  return false;
}

void kiln_keep_tensor_map(kiln_tensor_map_cache *cache, const kiln_tensor *tensor,
                          const kiln_encoded_map *map) {
  uint64_t key[KEY_WORDS];
  uint32_t words = write_key(tensor, key);
  uint32_t at = __atomic_fetch_add(&cache->next, 1, __ATOMIC_RELAXED) % KILN_KEPT_TENSOR_MAPS;
  slot *to = &cache->slots[at];
  uint64_t version;
  if (!kiln_begin_writing(&to->version, &version))
    return;
  for (uint32_t i = 0; i < words; ++i)
    kiln_store_release(&to->key[i], key[i]);
  for (uint32_t i = 0; i < MAP_WORDS; ++i)
    kiln_store_release(&to->map[i], map->words[i]);
  kiln_end_writing(&to->version, version);
  __atomic_store_n(&cache->tags[at], tag_of(key, words), __ATOMIC_RELAXED);
}
