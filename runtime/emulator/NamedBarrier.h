// A barrier of a block, or of some of its warps (bar.sync, bar.arrive).
//
// PTX ISA, "Parallel Synchronization: bar, barrier". A barrier of all threads is one place of the
// program. One that counts its threads is met by roles: each warp at a place of its own, where it
// waits or only arrives.

#ifndef KILN_RUNTIME_EMULATOR_NAMEDBARRIER_H
#define KILN_RUNTIME_EMULATOR_NAMEDBARRIER_H

#include "runtime/emulator/WarpClocks.h"
#include "runtime/emulator/kiln_emu.h"
#include <vector>

namespace kiln::emulator {

struct NamedBarrier {
  /// What a warp does at a barrier that counts its threads.
  struct Visit {
    const kiln_emu_site *site = nullptr;
    uint64_t lanes = 0;
  };

  uint32_t arrived = 0, expected = 0;  ///< threads
  bool isCounted = false;              ///< by the program: else all threads of the block
  bool isExecutionAlone = false;       ///< what it orders fences say (AtomicOrder.h)
  const kiln_emu_site *site = nullptr; ///< of the first
  std::vector<uint64_t> waiting;       ///< lanes of each warp
  std::vector<Visit> visits;           ///< by warp
  WarpClocks::Clock released;          ///< by those that do not wait; while accesses are checked

  /// Begins a block.
  void reset(size_t warps) {
    arrived = 0;
    waiting.assign(warps, 0);
    visits.assign(warps, Visit());
    released.clear();
  }
  /// The first of `count` threads comes.
  void begin(const kiln_emu_site *first, uint32_t count, bool counts) {
    site = first;
    expected = count;
    isCounted = counts;
    if (counts)
      visits.assign(visits.size(), Visit());
  }
};

} // namespace kiln::emulator

#endif
