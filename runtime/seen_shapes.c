/* Counting calls by dispatch key and conditions: a hash table for each entry, behind one lock. */
#include "runtime/seen_shapes.h"

#include "runtime/binding.h"
#include "runtime/mutex.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_BUCKETS = 4096, MAX_SHAPES = 1 << 20 };

typedef struct seen_shape {
  struct seen_shape *next;
  uint64_t calls, misses;
  uint64_t words[]; /* the key's values, then the conditions that hold */
} seen_shape;

typedef struct seen_shapes {
  bool is_counting;
  uint32_t num_keys, num_words; /* words of conditions: known at the first call */
  uint32_t num_shapes;
  uint64_t uncounted; /* calls for whose shape there was no room */
  seen_shape *buckets[NUM_BUCKETS];
} seen_shapes;

static kiln_mutex counting;

/* FNV-1a by words. */
static uint32_t bucket_of(const uint64_t *words, uint32_t count) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (uint32_t i = 0; i < count; ++i)
    hash = (hash ^ words[i]) * UINT64_C(1099511628211);
  return (uint32_t)((hash ^ hash >> 32) % NUM_BUCKETS);
}

static seen_shape *find_or_add(seen_shapes *seen, const uint64_t *words, uint32_t count) {
  seen_shape **place = &seen->buckets[bucket_of(words, count)];
  for (seen_shape *shape = *place; shape; shape = shape->next)
    if (memcmp(shape->words, words, count * sizeof *words) == 0)
      return shape;
  seen_shape *shape =
      seen->num_shapes < MAX_SHAPES ? calloc(1, sizeof *shape + count * sizeof *words) : NULL;
  if (!shape)
    return NULL;
  memcpy(shape->words, words, count * sizeof *words);
  shape->next = *place;
  *place = shape;
  ++seen->num_shapes;
  return shape;
}

void kiln_see_shape(const kiln_call *call, const int64_t *key, const uint64_t *held,
                    uint32_t num_words, int is_miss) {
  seen_shapes *seen = call->seen;
  uint32_t num_keys = call->entry->key->num_keys;
  uint64_t words[num_keys + num_words];
  memcpy(words, key, num_keys * sizeof *words);
  if (num_words)
    memcpy(words + num_keys, held, num_words * sizeof *words);
  kiln_lock(&counting);
  if (seen->is_counting) {
    seen->num_words = num_words;
    seen_shape *shape = find_or_add(seen, words, num_keys + num_words);
    if (!shape)
      ++seen->uncounted;
    else if (is_miss)
      ++shape->misses;
    else
      ++shape->calls;
  }
  kiln_unlock(&counting);
}

void kiln_free_seen_shapes(void *state) {
  seen_shapes *seen = state;
  for (uint32_t i = 0; seen && i < NUM_BUCKETS; ++i)
    while (seen->buckets[i]) {
      seen_shape *next = seen->buckets[i]->next;
      free(seen->buckets[i]);
      seen->buckets[i] = next;
    }
  free(seen);
}

/* Under the lock. */
static kiln_status count_entry(const kiln_entry *entry, bool count) {
  seen_shapes *seen = entry->state->seen;
  if (!seen && count) {
    seen = calloc(1, sizeof *seen);
    if (!seen)
      return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "%s: no memory to count its calls", entry->name);
    seen->num_keys = entry->key->num_keys;
  }
  if (seen)
    seen->is_counting = count;
  kiln_store_release(&entry->state->seen, (void *)seen);
  return KILN_SUCCESS;
}

kiln_status kiln_count_shapes(const kiln_library *library, int count) {
  kiln_status status = kiln_check_abi(library);
  if (status != KILN_SUCCESS)
    return status;
  kiln_lock(&counting);
  for (uint32_t i = 0; status == KILN_SUCCESS && i < library->num_entries; ++i)
    if (library->entries[i]->key)
      status = count_entry(library->entries[i], count);
  kiln_unlock(&counting);
  return status;
}

/* --- writing --- */

/* Behind the length, which is the same for all. */
typedef struct sorted_shape {
  const seen_shape *shape;
  uint32_t num_keys, num_words;
} sorted_shape;

static int compare(const void *left, const void *right) {
  const sorted_shape *a = left, *b = right;
  for (uint32_t i = 0; i < a->num_keys; ++i)
    if (a->shape->words[i] != b->shape->words[i])
      return (int64_t)a->shape->words[i] < (int64_t)b->shape->words[i] ? -1 : 1;
  return memcmp(a->shape->words + a->num_keys, b->shape->words + b->num_keys,
                a->num_words * sizeof(uint64_t));
}

static void write_shape(FILE *file, const kiln_dispatch_key *key, const sorted_shape *sorted,
                        bool is_first) {
  const seen_shape *shape = sorted->shape;
  fprintf(file, "%s\n{\"shape\": {", is_first ? "" : ",");
  for (uint32_t i = 0; i < key->num_keys; ++i)
    fprintf(file, "%s\"%s\": %" PRId64, i ? ", " : "", key->names[i], (int64_t)shape->words[i]);
  fprintf(file, "}, \"conditions\": [");
  for (uint32_t i = 0; i < sorted->num_words; ++i)
    fprintf(file, "%s\"0x%" PRIx64 "\"", i ? ", " : "", shape->words[key->num_keys + i]);
  fprintf(file, "], \"calls\": %" PRIu64 ", \"misses\": %" PRIu64 "}", shape->calls, shape->misses);
}

static kiln_status write_entry(FILE *file, const kiln_entry *entry, bool is_first) {
  const seen_shapes *seen = entry->state->seen;
  sorted_shape *sorted = malloc((seen->num_shapes + (size_t)1) * sizeof *sorted);
  uint32_t count = 0;
  if (!sorted)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "%s: no memory to sort its shapes", entry->name);
  for (uint32_t i = 0; i < NUM_BUCKETS; ++i)
    for (const seen_shape *shape = seen->buckets[i]; shape; shape = shape->next)
      sorted[count++] = (sorted_shape){shape, seen->num_keys, seen->num_words};
  qsort(sorted, count, sizeof *sorted, compare);
  fprintf(file, "%s\n{\"entry\": \"%s\", \"uncounted\": %" PRIu64 ", \"shapes\": [",
          is_first ? "" : ",", entry->name, seen->uncounted);
  for (uint32_t i = 0; i < count; ++i)
    write_shape(file, entry->key, &sorted[i], i == 0);
  fprintf(file, "]}");
  free(sorted);
  return KILN_SUCCESS;
}

static kiln_status write_library(FILE *file, const kiln_library *library) {
  bool is_first = true;
  kiln_status status = KILN_SUCCESS;
  fprintf(file, "{\"kiln_shapes\": 1, \"library\": \"%s\", \"entries\": [", library->name);
  kiln_lock(&counting);
  for (uint32_t i = 0; status == KILN_SUCCESS && i < library->num_entries; ++i) {
    if (!library->entries[i]->state->seen)
      continue;
    status = write_entry(file, library->entries[i], is_first);
    is_first = false;
  }
  kiln_unlock(&counting);
  fprintf(file, "]}\n");
  return status;
}

static kiln_status cannot_write(const char *path, int error) {
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: cannot be written: %s", path,
                    strerror(error));
}

/* Beside the file at first, so that it is there whole or not at all. */
static kiln_status write_to(const kiln_library *library, const char *path, const char *beside) {
  FILE *file = fopen(beside, "wb");
  if (!file)
    return cannot_write(beside, errno);
  kiln_status status = write_library(file, library);
  bool is_whole = !ferror(file);
  is_whole &= fclose(file) == 0;
  if (status == KILN_SUCCESS && !is_whole)
    status = cannot_write(path, errno);
  int error = status == KILN_SUCCESS ? kiln_os_replace_file(beside, path) : 0;
  if (error)
    status = cannot_write(path, error);
  if (status != KILN_SUCCESS)
    remove(beside);
  return status;
}

kiln_status kiln_dump_shapes(const kiln_library *library, const char *path) {
  kiln_status status = kiln_check_abi(library);
  if (status != KILN_SUCCESS)
    return status;
  if (!path)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "kiln_dump_shapes: the path is null");
  size_t length = strlen(path) + sizeof ".part";
  char *beside = malloc(length);
  if (!beside)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "%s: no memory for its name", path);
  snprintf(beside, length, "%s.part", path);
  status = write_to(library, path, beside);
  free(beside);
  return status;
}
