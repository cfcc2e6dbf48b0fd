/*
 * Scratch memory of the threads that run kernels on the CPU.
 *
 * Arenas belong to threads, not to pools: any thread may launch. An instance that launches again
 * needs a second arena beside its own, hence the nesting depth.
 */
#ifndef KILN_RUNTIME_CPU_ARENA_H
#define KILN_RUNTIME_CPU_ARENA_H

#include "runtime/error.h"
#include "runtime/kiln.h"

#pragma GCC visibility push(hidden)

/* The calling thread's arena of its current depth, of at least `bytes`, 64-byte aligned; null for 0
 * bytes. Errors: KILN_ERROR_UNSUPPORTED (nested too deep), KILN_ERROR_OUT_OF_MEMORY. */
kiln_status kiln_acquire_arena(uint64_t bytes, void **base);
void kiln_release_arena(void);

/* Frees the arenas of all threads; none may be in use. */
void kiln_free_arenas(void);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_CPU_ARENA_H */
