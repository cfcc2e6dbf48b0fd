/* The thread pool that runs a kernel's program instances on the CPU; see kiln_cpu_pool_create in
 * kiln.h. */
#ifndef KILN_RUNTIME_CPU_POOL_H
#define KILN_RUNTIME_CPU_POOL_H

#include "runtime/error.h"
#include "runtime/kiln.h"

#pragma GCC visibility push(hidden)

/* The default pool, made at the first call. */
kiln_status kiln_default_pool(kiln_cpu_pool **pool);

/* Runs `function` for every program of `grid` (none of it zero) and returns when all are done.
 * Each thread that takes part has an arena: a part of `arenas`, kiln_cpu_pool_arena_bytes at a
 * multiple of 64, or its own where that is null. KILN_ERROR_LAUNCH after a kiln_device_fail in one
 * of the programs: others may then be left out. */
kiln_status kiln_cpu_pool_run(kiln_cpu_pool *pool, kiln_host_function function,
                              const uint32_t grid[3], void *const *params, uint64_t arena_bytes,
                              void *arenas);

/* What arenas of `arena_bytes` for all threads of the pool take together. */
uint64_t kiln_cpu_pool_arena_bytes(const kiln_cpu_pool *pool, uint64_t arena_bytes);

/* Stops the default pool, as at process start. */
void kiln_close_default_pool(void);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_CPU_POOL_H */
