// Registers of one lane to scalars and back, and of lanes to each other without memory.
#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"

namespace kiln::amdgcn {
namespace {

uint32_t scalarSource(Wave &wave, const Operand &operand) {
  return operand.isScalar() ? wave.scalar(operand.index) : uint32_t(constantBits(operand, 4));
}

void readFirstLane(Wave &wave, const Instruction &in) {
  unsigned lane = wave.exec() ? unsigned(__builtin_ctzll(wave.exec())) : 0;
  if (in[1].isVector())
    wave.setScalar(in[0].index, wave.vector(in[1].index)[lane]);
  else
    wave.setScalar(in[0].index, scalarSource(wave, in[1]));
}

void readLane(Wave &wave, const Instruction &in) {
  unsigned lane = scalarSource(wave, in[2]) % wave.numLanes;
  wave.setScalar(in[0].index, wave.vector(in[1].index)[lane]);
}

void writeLane(Wave &wave, const Instruction &in) {
  unsigned lane = scalarSource(wave, in[2]) % wave.numLanes;
  wave.vectorToWrite(in[0].index)[lane] = scalarSource(wave, in[1]);
}

/// Both are written in the active lanes.
template <typename T> void swap(Wave &wave, const Instruction &in) {
  LaneValues<T> a = read<T>(wave, in, {0, 0}), b = read<T>(wave, in, {1, 1});
  write<T>(wave, in, 2, b, 0);
  write<T>(wave, in, 2, a, 1);
}

/// V_PERMLANE16 within rows, V_PERMLANEX16 between the two of a pair: which lane is in 16 fields of
/// four bits.
Operation permuteRows(bool isOtherRow) {
  return [=](Wave &wave, const Instruction &in) {
    uint64_t selects = scalarSource(wave, in[2]) | uint64_t(scalarSource(wave, in[3])) << 32;
    bool fetchInactive = in.opSel[0], zeroOutOfBounds = in.opSel[1];
    LaneWords from = wave.vector(in[1].index);
    LaneWords &to = wave.vectorToWrite(in[0].index);
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      unsigned row = (lane & ~15u) ^ (isOtherRow ? 16 : 0);
      unsigned source = row + unsigned(selects >> (4 * (lane & 15)) & 15);
      bool canFetch = fetchInactive || wave.isActive(source);
      if (wave.isActive(lane) && (canFetch || zeroOutOfBounds))
        to[lane] = canFetch ? from[source] : 0;
    }
  };
}

/// Odd rows (or the upper half) of the first with even rows (the lower half) of the second.
Operation swapRows(unsigned width) {
  return [=](Wave &wave, const Instruction &in) {
    if (wave.exec() != ~uint64_t(0))
      throw Fault("rows are swapped while lanes are not active");
    LaneWords &a = wave.vectorToWrite(in[0].index), &b = wave.vectorToWrite(in[1].index);
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      if (!(lane & width))
        std::swap(a[lane + width], b[lane]);
  };
}

/// Bits of a mask below the lane, added to the second source.
Operation countBelow(unsigned first) {
  return [=](Wave &wave, const Instruction &in) {
    LaneValues<uint32_t> mask = read<uint32_t>(wave, in, {1, 0}),
                         base = read<uint32_t>(wave, in, {2, 1});
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      int below = int(lane) - int(first);
      uint32_t kept = below <= 0 ? 0 : below >= 32 ? ~0u : (1u << below) - 1;
      base[lane] += uint32_t(__builtin_popcount(mask[lane] & kept));
    }
    write<uint32_t>(wave, in, 2, base);
  };
}

void moveAccumulator(Wave &wave, const Instruction &in) {
  write<uint32_t>(wave, in, 1, read<uint32_t>(wave, in, {1, 0}));
}

} // namespace

void addLaneExchange(OperationTable &table) {
  table["v_readfirstlane_b32"] = readFirstLane;
  table["v_readlane_b32"] = readLane;
  table["v_writelane_b32"] = writeLane;
  table["v_swap_b32"] = swap<uint32_t>;
  table["v_swap_b16"] = swap<uint16_t>;
  table["v_permlane16_b32"] = permuteRows(false);
  table["v_permlanex16_b32"] = permuteRows(true);
  table["v_permlane16_swap_b32"] = swapRows(16);
  table["v_permlane32_swap_b32"] = swapRows(32);
  table["v_mbcnt_lo_u32_b32"] = countBelow(0);
  table["v_mbcnt_hi_u32_b32"] = countBelow(32);
  for (const char *one : {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"})
    table[one] = moveAccumulator;
}

} // namespace kiln::amdgcn
