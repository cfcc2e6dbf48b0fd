// What is known about every byte of a block's shared memory while accesses are checked: whether it
// was written, who touched it last, and whether an asynchronous copy to it is under way.
//
// Two accesses of different threads, one of them a write, race unless a barrier orders them:
// WarpClocks.h across warps, the warp's own barriers within one.

#ifndef KILN_RUNTIME_EMULATOR_SHAREDSHADOW_H
#define KILN_RUNTIME_EMULATOR_SHAREDSHADOW_H

#include "runtime/emulator/WarpClocks.h"
#include "runtime/emulator/kiln_emu.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace kiln::emulator {

/// When and by whom.
struct Moment {
  uint64_t clock = 0;     ///< the warp's own; 0 = never
  uint32_t warpEpoch = 0; ///< barriers of the warp before
  uint16_t thread = 0, warp = 0;
  const kiln_emu_site *site = nullptr;
};

/// An earlier access that nothing orders with a later one, or a copy that nobody has waited for.
struct Conflict {
  Moment before;
  bool isCopy = false;
};

class SharedShadow {
public:
  explicit SharedShadow(const WarpClocks &clocks) : clocks(clocks) {}
  /// Begins a block, whose clocks have begun.
  void reset(uint32_t bytes) { cells.resize(std::max<size_t>(cells.size(), bytes)); }

  /// Records a read (or write) of these bytes at `now`; the earlier access that it races with.
  std::optional<Conflict> read(uint32_t offset, uint32_t bytes, const Moment &now,
                               bool *initialised);
  std::optional<Conflict> write(uint32_t offset, uint32_t bytes, const Moment &now);

  /// An asynchronous copy to these bytes begins, or has landed.
  void beginCopy(uint32_t offset, uint32_t bytes, const Moment &now);
  void endCopy(uint32_t offset, uint32_t bytes);

private:
  struct Cell {
    Moment writer;
    /// The last read, and another by a different thread that nothing orders with it.
    Moment reader, otherReader;
    /// When a copy to it began that has not landed.
    Moment copy;
  };
  bool conflicts(const Moment &before, const Moment &now) const;

  const WarpClocks &clocks;
  std::vector<Cell> cells;
};

} // namespace kiln::emulator

#endif
