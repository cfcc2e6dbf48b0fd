/*
 * The variants that calls have chosen lately: a program mostly comes back with the same shapes.
 *
 * A binding of an entry that compares variants has a table of slots, four for each value of a hash
 * of a call's words. Every word of a slot is atomic; readers and writers never wait
 * (sequence_lock.h).
 *
 * What is asked for the first time only leaves a mark, and is kept when it is asked for again: so
 * shapes that never come again cost little, and take no other's place. The marks, and those of what
 * is kept, lie apart from the slots: 32 KiB, of which a new shape touches one line.
 */
#ifndef KILN_RUNTIME_CHOICE_CACHE_H
#define KILN_RUNTIME_CHOICE_CACHE_H

#include "runtime/kiln_records.h"

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Words of a binding's table, which is aligned to 16 bytes, and zero at first. */
size_t kiln_choice_cache_words(const kiln_entry *entry);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_CHOICE_CACHE_H */
