/*
 * The memory that kernels on an emulated GPU may access, as programs register it.
 */
#ifndef KILN_RUNTIME_EMULATOR_RANGES_H
#define KILN_RUNTIME_EMULATOR_RANGES_H

#include "runtime/emulated_launch.h"

#pragma GCC visibility push(hidden)

/* Starts empty: all zero. */
typedef struct kiln_ranges {
  kiln_emulated_range *ranges; /* sorted by address, apart from each other */
  uint32_t number, capacity;
} kiln_ranges;

/* Errors: KILN_ERROR_INVALID_ARGUMENT (overlapping one that is there), KILN_ERROR_OUT_OF_MEMORY. */
kiln_status kiln_ranges_add(kiln_ranges *ranges, const void *memory, size_t bytes);
/* The one that begins at `memory`, or null. */
kiln_emulated_range *kiln_ranges_find(const kiln_ranges *ranges, const void *memory);
void kiln_ranges_remove(kiln_ranges *ranges, kiln_emulated_range *range);
void kiln_ranges_clear(kiln_ranges *ranges);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_EMULATOR_RANGES_H */
