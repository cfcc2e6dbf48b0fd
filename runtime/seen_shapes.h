/*
 * Which shapes an entry was called with: counted where a program asks for it, so that tuning can
 * begin with what it does.
 */
#ifndef KILN_RUNTIME_SEEN_SHAPES_H
#define KILN_RUNTIME_SEEN_SHAPES_H

#include "runtime/kiln.h"

#pragma GCC visibility push(hidden)

/* Of an entry's state. No call may be under way. */
void kiln_free_seen_shapes(void *seen);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_SEEN_SHAPES_H */
