// What loads from global memory have left in caches, while accesses are checked.
//
// AMD's first caches hear nothing of what others store: on CDNA a compute unit's, which a block
// does not leave; on RDNA two in a work-group processor, between which a block's waves are shared
// out, and one behind them. A load is answered from there until something drops it: an acquire
// (buffer_inv, buffer_gl0_inv, buffer_gl1_inv, global_inv), an atomic operation of the unit's own
// on these bytes, or a load that goes by the caches (LLVM, "User Guide for AMDGPU Backend", "Memory
// Model"). Here that is so as long as there is room: a missing acquire shows old values in every
// run.
//
// Only bytes that were loaded are kept, not the line around them: that would read what may not be
// there.

#ifndef KILN_RUNTIME_EMULATOR_LOADCACHE_H
#define KILN_RUNTIME_EMULATOR_LOADCACHE_H

#include "runtime/emulator/GranuleTable.h"
#include <cstring>
#include <vector>

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

/// The caches of a block.
class LoadCaches {
public:
  /// 0: they are coherent. 1: one of the block's. More: so many that its waves share out, and one
  /// behind them.
  void reset(uint32_t count) {
    isThere = count > 0;
    own.resize(count > 1 ? count : 0);
    ofBlock.clear();
    dropOwn();
  }

  /// `out` has what memory holds: afterwards what the load gives.
  void load(uint32_t warp, const void *address, void *out, uint32_t bytes) {
    if (!isThere)
      return;
    ofBlock.load(address, out, bytes);
    if (!own.empty())
      ownOf(warp).load(address, out, bytes);
  }
  void store(uint32_t warp, const void *address, const void *value, uint32_t bytes) {
    if (!isThere)
      return;
    ofBlock.store(address, value, bytes);
    if (!own.empty())
      ownOf(warp).store(address, value, bytes);
  }
  void drop(uint32_t warp, const void *address, uint32_t bytes) {
    if (!isThere)
      return;
    ofBlock.drop(address, bytes);
    if (!own.empty())
      ownOf(warp).drop(address, bytes);
  }
  /// A wave sees from now on what others of the block, or of the device, have released to it.
  void acquire(uint32_t warp, bool isOfDevice) {
    if (!own.empty())
      ownOf(warp).clear();
    if (isOfDevice)
      ofBlock.clear();
  }
  /// An acquire of the block's scope by all of its waves.
  void dropOwn() {
    for (LoadCache &cache : own)
      cache.clear();
  }

private:
  LoadCache &ownOf(uint32_t warp) { return own[warp % own.size()]; }

  bool isThere = false;
  std::vector<LoadCache> own;
  LoadCache ofBlock;
};

} // namespace kiln::emulator

#endif
