/*
 * The variants that calls have chosen lately: a program mostly comes back with the same shapes.
 *
 * A binding of an entry that compares variants has a table of slots, two for each value of a sum of
 * a call's words. Every word of a slot is atomic; readers and writers never wait (sequence_lock.h).
 */
#ifndef KILN_RUNTIME_CHOICE_CACHE_H
#define KILN_RUNTIME_CHOICE_CACHE_H

#include "runtime/kiln_records.h"

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Words of a binding's table, all of which are zero at first. */
size_t kiln_choice_cache_words(const kiln_entry *entry);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_CHOICE_CACHE_H */
