// Which accesses of the warps of a block come before which.
//
// A vector clock for each warp: how far it knows every other warp to have come. A barrier of any
// part of a block joins the clocks of the warps that meet there, and an mbarrier hands those of the
// warps that arrived to the ones that waited (Mattern, "Virtual Time and Global States of
// Distributed Systems", 1989). So two accesses are ordered if, and only if, something orders them;
// an epoch of the whole block would know nothing of barriers of its parts.
//
// Some barriers of AMD order accesses to shared memory alone, or reads of global memory before
// writes: what a warp knows by these counts for such accesses, and for no others.
//
// Beside the warps there are sources: what asynchronous copies do is stamped with the time of one,
// and known to those who have waited for it, not to the warp that set them going.

#ifndef KILN_RUNTIME_EMULATOR_WARPCLOCKS_H
#define KILN_RUNTIME_EMULATOR_WARPCLOCKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kiln::emulator {

class WarpClocks {
public:
  /// How far each warp has come; empty: nothing is known of any.
  struct Clock {
    std::vector<uint64_t> all;
    /// With regard to shared memory, where more is known of that; may be shorter.
    std::vector<uint64_t> shared;
    /// The same of what warps have read in global memory.
    std::vector<uint64_t> reads;

    bool empty() const { return all.empty() && shared.empty() && reads.empty(); }
    void clear() {
      all.clear();
      shared.clear();
      reads.clear();
    }
  };
  using Part = std::vector<uint64_t> Clock::*;

  /// Begins a block. Its clocks go on from where the last block's ended, so that stamps of then
  /// need not be wiped out.
  void reset(uint32_t warps) {
    for (uint32_t warp = 0; warp < clocks.size(); ++warp)
      start = std::max(start, now(warp));
    clocks.assign(warps, Clock{std::vector<uint64_t>(warps, start++), {}, {}});
    for (uint32_t warp = 0; warp < warps; ++warp)
      clocks[warp].all[warp] = start;
  }

  /// A source beside the warps, which nobody knows anything of yet: its number.
  uint32_t addSource() {
    auto source = uint32_t(clocks.size());
    clocks.emplace_back();
    for (Clock &clock : clocks)
      clock.all.resize(source + 1);
    clocks[source].all[source] = start;
    return source;
  }
  uint32_t numSources() const { return uint32_t(clocks.size()); }

  /// Whether a stamp is of this block.
  bool isCurrent(uint64_t moment) const { return moment >= start; }

  /// What an access of `warp`, or of a source, is stamped with.
  uint64_t now(uint32_t warp) const { return clocks[warp].all[warp]; }

  /// Whether what `warp` does now comes after what `other` did at `moment`.
  bool isAfter(uint32_t warp, uint32_t other, uint64_t moment) const {
    return clocks[warp].all[other] >= moment;
  }
  /// The same, of accesses to shared memory, or of what `other` has read.
  bool isAfterIn(Part part, uint32_t warp, uint32_t other, uint64_t moment) const {
    const std::vector<uint64_t> &known = clocks[warp].*part;
    return isAfter(warp, other, moment) || (other < known.size() && known[other] >= moment);
  }

  /// What `warp` did is before whatever comes after an acquisition of `mark`.
  void release(uint32_t warp, Clock &mark) {
    join(mark, clocks[warp]);
    ++clocks[warp].all[warp];
  }
  void acquire(uint32_t warp, const Clock &mark) { join(clocks[warp], mark); }
  /// The same of accesses to shared memory, or of what was read, alone.
  void releasePart(uint32_t warp, Clock &mark, Part part) {
    joinPart(mark, clocks[warp], part);
    ++clocks[warp].all[warp];
  }
  void acquirePart(uint32_t warp, const Clock &mark, Part part) {
    joinPart(clocks[warp], mark, part);
  }

  static void join(Clock &into, const Clock &from) {
    join(into.all, from.all);
    join(into.shared, from.shared);
    join(into.reads, from.reads);
  }

private:
  static void joinPart(Clock &into, const Clock &from, Part part) {
    join(into.*part, from.all);
    join(into.*part, from.*part);
  }
  static void join(std::vector<uint64_t> &into, const std::vector<uint64_t> &from) {
    into.resize(std::max(into.size(), from.size()));
    for (size_t warp = 0; warp < from.size(); ++warp)
      into[warp] = std::max(into[warp], from[warp]);
  }

  uint64_t start = 0; ///< the first moment of this block
  std::vector<Clock> clocks;
};

} // namespace kiln::emulator

#endif
