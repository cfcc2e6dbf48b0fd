/*
 * What many threads read and write without waiting: words behind a version (Boehm, "Can Seqlocks
 * Get Along With Programming Language Memory Models?", 2012).
 *
 * The version is odd while a writer is at work; it comes before the words, which are stored by
 * release and loaded by acquire: a reader that sees one new word sees the new version, too, when it
 * asks again. A writer that finds another at work lets it be.
 */
#ifndef KILN_RUNTIME_SEQUENCE_LOCK_H
#define KILN_RUNTIME_SEQUENCE_LOCK_H

#include "runtime/driver.h"

/* Whether there is something to read. */
static inline bool kiln_begin_reading(const uint64_t *version, uint64_t *seen) {
  *seen = kiln_load_acquire(version);
  return *seen != 0 && *seen % 2 == 0;
}
/* Whether what was read is whole. */
static inline bool kiln_end_reading(const uint64_t *version, uint64_t seen) {
  return __atomic_load_n(version, __ATOMIC_RELAXED) == seen;
}

static inline bool kiln_begin_writing(uint64_t *version, uint64_t *seen) {
  *seen = __atomic_load_n(version, __ATOMIC_RELAXED);
  return *seen % 2 == 0 && __atomic_compare_exchange_n(version, seen, *seen + 1, false,
                                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
static inline void kiln_end_writing(uint64_t *version, uint64_t seen) {
  kiln_store_release(version, seen + 2);
}

#endif /* KILN_RUNTIME_SEQUENCE_LOCK_H */
