// Before all else: memory from the system in large steps, and in large pages.
//
// A compilation takes a few megabytes and lasts a few hundredths of a second, of which a page of
// 4 KiB at a time, one fault each, takes a tenth. What is asked for ahead costs addresses, no
// memory.

#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr size_t stepBytes = 32 << 20;
constexpr uintptr_t pageBytes = 2 << 20;

/// In front of LLVM's own constructors, which allocate.
[[gnu::constructor(101)]] void useLargePages() {
  mallopt(M_TOP_PAD, stepBytes);
  // Blocks of the size of a page, too, and none of it goes back in between.
  mallopt(M_MMAP_THRESHOLD, stepBytes);
  mallopt(M_TRIM_THRESHOLD, 16 * stepBytes);
  // More than the heap begins with: it grows by a step.
  void *block = std::malloc(256 << 10);
  auto begin = (reinterpret_cast<uintptr_t>(block) + pageBytes - 1) & ~(pageBytes - 1);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  std::free(block);
  // Where the block does not come from there, nothing is known of the heap's place.
  if (block && begin < end && end - begin <= 2 * stepBytes)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
}

} // namespace
