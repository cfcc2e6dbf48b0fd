// Barriers, and operations by which the lanes of a warp exchange words.
//
// NVIDIA: PTX ISA, "Data Movement: shfl.sync", "Parallel Synchronization: vote.sync, redux.sync,
// elect.sync, bar, bar.warp.sync". AMD: "MI300 (CDNA3) ISA", "RDNA3 ISA": "Data Parallel
// Primitives (DPP)", "DS instructions: DS_SWIZZLE_B32, DS_BPERMUTE_B32".

#include "runtime/emulator/Block.h"
#include <algorithm>

using namespace kiln::emulator;

namespace {

/// One word in, one word out.
struct Exchange {
  uint32_t value, argument, result;
};

template <typename Each> void forLanes(uint64_t mask, Each each) {
  for (; mask; mask &= mask - 1)
    each(unsigned(__builtin_ctzll(mask)));
}

/// Every lane of `mask` gets `value` of the lane that `source(lane, argument)` names.
template <typename Source>
uint32_t exchange(kiln_emu_thread *thread, const kiln_emu_site *site, uint64_t mask, uint32_t value,
                  uint32_t argument, Source source) {
  Thread &self = threadOf(thread);
  Exchange own{value, argument, 0};
  self.block->collective(self, site, mask, own, [&](Warp &warp) {
    forLanes(warp.expected, [&](unsigned lane) {
      auto &mine = warp.request<Exchange>(lane);
      unsigned from = source(lane, mine.argument);
      if (!(warp.expected >> from & 1))
        self.block->fail(warp.threads[lane], site, Finding::Divergence,
                         "reads lane " + std::to_string(from) + ", which does not take part");
      mine.result = warp.request<Exchange>(from).value;
    });
  });
  return own.result;
}

constexpr uint64_t everyLane = ~uint64_t(0);

} // namespace

void kiln_emu_barrier(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t id,
                      uint32_t count) {
  Thread &self = threadOf(thread);
  self.block->barrier(self, site, id, count);
}

void kiln_emu_warp_barrier(kiln_emu_thread *thread, const kiln_emu_site *site, uint64_t mask) {
  Thread &self = threadOf(thread);
  self.block->collective(self, site, mask, self, [](Warp &warp) { ++warp.epoch; });
}

uint32_t kiln_emu_shuffle(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t kind,
                          uint32_t mask, uint32_t value, uint32_t offset, uint32_t clamp) {
  // PTX ISA, shfl.sync: the pseudocode of "Semantics", with c's fields.
  return exchange(thread, site, mask, value, offset, [=](unsigned lane, uint32_t argument) {
    uint32_t b = argument & 31, segment = clamp >> 8 & 31, limit = clamp & 31;
    uint32_t maxLane = (lane & segment) | (limit & ~segment), minLane = lane & segment;
    switch (kind) {
    case KILN_EMU_SHUFFLE_UP: {
      int from = int(lane) - int(b);
      return from >= int(maxLane) ? unsigned(from) : lane;
    }
    case KILN_EMU_SHUFFLE_DOWN:
      return lane + b <= maxLane ? lane + b : lane;
    case KILN_EMU_SHUFFLE_XOR:
      return (lane ^ b) <= maxLane ? lane ^ b : lane;
    default: {
      uint32_t from = minLane | (b & ~segment);
      return from <= maxLane ? from : lane;
    }
    }
  });
}

uint64_t kiln_emu_vote(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t kind,
                       uint64_t mask, uint32_t predicate) {
  struct Vote {
    bool predicate;
    uint64_t result;
  } own{predicate != 0, 0};
  Thread &self = threadOf(thread);
  self.block->collective(self, site, mask, own, [&](Warp &warp) {
    uint64_t ballot = 0;
    forLanes(warp.expected, [&](unsigned lane) {
      ballot |= uint64_t(warp.request<Vote>(lane).predicate) << lane;
    });
    uint64_t result = kind == KILN_EMU_VOTE_ANY      ? ballot != 0
                      : kind == KILN_EMU_VOTE_ALL    ? ballot == warp.expected
                      : kind == KILN_EMU_VOTE_BALLOT ? ballot
                                                     : ballot == 0 || ballot == warp.expected;
    forLanes(warp.expected, [&](unsigned lane) { warp.request<Vote>(lane).result = result; });
  });
  return own.result;
}

uint32_t kiln_emu_redux(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t kind,
                        uint32_t mask, uint32_t value) {
  Thread &self = threadOf(thread);
  Exchange own{value, 0, 0};
  auto combine = [kind](uint32_t a, uint32_t b) {
    switch (kind) {
    case KILN_EMU_REDUX_ADD:
      return a + b;
    case KILN_EMU_REDUX_AND:
      return a & b;
    case KILN_EMU_REDUX_OR:
      return a | b;
    case KILN_EMU_REDUX_XOR:
      return a ^ b;
    case KILN_EMU_REDUX_SMIN:
      return uint32_t(std::min(int32_t(a), int32_t(b)));
    case KILN_EMU_REDUX_SMAX:
      return uint32_t(std::max(int32_t(a), int32_t(b)));
    case KILN_EMU_REDUX_UMIN:
      return std::min(a, b);
    default:
      return std::max(a, b);
    }
  };
  self.block->collective(self, site, mask, own, [&](Warp &warp) {
    unsigned first = unsigned(__builtin_ctzll(warp.expected));
    uint32_t result = warp.request<Exchange>(first).value;
    forLanes(warp.expected & (warp.expected - 1),
             [&](unsigned lane) { result = combine(result, warp.request<Exchange>(lane).value); });
    forLanes(warp.expected, [&](unsigned lane) { warp.request<Exchange>(lane).result = result; });
  });
  return own.result;
}

uint32_t kiln_emu_elect(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t mask) {
  Thread &self = threadOf(thread);
  self.block->collective(self, site, mask, self, [](Warp &) {});
  return self.lane == unsigned(__builtin_ctz(mask));
}

uint32_t kiln_emu_ds_bpermute(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t index,
                              uint32_t value) {
  unsigned size = unsigned(__builtin_popcountll(threadOf(thread).inWarp->full));
  return exchange(thread, site, everyLane, value, index,
                  [size](unsigned, uint32_t argument) { return argument / 4 % size; });
}

uint32_t kiln_emu_ds_swizzle(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t value,
                             uint32_t pattern) {
  return exchange(thread, site, everyLane, value, pattern, [](unsigned lane, uint32_t offset) {
    if (offset & 0x8000) // quad mode: two bits for each lane of four
      return (lane & ~3u) | (offset >> (2 * (lane & 3)) & 3);
    unsigned low = lane & 31;
    low = ((low & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31);
    return (lane & ~31u) | low;
  });
}

uint32_t kiln_emu_dpp(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t old,
                      uint32_t value, uint32_t control, uint32_t row_mask, uint32_t bank_mask,
                      uint32_t bound_control) {
  Thread &self = threadOf(thread);
  unsigned lane = self.lane, row = lane & ~15u, inRow = lane & 15;
  unsigned amount = control & 15;
  int from = -1; // within the row; -1: none
  bool isKnown = true;
  if (control < 0x100) // quad_perm
    from = int((inRow & ~3u) | (control >> (2 * (inRow & 3)) & 3));
  else if (control > 0x100 && control < 0x110) // row_shl: from higher lanes
    from = inRow + amount < 16 ? int(inRow + amount) : -1;
  else if (control > 0x110 && control < 0x120) // row_shr
    from = int(inRow) - int(amount);
  else if (control > 0x120 && control < 0x130) // row_ror
    from = int((inRow - amount) & 15);
  else if (control == 0x140) // row_mirror
    from = int(15 - inRow);
  else if (control == 0x141) // row_half_mirror
    from = int((inRow & 8) | (7 - (inRow & 7)));
  else if (control >= 0x150 && control < 0x160) // row_share (RDNA)
    from = int(amount);
  else if (control >= 0x160 && control < 0x170) // row_xmask (RDNA)
    from = int(inRow ^ amount);
  else
    isKnown = false;
  if (!isKnown)
    self.block->fail(self, site, Finding::Operand,
                     "DPP control " + std::to_string(control) + " is not emulated");
  bool isValid = from >= 0;
  uint32_t moved =
      exchange(thread, site, everyLane, value, row + unsigned(isValid ? from : int(inRow)),
               [](unsigned, uint32_t source) { return source; });
  bool isEnabled = (row_mask >> (lane / 16) & 1) && (bank_mask >> (inRow / 4) & 1);
  if (!isEnabled)
    return old;
  if (isValid)
    return moved;
  return bound_control ? 0 : old;
}

uint32_t kiln_emu_readlane(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t value,
                           uint32_t lane) {
  return exchange(thread, site, everyLane, value, lane,
                  [](unsigned, uint32_t source) { return source; });
}
