/*
 * A thread's arenas stand on the heap, in a list of all: kiln_free_arenas frees those of threads
 * that live on. What these still point to is told by the generation, as their own variables are not
 * to be reached. A thread that ends frees its own, by the destructor of a key.
 */
#include "runtime/cpu_arena.h"
#include "runtime/mutex.h"

#include <stdlib.h>

enum { MAX_NESTING = 8, ARENA_ALIGNMENT = 64 };

typedef struct arena {
  void *base;
  uint64_t bytes;
} arena;

typedef struct thread_arenas {
  struct thread_arenas *next;
  arena levels[MAX_NESTING];
} thread_arenas;

static kiln_mutex mutex;
static thread_arenas *all_arenas;
static kiln_os_key key;
static bool has_key;
static atomic_uint generation; /* counts kiln_free_arenas */

static _Thread_local thread_arenas *own_arenas;
static _Thread_local unsigned own_generation;
static _Thread_local unsigned depth;

static void free_levels(thread_arenas *arenas) {
  for (int i = 0; i < MAX_NESTING; ++i)
    kiln_os_free_aligned(arenas->levels[i].base);
  free(arenas);
}

/* The key's destructor. What is no longer in the list has been freed. */
static void free_of_thread(void *pointer) {
  kiln_lock(&mutex);
  thread_arenas **link = &all_arenas;
  while (*link && *link != pointer)
    link = &(*link)->next;
  thread_arenas *found = *link;
  if (found)
    *link = found->next;
  kiln_unlock(&mutex);
  if (found)
    free_levels(found);
}

static kiln_status add_to_thread(void) {
  thread_arenas *fresh = calloc(1, sizeof *fresh);
  if (!fresh)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to record a thread's arenas");
  kiln_lock(&mutex);
  has_key = has_key || kiln_os_create_key(&key, free_of_thread);
  bool is_kept = has_key && kiln_os_set_key(key, fresh);
  if (is_kept) {
    fresh->next = all_arenas;
    all_arenas = fresh;
  }
  kiln_unlock(&mutex);
  if (!is_kept) {
    free(fresh);
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no key to free a thread's arenas by");
  }
  own_arenas = fresh;
  own_generation = atomic_load_explicit(&generation, memory_order_relaxed);
  return KILN_SUCCESS;
}

static kiln_status grow(arena *level, uint64_t bytes) {
  void *fresh = NULL;
  if (bytes <= SIZE_MAX / 2)
    fresh = kiln_os_allocate_aligned(ARENA_ALIGNMENT, (size_t)bytes);
  if (!fresh)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory for an arena of %llu bytes",
                      (unsigned long long)bytes);
  kiln_os_free_aligned(level->base);
  *level = (arena){.base = fresh, .bytes = bytes};
  return KILN_SUCCESS;
}

/* At its largest use an arena is only looked up. */
static kiln_status find_arena(uint64_t bytes, void **base) {
  kiln_status status = KILN_SUCCESS;
  if (!own_arenas || own_generation != atomic_load_explicit(&generation, memory_order_relaxed))
    status = add_to_thread();
  if (status != KILN_SUCCESS)
    return status;
  arena *level = &own_arenas->levels[depth];
  if (bytes > level->bytes)
    status = grow(level, bytes);
  *base = level->base;
  return status;
}

kiln_status kiln_acquire_arena(uint64_t bytes, void **base) {
  *base = NULL;
  if (depth >= MAX_NESTING)
    return kiln_error(KILN_ERROR_UNSUPPORTED, "launches are nested more than %d deep on the cpu",
                      MAX_NESTING);
  kiln_status status = bytes ? find_arena(bytes, base) : KILN_SUCCESS;
  if (status == KILN_SUCCESS)
    ++depth;
  return status;
}

void kiln_release_arena(void) { --depth; }

void kiln_free_arenas(void) {
  kiln_lock(&mutex);
  thread_arenas *arenas = all_arenas;
  all_arenas = NULL;
  atomic_fetch_add(&generation, 1);
  bool had_key = has_key;
  has_key = false;
  kiln_unlock(&mutex);
  if (had_key) /* which may call free_of_thread */
    kiln_os_delete_key(key);
  while (arenas) {
    thread_arenas *next = arenas->next;
    free_levels(arenas);
    arenas = next;
  }
}
