/*
 * Memory that a kernel needs for the time of one launch, beyond its arguments: kiln_binary's
 * scratch_bytes on GPUs, arena_bytes on the CPU. It comes from the program's allocator
 * (kiln_set_scratch_allocator), else from the driver or, on the CPU, from arenas of the threads.
 */
#ifndef KILN_RUNTIME_SCRATCH_H
#define KILN_RUNTIME_SCRATCH_H

#include "runtime/driver.h"

#pragma GCC visibility push(hidden)

enum { KILN_DEVICE_SCRATCH_ALIGNMENT = 256, KILN_CPU_SCRATCH_ALIGNMENT = 64 };

typedef struct kiln_scratch {
  void *memory; /* null: the program has no allocator, and a launch takes what there is without */
  kiln_scratch_request request;
  kiln_release_function release; /* null: the driver's own */
  void *user;
} kiln_scratch;

/* Not zero while the program has an allocator. */
extern uint32_t kiln_has_scratch_allocator;

/* Memory of the program's allocator for one launch of `kernel`, which kiln_release_scratch gives
 * back; null if it has none (any more). Errors: KILN_ERROR_OUT_OF_MEMORY, _INVALID_ARGUMENT (the
 * allocator's answer), and those of a driver that is asked for the stream's device. */
kiln_status kiln_acquire_scratch(const kiln_kernel *kernel, kiln_stream stream, uint64_t bytes,
                                 uint64_t alignment, kiln_scratch *scratch);

/* The same for a GPU with `grid` blocks, with the driver's memory where the program has no
 * allocator. Also: KILN_ERROR_UNSUPPORTED. */
kiln_status kiln_acquire_device_scratch(const kiln_kernel *kernel, kiln_stream stream,
                                        const uint32_t grid[3], kiln_scratch *scratch);

/* When the launch has been made: what comes later on its stream may use the memory. */
void kiln_release_scratch(const kiln_scratch *scratch);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_SCRATCH_H */
