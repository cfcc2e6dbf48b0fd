// What atomic operations and fences order between the warps of a block, for the race check.
//
// As in C++: a release, or a relaxed atomic operation after a release fence, leaves at its address
// what its warp knows; an acquire there, or a relaxed operation with an acquire fence after it,
// takes that over. Relaxed operations order nothing. Warps stand for their lanes, as with barriers
// and mbarriers: what one lane releases counts for all. An order that comes back by way of another
// block is not seen.
//
// A barrier of AMD, s_barrier, orders nothing by itself: it is as a relaxed operation of all the
// block's warps, with fences in front and behind. A fence may be of shared memory alone, or of
// reads of global memory before writes.

#ifndef KILN_RUNTIME_EMULATOR_ATOMICORDER_H
#define KILN_RUNTIME_EMULATOR_ATOMICORDER_H

#include "runtime/emulator/WarpClocks.h"
#include "runtime/emulator/kiln_emu.h"
#include <unordered_map>

namespace kiln::emulator {

inline bool acquires(uint32_t ordering) { return ordering & KILN_EMU_ACQUIRE; }
inline bool releases(uint32_t ordering) { return ordering & KILN_EMU_RELEASE; }

class AtomicOrder {
public:
  explicit AtomicOrder(WarpClocks &clocks) : clocks(clocks) {}

  void reset(uint32_t numWarps) {
    published.clear();
    warps.assign(numWarps, Fences());
  }
  /// Behind a barrier of the whole block, which orders all that was before.
  void forget() { reset(uint32_t(warps.size())); }

  /// `space`: KILN_EMU_GLOBAL orders everything.
  void fence(uint32_t warp, uint32_t ordering, uint32_t space) {
    if (space != KILN_EMU_GLOBAL) {
      WarpClocks::Part part =
          space == KILN_EMU_SHARED ? &WarpClocks::Clock::shared : &WarpClocks::Clock::reads;
      if (acquires(ordering))
        clocks.acquirePart(warp, warps[warp].read, part);
      if (releases(ordering))
        clocks.releasePart(warp, warps[warp].released, part);
      return;
    }
    if (acquires(ordering))
      clocks.acquire(warp, warps[warp].read);
    if (releases(ordering)) {
      warps[warp].released.clear();
      clocks.release(warp, warps[warp].released);
    }
  }

  /// The first warps, so many, meet at a barrier that orders nothing by itself.
  void meet(uint32_t count) {
    WarpClocks::Clock all;
    for (uint32_t warp = 0; warp < count; ++warp)
      WarpClocks::join(all, warps[warp].released);
    for (uint32_t warp = 0; warp < count; ++warp)
      WarpClocks::join(warps[warp].read, all);
  }

  /// An atomic operation that reads and writes `address`.
  void update(uint32_t warp, uintptr_t address, uint32_t ordering) {
    Fences &fences = warps[warp];
    if (auto mark = published.find(address); mark != published.end()) {
      if (acquires(ordering))
        clocks.acquire(warp, mark->second);
      else
        WarpClocks::join(fences.read, mark->second);
    }
    if (releases(ordering))
      clocks.release(warp, published[address]);
    else if (!fences.released.empty())
      WarpClocks::join(published[address], fences.released);
  }

private:
  struct Fences {
    /// What the last release fence releases; what was read since and an acquire fence takes over.
    WarpClocks::Clock released, read;
  };

  WarpClocks &clocks;
  std::unordered_map<uintptr_t, WarpClocks::Clock> published; ///< by address
  std::vector<Fences> warps;
};

} // namespace kiln::emulator

#endif
