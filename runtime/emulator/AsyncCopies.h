// Asynchronous copies and the barriers in shared memory that track them.
//
// A copy lands as late as the program's own waits allow: its bytes are read and
// written when a wait asks for it, and until then the destination holds poison.
// So a missing or too weak wait gives a wrong result in every run, not in some.
//
// PTX ISA, "Data Movement: Non-bulk copy (cp.async, cp.async.commit_group,
// cp.async.wait_group)" and "Parallel Synchronization: mbarrier".

#ifndef KILN_RUNTIME_EMULATOR_ASYNCCOPIES_H
#define KILN_RUNTIME_EMULATOR_ASYNCCOPIES_H

#include "runtime/emulator/WarpClocks.h"
#include "runtime/emulator/kiln_emu.h"
#include <cstdint>
#include <map>
#include <vector>

namespace kiln::emulator {

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
  std::vector<AsyncCopy> open;                ///< not in a group yet
  std::vector<std::vector<AsyncCopy>> groups; ///< oldest first
};

/// An mbarrier object. The 64 bits in shared memory are opaque and stay poison.
struct MemoryBarrier {
  uint32_t count = 0;       ///< arrivals that complete a phase
  int32_t pending = 0;      ///< that are still to come in this one
  int64_t transactions = 0; ///< bytes still to come
  uint64_t phase = 0;       ///< number of completed phases
  /// Arrivals that wait for a thread's copies.
  struct Arrival {
    Thread *thread;
    std::vector<AsyncCopy> copies;
    bool counts; ///< the arrival was added to the pending count when it was made
  };
  std::vector<Arrival> arrivals;
  std::vector<Thread *> waiting;
  /// Of the warps that arrived, in this phase and in those that are complete; while accesses are
  /// checked.
  WarpClocks::Clock arrived, completed;
};

/// By offset in shared memory.
using MemoryBarriers = std::map<uint32_t, MemoryBarrier>;

} // namespace kiln::emulator

#endif
