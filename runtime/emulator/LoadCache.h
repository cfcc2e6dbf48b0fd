// What loads from global memory have left in a first-level cache, while accesses are checked.
//
// AMD keeps these caches apart: one of a compute unit's, on RDNA two in a work-group processor
// between which a block's waves are shared out, hears nothing of what others store. A load is
// answered from there until something drops it: an acquire (buffer_inv, buffer_gl0_inv,
// global_inv), an atomic operation of the unit's own on these bytes, or a load that goes by the
// cache (LLVM, "User Guide for AMDGPU Backend", "Memory Model"). Here that is so as long as there
// is room: a missing acquire shows old values in every run.
//
// Only bytes that were loaded are kept, not the line around them: that would read what may not be
// there.

#ifndef KILN_RUNTIME_EMULATOR_LOADCACHE_H
#define KILN_RUNTIME_EMULATOR_LOADCACHE_H

#include "runtime/emulator/GranuleTable.h"
#include <cstring>

namespace kiln::emulator {

class LoadCache {
public:
  void clear() { lines.clear(); }

  /// `out` has what memory holds: afterwards what the load gives.
  void load(const void *address, void *out, uint32_t bytes) {
    if (lines.numRows() >= maxRows)
      clear();
    auto *to = static_cast<unsigned char *>(out);
    forGranules(reinterpret_cast<uintptr_t>(address), bytes,
                [&](uintptr_t granule, uint32_t begin, uint32_t end) {
                  Line &line = lines[granule];
                  for (uint32_t byte = begin; byte < end; ++byte, ++to)
                    if (line.mask >> byte & 1)
                      *to = line.data[byte];
                    else
                      line.data[byte] = *to;
                  line.mask |= maskOf(begin, end);
                });
  }

  /// A store through the cache.
  void store(const void *address, const void *value, uint32_t bytes) {
    const auto *from = static_cast<const unsigned char *>(value);
    forGranules(reinterpret_cast<uintptr_t>(address), bytes,
                [&](uintptr_t granule, uint32_t begin, uint32_t end) {
                  if (Line *line = lines.find(granule))
                    std::memcpy(line->data + begin, from, end - begin);
                  from += end - begin;
                });
  }

  void drop(const void *address, uint32_t bytes) {
    forGranules(reinterpret_cast<uintptr_t>(address), bytes,
                [&](uintptr_t granule, uint32_t begin, uint32_t end) {
                  if (Line *line = lines.find(granule))
                    line->mask &= uint16_t(~maskOf(begin, end));
                });
  }

private:
  struct Line {
    uint16_t mask = 0; ///< bytes that are there
    unsigned char data[granuleBytes];
  };
  static uint16_t maskOf(uint32_t begin, uint32_t end) {
    return uint16_t(((1u << (end - begin)) - 1) << begin);
  }

  /// 32 KiB: as much as the hardware has.
  static constexpr size_t maxRows = (32 << 10) / (granuleBytes * GranuleTable<Line>::granulesOfRow);

  GranuleTable<Line> lines;
};

} // namespace kiln::emulator

#endif
