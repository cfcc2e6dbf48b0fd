#include "runtime/emulator/LowMemory.h"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace kiln::emulator {

static char *map(void *hint, size_t bytes, int flags) {
  void *memory =
      mmap(hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char *>(memory);
}

char *allocateStack(size_t bytes) {
  char *stack = map(nullptr, bytes, MAP_NORESERVE | MAP_STACK);
  if (stack)
    mprotect(stack, size_t(sysconf(_SC_PAGESIZE)), PROT_NONE);
  return stack;
}

void freeStack(char *stack, size_t bytes) {
  if (stack)
    munmap(stack, bytes);
}

static char *mapLow(size_t bytes) {
#ifdef MAP_32BIT
  if (char *memory = map(nullptr, bytes, MAP_32BIT))
    return memory;
#endif
  // Where the system has no such flag: the first free place above 256 MiB that it lets us have.
  constexpr uint64_t limit = uint64_t(1) << 32, step = 1 << 24;
  for (uint64_t place = uint64_t(1) << 28; place + bytes <= limit; place += step) {
    char *memory = map(reinterpret_cast<void *>(uintptr_t(place)), bytes, 0);
    if (memory && reinterpret_cast<uintptr_t>(memory) + bytes <= limit)
      return memory;
    freeLow(memory, bytes);
  }
  return nullptr;
}

char *allocateLow(size_t bytes, size_t alignment) {
  char *memory = mapLow(bytes + alignment);
  if (!memory)
    return nullptr;
  size_t before = (alignment - reinterpret_cast<uintptr_t>(memory) % alignment) % alignment;
  freeLow(before ? memory : nullptr, before);
  freeLow(memory + before + bytes, alignment - before);
  return memory + before;
}

void freeLow(char *memory, size_t bytes) {
  if (memory)
    munmap(memory, bytes);
}

} // namespace kiln::emulator
