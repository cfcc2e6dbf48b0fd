// What is known about every byte of a block's shared memory while accesses are checked: whether it
// was written, and who touched it last.
//
// Two accesses of different threads, one of them a write, race unless a barrier lies between: a
// block's barrier ends an epoch of the block, a warp's barrier one of the warp.

#ifndef KILN_RUNTIME_EMULATOR_SHAREDSHADOW_H
#define KILN_RUNTIME_EMULATOR_SHAREDSHADOW_H

#include "runtime/emulator/kiln_emu.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace kiln::emulator {

/// When and by whom.
struct Moment {
  uint32_t epoch = 0;     ///< the block's, from 1; 0 = never
  uint32_t warpEpoch = 0; ///< the warp's at that time
  uint16_t thread = 0, warp = 0;
  const kiln_emu_site *site = nullptr;
};

class SharedShadow {
public:
  void reset(uint32_t bytes) { cells.assign(bytes, Cell()); }

  /// Records a read (or write) of these bytes at `now`; the earlier access that it races with.
  std::optional<Moment> read(uint32_t offset, uint32_t bytes, const Moment &now, bool *initialised);
  std::optional<Moment> write(uint32_t offset, uint32_t bytes, const Moment &now);

private:
  struct Cell {
    Moment writer;
    /// The last read, and another by a different thread in the same epoch.
    Moment reader, otherReader;
  };
  std::vector<Cell> cells;
};

} // namespace kiln::emulator

#endif
