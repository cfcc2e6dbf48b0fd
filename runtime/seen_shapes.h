/*
 * Which shapes an entry was called with: counted where a program asks for it, so that tuning can
 * begin with what it does.
 */
#ifndef KILN_RUNTIME_SEEN_SHAPES_H
#define KILN_RUNTIME_SEEN_SHAPES_H

#include "runtime/kiln.h"

/* Of an entry's state. No call may be under way. */
void kiln_free_seen_shapes(void *seen);

#endif /* KILN_RUNTIME_SEEN_SHAPES_H */
