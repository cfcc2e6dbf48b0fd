// Which accesses of the warps of a block come before which.
//
// A vector clock for each warp: how far it knows every other warp to have come. A barrier of any
// part of a block joins the clocks of the warps that meet there, and an mbarrier hands those of the
// warps that arrived to the ones that waited (Mattern, "Virtual Time and Global States of
// Distributed Systems", 1989). So two accesses are ordered if, and only if, something orders them;
// an epoch of the whole block would know nothing of barriers of its parts.
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
  using Clock = std::vector<uint64_t>;

  /// Begins a block. Its clocks go on from where the last block's ended, so that stamps of then
  /// need not be wiped out.
  void reset(uint32_t warps) {
    for (uint32_t warp = 0; warp < clocks.size(); ++warp)
      start = std::max(start, now(warp));
    clocks.assign(warps, Clock(warps, start++));
    for (uint32_t warp = 0; warp < warps; ++warp)
      clocks[warp][warp] = start;
  }

  /// A source beside the warps, which nobody knows anything of yet: its number.
  uint32_t addSource() {
    auto source = uint32_t(clocks.size());
    clocks.emplace_back(source);
    for (Clock &clock : clocks)
      clock.resize(source + 1);
    clocks[source][source] = start;
    return source;
  }
  uint32_t numSources() const { return uint32_t(clocks.size()); }

  /// Whether a stamp is of this block.
  bool isCurrent(uint64_t moment) const { return moment >= start; }

  /// What an access of `warp`, or of a source, is stamped with.
  uint64_t now(uint32_t warp) const { return clocks[warp][warp]; }

  /// Whether what `warp` does now comes after what `other` did at `moment`.
  bool isAfter(uint32_t warp, uint32_t other, uint64_t moment) const {
    return clocks[warp][other] >= moment;
  }

  /// What `warp` did is before whatever comes after an acquisition of `mark`.
  void release(uint32_t warp, Clock &mark) {
    join(mark, clocks[warp]);
    ++clocks[warp][warp];
  }
  void acquire(uint32_t warp, const Clock &mark) { join(clocks[warp], mark); }

  static void join(Clock &into, const Clock &from) {
    into.resize(std::max(into.size(), from.size()));
    for (size_t warp = 0; warp < from.size(); ++warp)
      into[warp] = std::max(into[warp], from[warp]);
  }

private:
  uint64_t start = 0; ///< the first moment of this block
  std::vector<Clock> clocks;
};

} // namespace kiln::emulator

#endif
