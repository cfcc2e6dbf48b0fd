// mbarrier objects: barriers in shared memory that threads arrive at and asynchronous copies
// complete transactions on.
//
// Copies land as late as the program allows: when a thread looks at an mbarrier and its phase lacks
// nothing but them. So a wait for the wrong phase, or none, finds poison in every run.
//
// PTX ISA, "Parallel Synchronization: mbarrier".

#ifndef KILN_RUNTIME_EMULATOR_MEMORYBARRIERS_H
#define KILN_RUNTIME_EMULATOR_MEMORYBARRIERS_H

#include "runtime/emulator/AccessHistory.h"
#include "runtime/emulator/AsyncCopies.h"
#include "runtime/emulator/TensorCopies.h"
#include <map>
#include <string>

namespace kiln::emulator {

class Block;
struct Thread;

/// The 64 bits in shared memory are opaque and stay poison.
struct MemoryBarrier {
  static constexpr uint32_t noSource = ~0u, bytes = 8, maxCount = (1 << 20) - 1;

  uint32_t count = 0;       ///< arrivals that complete a phase; 0: it is not initialised
  int32_t pending = 0;      ///< that are still to come in this one
  int64_t transactions = 0; ///< bytes still to come
  uint64_t phase = 0;       ///< number of completed phases
  /// Arrivals that wait for a thread's copies.
  struct Arrival {
    Thread *thread;
    std::vector<AsyncCopy> copies;
  };
  std::vector<Arrival> arrivals;
  /// That complete transactions when they land; oldest first.
  std::vector<TensorCopy> loads;
  std::vector<Thread *> waiting;
  /// Of the warps that arrived, in this phase and in those that are complete; while accesses are
  /// checked.
  WarpClocks::Clock arrived, completed;
  uint32_t source = noSource; ///< of the clocks, for what lands
  /// When it was initialised, and when its thread fenced that for the async proxy; while accesses
  /// are checked.
  Moment initialised, fenced;
};

/// By offset in shared memory.
using MemoryBarriers = std::map<uint32_t, MemoryBarrier>;

/// The mbarrier that was initialised at `address`, perhaps of another block of the cluster; else
/// the block has ended.
MemoryBarrier &barrierAt(Thread &self, const kiln_emu_site *site, const void *address);

/// A copy to `block` that `self` sets going will complete its bytes' transactions there.
void track(Block &block, Thread &self, MemoryBarrier &barrier, const TensorCopy &copy);

/// What the thread initialised so far, asynchronous copies see behind the next synchronisation.
void fenceInitialisations(Thread &self);

/// "; the mbarrier at offset 64 lacks 1 arrival and 512 bytes of copies": those that threads wait
/// for.
std::string describeWaitedFor(const MemoryBarriers &barriers);

/// At the block's end: copies that nobody waited for.
void reportUnfinished(Block &block);

} // namespace kiln::emulator

#endif
