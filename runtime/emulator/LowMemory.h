// Memory with wishes: stacks with a guard page, and memory below 4 GiB.

#ifndef KILN_RUNTIME_EMULATOR_LOWMEMORY_H
#define KILN_RUNTIME_EMULATOR_LOWMEMORY_H

#include <cstddef>

namespace kiln::emulator {

/// `bytes` of memory whose lowest page may not be touched, so that an overflow faults; null if
/// there is none.
char *allocateStack(size_t bytes);
void freeStack(char *stack, size_t bytes);

/// Memory whose addresses fit 32 bits, as shared memory's do on a GPU, at a multiple of `alignment`
/// (a power of two, of whole pages); null if there is none.
char *allocateLow(size_t bytes, size_t alignment);
void freeLow(char *memory, size_t bytes);

} // namespace kiln::emulator

#endif
