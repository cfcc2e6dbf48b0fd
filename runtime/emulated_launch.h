/*
 * What a launch on an emulated GPU carries to the code that emulates it: written by the emulator
 * driver (emulator_driver.c), read by runtime/emulator, which only libraries with emulated binaries
 * link. The generated host function receives it in place of an arena.
 */
#ifndef KILN_RUNTIME_EMULATED_LAUNCH_H
#define KILN_RUNTIME_EMULATED_LAUNCH_H

#include "runtime/kiln.h"

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

/* A memory range that kernels may access, as kiln_emulator_register was told. */
typedef struct kiln_emulated_range {
  uintptr_t first, end; /* end is one past the last byte */
  char *name;           /* null: none was given */
  uint64_t unwritten;   /* what stands where nobody has written; 0: not known */
} kiln_emulated_range;

typedef struct kiln_emulated_launch {
  kiln_emulator *emulator;
  const char *entry; /* for messages */
  kiln_host_function host;
  void *const *params;
  const kiln_param *parameters; /* what params point to */
  uint32_t num_parameters;
  uint32_t cluster;       /* blocks that run an instance together; 0 counts as 1 */
  uint32_t threads;       /* per block, as the launcher says */
  uint32_t dynamic_bytes; /* of shared memory, as the launcher says */
  uint32_t max_shared;    /* bytes of shared memory that a block can have */
  uint32_t check;         /* whether accesses are checked against ranges and each other */
  uint32_t count;         /* whether to count */
  const kiln_emulated_range *ranges; /* sorted by address; empty: any address */
  uint32_t num_ranges;
  uint32_t stopped;  /* atomic: no further block starts */
  uint32_t findings; /* atomic: reports made */
} kiln_emulated_launch;

/* Records what was found at `place` (a static record of the generated code; with `kind` it tells
 * one finding from another, so that each is reported once). The message is copied. */
void kiln_emulated_report(kiln_emulated_launch *launch, const void *place, int kind,
                          const char *message);

/* Adds what was counted in a block of the kernel that `code` (a static record of the generated
 * code) tells apart from others: kernel->num_counts counts. */
void kiln_emulated_count(kiln_emulated_launch *launch, const void *code,
                         const kiln_emulator_kernel *kernel, const kiln_emulator_count *counts);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_EMULATED_LAUNCH_H */
