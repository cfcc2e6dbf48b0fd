// How many transfers an access of a warp takes.

#ifndef KILN_RUNTIME_EMULATOR_REQUESTS_H
#define KILN_RUNTIME_EMULATOR_REQUESTS_H

#include <cstddef>
#include <cstdint>

namespace kiln::emulator {

/// What the active lanes of a warp access, in the lanes' order; each has up to 64 bytes.
struct WarpAccess {
  uint32_t number;
  const uint8_t *lanes, *bytes;
  const uintptr_t *addresses;
};

struct Transfers {
  uint64_t made = 0, ideal = 0;
};

struct ByteRange {
  uintptr_t first, end;
};

/// Sectors of 32 bytes that are touched, and that the distinct bytes fill.
Transfers globalSectors(const WarpAccess &access);
/// The same of ranges, which are sorted.
Transfers globalSectors(ByteRange *ranges, size_t number);
/// What serves a warp's accesses to shared memory.
struct SharedBanks {
  uint32_t number; ///< of 4 bytes
  uint32_t lanes;  ///< of the warp
};

/// Turns of all banks, with conflicts and without. Reads are those that write nothing.
Transfers sharedWavefronts(const WarpAccess &access, SharedBanks banks, bool isRead);

} // namespace kiln::emulator

#endif
