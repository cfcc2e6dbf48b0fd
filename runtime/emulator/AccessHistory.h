// Which earlier accesses to some bytes a later one can race with: the last write, and of what came
// since two accesses that nothing orders with each other. Two are enough to notice any further one
// that is ordered with neither; what came before these is before them, or has been reported.

#ifndef KILN_RUNTIME_EMULATOR_ACCESSHISTORY_H
#define KILN_RUNTIME_EMULATOR_ACCESSHISTORY_H

#include "runtime/emulator/WarpClocks.h"
#include "runtime/emulator/kiln_emu.h"
#include <cstdint>
#include <optional>

namespace kiln::emulator {

enum class AccessKind : uint8_t { Read, Write, Atomic };

/// Beside a thread's number in a moment: not the thread itself makes the access, but what it and
/// its warp set going.
constexpr uint16_t asynchronousAccess = 0x8000;
/// The same of a copy of a box by TMA, which is ordered by the source of the clocks that its moment
/// names in place of a warp.
constexpr uint16_t boxAccess = 0x4000;
constexpr uint16_t threadOfAccess = 0x3fff;
/// A thread's number in a moment is its own and, for each block before its own in the cluster, so
/// many.
constexpr uint16_t threadsOfBlock = 1024;
/// The epoch of an access for which the whole warp waits: whatever the warp's lanes do before and
/// behind the wait is ordered with it.
constexpr uint32_t awaitedEpoch = ~0u;

/// When, by whom and how.
struct Moment {
  uint64_t clock = 0;     ///< the warp's own; 0 = never
  uint32_t warpEpoch = 0; ///< barriers of the warp before
  uint16_t thread = 0;
  uint8_t warp = 0; ///< or source of the clocks
  AccessKind kind = AccessKind::Read;
  const kiln_emu_site *site = nullptr;
};

/// What orders accesses: to global memory, or to shared memory.
struct AccessOrder {
  const WarpClocks &clocks;
  bool isOfShared = false;

  AccessOrder(const WarpClocks &clocks, bool isOfShared = false) // NOLINT: of global memory
      : clocks(clocks), isOfShared(isOfShared) {}
  bool isAfter(const Moment &now, const Moment &before) const {
    if (!isOfShared && before.kind != AccessKind::Read)
      return clocks.isAfter(now.warp, before.warp, before.clock);
    WarpClocks::Part part = isOfShared ? &WarpClocks::Clock::shared : &WarpClocks::Clock::reads;
    return clocks.isAfterIn(part, now.warp, before.warp, before.clock);
  }
};

/// Whether nothing orders two moments of different threads of this block: across warps the clocks
/// do, within a warp its barriers. That lanes of a warp run the same instruction orders nothing.
inline bool areConcurrent(const Moment &before, const Moment &now, const AccessOrder &order) {
  if (!order.clocks.isCurrent(before.clock) || before.thread == now.thread)
    return false;
  return before.warp == now.warp ? before.warpEpoch == now.warpEpoch : !order.isAfter(now, before);
}

class AccessHistory {
public:
  /// The earlier access that one races with.
  std::optional<Moment> conflict(const Moment &now, const AccessOrder &order) const {
    for (const Moment *before : {&sharer, &otherSharer, &writer})
      if (areConcurrent(*before, now, order) &&
          (before->kind != now.kind || now.kind == AccessKind::Write))
        return *before;
    return std::nullopt;
  }

  /// The same, and adds the access.
  std::optional<Moment> add(const Moment &now, const AccessOrder &order) {
    return add(now, now, order);
  }

  /// The same for a copy, which begins at `now` and is over at `end`.
  std::optional<Moment> add(const Moment &now, const Moment &end, const AccessOrder &order) {
    std::optional<Moment> race = conflict(now, order);
    // Reads may come in any order, and so may atomic operations.
    bool isShared = areConcurrent(sharer, now, order) && sharer.kind == now.kind;
    if (now.kind == AccessKind::Write) {
      *this = AccessHistory();
      writer = end;
      return race;
    }
    if (isShared)
      otherSharer = sharer;
    sharer = end;
    return race;
  }

  bool isWritten(const WarpClocks &clocks) const { return clocks.isCurrent(writer.clock); }

private:
  Moment writer, sharer, otherSharer;
};

} // namespace kiln::emulator

#endif
