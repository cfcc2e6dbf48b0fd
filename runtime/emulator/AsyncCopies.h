// Asynchronous copies of a thread's own (cp.async).
//
// A copy lands as late as the program's own waits allow: its bytes are read and
// written when a wait asks for it, and until then the destination holds poison.
// So a missing or too weak wait gives a wrong result in every run, not in some.
//
// PTX ISA, "Data Movement: Non-bulk copy (cp.async, cp.async.commit_group,
// cp.async.wait_group)". AMD's of a warp (CDNA 4 ISA, "Memory Loads to LDS") have no groups: a wait
// is for all but so many of the last ones.

#ifndef KILN_RUNTIME_EMULATOR_ASYNCCOPIES_H
#define KILN_RUNTIME_EMULATOR_ASYNCCOPIES_H

#include "runtime/emulator/kiln_emu.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln::emulator {

class Block;
struct Thread;

struct AsyncCopy {
  void *to;
  const void *from;
  uint32_t bytes;  ///< written
  uint32_t copied; ///< read; the rest becomes zero
  const kiln_emu_site *site;
};

/// A thread's copies in flight.
struct AsyncCopies {
  std::vector<AsyncCopy> open;                ///< not in a group yet; a warp's, oldest first
  std::vector<std::vector<AsyncCopy>> groups; ///< oldest first
  size_t ofWarp = 0;                          ///< a warp's so far, while accesses are checked
};

/// Reads and writes the bytes of copies that the thread was waiting for, or somebody else for it.
void land(Thread &thread, const std::vector<AsyncCopy> &copies);

/// At the block's end: a warp's copies that it did not wait for, which could land in the memory of
/// the next block.
void reportUnfinishedCopies(Block &block);

} // namespace kiln::emulator

#endif
