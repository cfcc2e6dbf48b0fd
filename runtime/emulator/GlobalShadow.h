// Who accessed global memory last, of the threads of a block, while accesses are checked.
//
// Arrays are large and a block touches little of them, so histories are kept by granule, in a hash
// table, and each is of as many bytes as the accesses there have been of: 16 at first, and parts of
// a granule once a part is accessed. What lies behind a barrier of the whole block cannot race any
// more and is forgotten. Blocks run apart: what orders them is not looked at.

#ifndef KILN_RUNTIME_EMULATOR_GLOBALSHADOW_H
#define KILN_RUNTIME_EMULATOR_GLOBALSHADOW_H

#include "runtime/emulator/AccessHistory.h"
#include "runtime/emulator/GranuleTable.h"

namespace kiln::emulator {

class GlobalShadow {
public:
  explicit GlobalShadow(const WarpClocks &clocks) : clocks(clocks) {}

  /// Begins a block, or what comes after a barrier of all of it.
  void forget();

  /// Records an access to these bytes at `now`; the earlier one that it races with.
  std::optional<Moment> add(uintptr_t address, uint32_t bytes, const Moment &now) {
    return add(address, bytes, now, now);
  }
  /// The same for a copy, which begins at `now` and is over at `end`.
  std::optional<Moment> add(uintptr_t address, uint32_t bytes, const Moment &now,
                            const Moment &end);

private:
  struct Granule {
    uint32_t first = 0;     ///< of its histories
    uint32_t partBytes = 0; ///< of each; 0: there is none yet
  };
  /// Makes the parts of a granule so small that both ends are between two of them.
  void split(Granule &granule, uint32_t begin, uint32_t end);

  /// What a block touches between two barriers and is remembered: 4 MiB.
  static constexpr size_t maxRows =
      (4 << 20) / (granuleBytes * GranuleTable<Granule>::granulesOfRow);

  const WarpClocks &clocks;
  GranuleTable<Granule> granules;
  std::vector<AccessHistory> histories;
};

} // namespace kiln::emulator

#endif
