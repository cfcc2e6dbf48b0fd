// Barriers, and operations by which the lanes of a warp exchange words.
//
// NVIDIA: PTX ISA, "Data Movement: shfl.sync", "Parallel Synchronization: vote.sync, redux.sync,
// elect.sync, bar, bar.warp.sync". AMD: "MI300 (CDNA3) ISA", "RDNA3 ISA": "Data Parallel Primitives
// (DPP)", "DS instructions: DS_SWIZZLE_B32, DS_BPERMUTE_B32".

#include "runtime/emulator/Block.h"
#include <algorithm>
#include <cstring>

using namespace kiln::emulator;

namespace {

template <typename Each> void forLanes(uint64_t mask, Each each) {
  for (; mask; mask &= mask - 1)
    each(unsigned(__builtin_ctzll(mask)));
}

/// Lane `lane` reads one that does not take part.
[[noreturn]] void refuseSource(Warp &warp, const kiln_emu_site *site, unsigned lane) {
  Thread &thread = warp.threads[lane];
  thread.block->fail(thread, site, Finding::Divergence,
                     "reads lane " + std::to_string(warp.sources[lane]) +
                         ", which does not take part");
}

bool takesPart(const Warp &warp, uint32_t lane) { return lane < 64 && (warp.expected >> lane & 1); }

/// Every lane gets the word of the lane that its source names, which must take part.
void moveWords(Warp &warp, const kiln_emu_site *site) {
  forLanes(warp.expected, [&](unsigned lane) {
    uint32_t from = warp.sources[lane];
    if (!takesPart(warp, from))
      refuseSource(warp, site, lane);
    warp.results[lane] = warp.words[from];
  });
}

/// The same on AMD, where a source that is not active, or that there is not, gives `otherwise`.
void moveActiveWords(Warp &warp, uint64_t otherwise) {
  forLanes(warp.expected, [&](unsigned lane) {
    uint32_t from = warp.sources[lane];
    warp.results[lane] = takesPart(warp, from) ? warp.words[from] : otherwise;
  });
}

/// Leaves a lane's operands.
Warp &prepare(Thread &self, uint32_t word, uint32_t source) {
  Warp &warp = *self.inWarp;
  warp.words[self.lane] = word;
  warp.sources[self.lane] = source;
  return warp;
}

/// NVIDIA's masks have 32 bits: this one says that AMD's EXEC mask decides.
constexpr uint64_t activeLanes = ~uint64_t(0);

} // namespace

KILN_SWITCHES void kiln_emu_barrier(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t id,
                                    uint32_t count) {
  Thread &self = threadOf(thread);
  self.block->barrier(self, site, id, count, /*isExecutionAlone=*/false);
}

KILN_SWITCHES void kiln_emu_s_barrier(kiln_emu_thread *thread, const kiln_emu_site *site) {
  Thread &self = threadOf(thread);
  self.block->barrier(self, site, /*id=*/0, /*count=*/0, /*isExecutionAlone=*/true);
}

void kiln_emu_barrier_arrive(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t id,
                             uint32_t count) {
  Thread &self = threadOf(thread);
  self.block->arriveAt(self, site, id, count);
}

KILN_SWITCHES void kiln_emu_warp_barrier(kiln_emu_thread *thread, const kiln_emu_site *site,
                                         uint64_t mask) {
  Thread &self = threadOf(thread);
  self.block->collective(self, site, mask, [](Warp &warp) { ++warp.epoch; });
}

/// PTX ISA, shfl.sync: the pseudocode of "Semantics", with c's fields.
static uint32_t shuffleSource(uint32_t kind, uint32_t lane, uint32_t offset, uint32_t clamp) {
  uint32_t b = offset & 31, segment = clamp >> 8 & 31, limit = clamp & 31;
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
}

KILN_SWITCHES uint32_t kiln_emu_shuffle(kiln_emu_thread *thread, const kiln_emu_site *site,
                                        uint32_t kind, uint32_t mask, uint32_t value,
                                        uint32_t offset, uint32_t clamp) {
  Thread &self = threadOf(thread);
  Warp &warp = prepare(self, value, shuffleSource(kind, self.lane, offset, clamp));
  self.block->collective(self, site, mask, [site](Warp &warp) { moveWords(warp, site); });
  return uint32_t(warp.results[self.lane]);
}

KILN_SWITCHES uint64_t kiln_emu_vote(kiln_emu_thread *thread, const kiln_emu_site *site,
                                     uint32_t kind, uint64_t mask, uint32_t predicate) {
  Thread &self = threadOf(thread);
  Warp &own = prepare(self, predicate, 0);
  auto count = [kind](Warp &warp) {
    uint64_t ballot = 0;
    forLanes(warp.expected,
             [&](unsigned lane) { ballot |= uint64_t(warp.words[lane] != 0) << lane; });
    uint64_t result = kind == KILN_EMU_VOTE_ANY      ? ballot != 0
                      : kind == KILN_EMU_VOTE_ALL    ? ballot == warp.expected
                      : kind == KILN_EMU_VOTE_BALLOT ? ballot
                                                     : ballot == 0 || ballot == warp.expected;
    forLanes(warp.expected, [&](unsigned lane) { warp.results[lane] = result; });
  };
  if (mask == activeLanes)
    self.block->wave(self, site, count);
  else
    self.block->collective(self, site, mask, count);
  return own.results[self.lane];
}

static uint32_t combine(uint32_t kind, uint32_t a, uint32_t b) {
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
}

KILN_SWITCHES uint32_t kiln_emu_redux(kiln_emu_thread *thread, const kiln_emu_site *site,
                                      uint32_t kind, uint32_t mask, uint32_t value) {
  Thread &self = threadOf(thread);
  Warp &own = prepare(self, value, 0);
  self.block->collective(self, site, mask, [kind](Warp &warp) {
    uint32_t result = warp.words[__builtin_ctzll(warp.expected)];
    forLanes(warp.expected & (warp.expected - 1),
             [&](unsigned lane) { result = combine(kind, result, warp.words[lane]); });
    forLanes(warp.expected, [&](unsigned lane) { warp.results[lane] = result; });
  });
  return uint32_t(own.results[self.lane]);
}

KILN_SWITCHES uint32_t kiln_emu_elect(kiln_emu_thread *thread, const kiln_emu_site *site,
                                      uint32_t mask) {
  Thread &self = threadOf(thread);
  self.block->collective(self, site, mask, [](Warp &) {});
  return self.lane == unsigned(__builtin_ctz(mask));
}

// CDNA3 ISA, "DS_BPERMUTE_B32": a lane that is not active gives 0.
KILN_SWITCHES uint32_t kiln_emu_ds_bpermute(kiln_emu_thread *thread, const kiln_emu_site *site,
                                            uint32_t index, uint32_t value) {
  Thread &self = threadOf(thread);
  unsigned size = unsigned(__builtin_popcountll(self.inWarp->full));
  Warp &warp = prepare(self, value, index / 4 % size);
  self.block->wave(self, site, [](Warp &warp) { moveActiveWords(warp, 0); });
  return uint32_t(warp.results[self.lane]);
}

static uint32_t swizzleSource(uint32_t lane, uint32_t pattern) {
  if (pattern & 0x8000) // quad mode: two bits for each lane of four
    return (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
  uint32_t low = lane & 31;
  low = ((low & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
  return (lane & ~31u) | low;
}

// CDNA3 ISA, "DS_SWIZZLE_B32": a lane that is not active gives 0.
KILN_SWITCHES uint32_t kiln_emu_ds_swizzle(kiln_emu_thread *thread, const kiln_emu_site *site,
                                           uint32_t value, uint32_t pattern) {
  Thread &self = threadOf(thread);
  Warp &warp = prepare(self, value, swizzleSource(self.lane, pattern));
  self.block->wave(self, site, [](Warp &warp) { moveActiveWords(warp, 0); });
  return uint32_t(warp.results[self.lane]);
}

// RDNA3 ISA, "V_PERMLANEX16_B32"; bound_ctrl: a lane that is not active gives 0.
KILN_SWITCHES uint32_t kiln_emu_permlanex16(kiln_emu_thread *thread, const kiln_emu_site *site,
                                            uint32_t value, uint32_t low, uint32_t high) {
  Thread &self = threadOf(thread);
  uint32_t places = self.lane & 8 ? high : low, place = places >> (4 * (self.lane & 7)) & 15;
  Warp &warp = prepare(self, value, ((self.lane & ~15u) ^ 16) | place);
  self.block->wave(self, site, [](Warp &warp) { moveActiveWords(warp, 0); });
  return uint32_t(warp.results[self.lane]);
}

// CDNA4 ISA, "V_PERMLANE32_SWAP_B32": a lane that is not active gives 0.
KILN_SWITCHES void kiln_emu_permlane_swap(kiln_emu_thread *thread, const kiln_emu_site *site,
                                          uint32_t lanes, uint32_t first, uint32_t second,
                                          uint32_t *out) {
  Thread &self = threadOf(thread);
  bool isSet = self.lane & lanes;
  Warp &warp = prepare(self, isSet ? first : second, self.lane ^ lanes);
  self.block->wave(self, site, [](Warp &warp) { moveActiveWords(warp, 0); });
  uint32_t received = uint32_t(warp.results[self.lane]);
  out[0] = isSet ? received : first;
  out[1] = isSet ? second : received;
}

/// GCN3 to CDNA, row_bcast:15 and row_bcast:31: the last lane of the row in front, lane 31 for the
/// upper 32; `none` where there is none in front.
static uint32_t dppBroadcastSource(uint32_t control, uint32_t lane, uint32_t none) {
  uint32_t first = control == 0x142 ? lane & ~15u : lane & ~31u;
  return first ? first - 1 : none;
}

/// The lane of the own row that a DPP control names; -1: none; -2: the control is not known.
static int dppSource(uint32_t control, uint32_t inRow) {
  int lane = int(inRow), amount = int(control & 15);
  if (control < 0x100) // quad_perm
    return (lane & ~3) | int(control >> (2 * (inRow & 3)) & 3);
  if (control > 0x100 && control < 0x110) // row_shl: from higher lanes
    return lane + amount < 16 ? lane + amount : -1;
  if (control > 0x110 && control < 0x120) // row_shr
    return lane >= amount ? lane - amount : -1;
  if (control > 0x120 && control < 0x130) // row_ror
    return (lane - amount) & 15;
  if (control == 0x140) // row_mirror
    return 15 - lane;
  if (control == 0x141) // row_half_mirror
    return (lane & 8) | (7 - (lane & 7));
  if (control >= 0x150 && control < 0x160) // row_share (RDNA)
    return amount;
  if (control >= 0x160 && control < 0x170) // row_xmask (RDNA)
    return lane ^ amount;
  return -2;
}

// CDNA3 ISA, "Data Parallel Primitives": a source beyond the row, or one that
// is not active, is 0 with bound_ctrl, and disables the write without.
KILN_SWITCHES uint32_t kiln_emu_dpp(kiln_emu_thread *thread, const kiln_emu_site *site,
                                    uint32_t old, uint32_t value, uint32_t control,
                                    uint32_t row_mask, uint32_t bank_mask, uint32_t bound_control) {
  Thread &self = threadOf(thread);
  unsigned lane = self.lane, row = lane & ~15u, inRow = lane & 15;
  bool isBroadcast = control == 0x142 || control == 0x143;
  int from = isBroadcast ? -1 : dppSource(control, inRow);
  if (from == -2)
    self.block->fail(self, site, Finding::Operand,
                     "DPP control " + std::to_string(control) + " is not emulated");
  constexpr uint32_t none = 64;
  Warp &warp = prepare(self, value,
                       isBroadcast ? dppBroadcastSource(control, lane, none)
                       : from >= 0 ? row + unsigned(from)
                                   : none);
  constexpr uint64_t invalid = ~uint64_t(0);
  self.block->wave(self, site, [](Warp &warp) { moveActiveWords(warp, invalid); });
  bool isEnabled = (row_mask >> (lane / 16) & 1) && (bank_mask >> (inRow / 4) & 1);
  uint64_t moved = warp.results[lane];
  if (!isEnabled)
    return old;
  if (moved != invalid)
    return uint32_t(moved);
  return bound_control ? 0 : old;
}

// CDNA3 ISA, "V_READLANE_B32": not masked by EXEC. What a lane that is
// elsewhere in the program holds in the register is not known here.
KILN_SWITCHES uint32_t kiln_emu_readlane(kiln_emu_thread *thread, const kiln_emu_site *site,
                                         uint32_t value, uint32_t lane) {
  Thread &self = threadOf(thread);
  Warp &warp = prepare(self, value, lane);
  self.block->wave(self, site, [site](Warp &warp) { moveWords(warp, site); });
  return uint32_t(warp.results[self.lane]);
}

// "V_READFIRSTLANE_B32": of the lowest active lane.
KILN_SWITCHES uint32_t kiln_emu_readfirstlane(kiln_emu_thread *thread, const kiln_emu_site *site,
                                              uint32_t value) {
  Thread &self = threadOf(thread);
  Warp &warp = prepare(self, value, 0);
  self.block->wave(self, site, [](Warp &warp) {
    uint32_t first = warp.words[__builtin_ctzll(warp.expected)];
    forLanes(warp.expected, [&](unsigned lane) { warp.results[lane] = first; });
  });
  return uint32_t(warp.results[self.lane]);
}

// CDNA4 ISA, "DS_READ_B64_TR_B16", "DS_READ_B64_TR_B8": a group of 16 lanes has rows of 16
// elements, of which a lane reads 8 bytes, and each gets the element of its column in each row.
KILN_SWITCHES void kiln_emu_ds_read_tr(kiln_emu_thread *thread, const kiln_emu_site *site,
                                       const void *address, uint32_t elementBytes, void *out) {
  struct Request {
    uint8_t read[8], column[8];
  } request;
  Thread &self = threadOf(thread);
  kiln_emu_load(thread, site, KILN_EMU_SHARED, const_cast<void *>(address), request.read,
                sizeof request.read, sizeof request.read, 1);
  self.inWarp->requests[self.lane] = &request;
  self.block->wave(self, site, [site, elementBytes](Warp &warp) {
    // A lane reads as many elements of a row as it gets from rows.
    const unsigned count = unsigned(sizeof request.read) / elementBytes, ofRow = 16 / count;
    forLanes(warp.expected, [&](unsigned lane) {
      unsigned inGroup = lane % 16, first = lane - inGroup;
      for (unsigned row = 0; row < count; ++row) {
        unsigned from = first + ofRow * row + inGroup / count;
        warp.sources[lane] = from;
        if (!takesPart(warp, from))
          refuseSource(warp, site, lane);
        std::memcpy(warp.request<Request>(lane).column + row * elementBytes,
                    warp.request<Request>(from).read + lane % count * elementBytes, elementBytes);
      }
    });
  });
  std::memcpy(out, request.column, sizeof request.column);
}
