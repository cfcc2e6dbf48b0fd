/*
 * What an emulator has counted: for each kernel, sums over its launches.
 */
#ifndef KILN_RUNTIME_EMULATOR_COUNTS_H
#define KILN_RUNTIME_EMULATOR_COUNTS_H

#include "runtime/kiln.h"

#pragma GCC visibility push(hidden)

typedef struct kiln_counted_kernel {
  const void *code; /* its static record, which tells kernels apart */
  kiln_emulator_kernel kernel;
  kiln_emulator_count *counts; /* kernel.num_counts */
} kiln_counted_kernel;

/* Starts empty: all zero. */
typedef struct kiln_counts {
  kiln_counted_kernel *kernels;
  uint32_t num_kernels;
} kiln_counts;

/* Adds one block. Without memory for a kernel that is new, nothing is counted of it. */
void kiln_counts_add(kiln_counts *counts, const void *code, const kiln_emulator_kernel *kernel,
                     const kiln_emulator_count *block);
void kiln_counts_clear(kiln_counts *counts);

uint32_t kiln_counts_number(const kiln_counts *counts);
/* Null if out of range. */
const kiln_emulator_count *kiln_counts_at(const kiln_counts *counts, uint32_t index);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_EMULATOR_COUNTS_H */
