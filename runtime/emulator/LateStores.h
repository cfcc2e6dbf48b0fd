// Stores to global memory that other blocks cannot see yet, while accesses are checked.
//
// A store becomes visible to other blocks as late as the program's own order allows: when something
// releases it to them. Until then it is kept here, and the block's own loads are answered from it.
// So a lock that is given up, or a flag that is set, while stores of other warps are in flight
// gives a wrong result in every run, not in some on real hardware.
//
// What a release covers differs. On NVIDIA it is cumulative: what its thread knows to have happened
// (PTX ISA, "Causality order"). So it is on RDNA, whose barriers wait for stores. On CDNA a wave
// waits for its own stores alone, and makes visible what has arrived in the device's cache: its
// own, and those of others that have waited for them (s_waitcnt vmcnt; LLVM, "User Guide for AMDGPU
// Backend", "Memory Model").

#ifndef KILN_RUNTIME_EMULATOR_LATESTORES_H
#define KILN_RUNTIME_EMULATOR_LATESTORES_H

#include "runtime/emulator/GranuleTable.h"
#include "runtime/emulator/WarpClocks.h"

namespace kiln::emulator {

class LateStores {
public:
  explicit LateStores(const WarpClocks &clocks) : clocks(clocks) {}

  void store(uint32_t warp, void *address, const void *value, uint32_t bytes);
  /// What the block sees at `address`.
  void load(const void *address, void *out, uint32_t bytes);

  /// The warp has waited for its stores: anybody's release is of them, too.
  void arrive(uint32_t warp);
  /// A release by `warp`: of its own stores, of those that have arrived, and, if that is how the
  /// target orders, of those that it knows of.
  void release(uint32_t warp, bool isCumulative);
  /// Those to these bytes: somebody works on memory itself.
  void deliverAt(const void *address, uint32_t bytes);
  void deliverAll();
  /// A thread waits for memory to change: stores need no release to become visible some day.
  void noteWait() {
    if (!entries.empty() && ++waits >= maxWaits)
      deliverAll();
  }

private:
  struct Entry {
    uintptr_t granule;
    uint64_t clock; ///< of the warp, at the first of the stores
    uint32_t warp;  ///< that made them
    uint32_t mask;  ///< bytes that are stored
    bool hasArrived;
    unsigned char data[granuleBytes];
  };
  static void deliver(Entry &entry);
  Entry *find(uintptr_t granule) {
    const uint32_t *place = granule < first || granule > last ? nullptr : places.find(granule);
    return place && *place ? &entries[*place - 1] : nullptr;
  }
  Entry &add(const Entry &entry);
  /// Delivers those that `isMeant`, and forgets them.
  template <typename IsMeant> void deliverIf(IsMeant isMeant);

  /// Early delivery is allowed: of so many granules some become visible.
  static constexpr size_t maxEntries = 1 << 14;

  /// Since the last store.
  static constexpr uint32_t maxWaits = 1 << 16;

  const WarpClocks &clocks;
  uint32_t waits = 0;
  std::vector<Entry> entries;
  GranuleTable<uint32_t> places; ///< in `entries`, counted from 1
  /// Where there are any.
  uintptr_t first = UINTPTR_MAX, last = 0;
};

} // namespace kiln::emulator

#endif
