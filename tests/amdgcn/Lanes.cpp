#include "tests/amdgcn/Lanes.h"

namespace kiln::amdgcn {
namespace {

/// The lane that `lane` reads; -1 where there is none.
int sourceLane(const Dpp &dpp, int lane, int numLanes) {
  int row = lane & ~15, inRow = lane & 15;
  switch (dpp.kind) {
  case Dpp::Kind::None:
    return lane;
  case Dpp::Kind::QuadPermute:
    return (lane & ~3) + dpp.selects[lane & 3];
  case Dpp::Kind::Eight:
    return (lane & ~7) + dpp.selects[lane & 7];
  case Dpp::Kind::ShiftLeft:
    return inRow + dpp.amount < 16 ? lane + dpp.amount : -1;
  case Dpp::Kind::ShiftRight:
    return inRow >= dpp.amount ? lane - dpp.amount : -1;
  case Dpp::Kind::RotateRight:
    return row + ((inRow - dpp.amount) & 15);
  case Dpp::Kind::Mirror:
    return row + 15 - inRow;
  case Dpp::Kind::HalfMirror:
    return (lane & ~7) + 7 - (lane & 7);
  case Dpp::Kind::Broadcast15:
    return row - 1;
  case Dpp::Kind::Broadcast31:
    return lane < 32 ? -1 : 31;
  case Dpp::Kind::NewBroadcast:
  case Dpp::Kind::Share:
    return row + dpp.amount;
  case Dpp::Kind::XorMask:
    return row + (inRow ^ dpp.amount);
  }
  (void)numLanes;
  return -1;
}

bool canFetch(const Wave &wave, const Dpp &dpp, int from) {
  return from >= 0 && (dpp.fetchInactive || wave.isActive(unsigned(from)));
}

void permute(const Wave &wave, const Dpp &dpp, LaneBits &bits) {
  LaneBits original = bits;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    int from = sourceLane(dpp, int(lane), int(wave.numLanes));
    bits[lane] = canFetch(wave, dpp, from) ? original[unsigned(from)] : 0;
  }
}

unsigned firstBit(Part part) {
  switch (part) {
  case Part::Byte1:
    return 8;
  case Part::Byte2:
  case Part::Word1:
    return 16;
  case Part::Byte3:
    return 24;
  default:
    return 0;
  }
}

unsigned widthOf(Part part) {
  return part == Part::Dword ? 32 : part == Part::Word0 || part == Part::Word1 ? 16 : 8;
}

void selectPart(Part part, bool signExtend, LaneBits &bits, unsigned numLanes) {
  unsigned unused = 32 - widthOf(part);
  for (unsigned lane = 0; lane != numLanes; ++lane) {
    uint32_t value = uint32_t(bits[lane]) >> firstBit(part) << unused;
    bits[lane] = signExtend ? uint32_t(int32_t(value) >> unused) : value >> unused;
  }
}

void broadcast(LaneBits &bits, uint64_t value) { bits.fill(value); }

/// The register's or constant's own bits; of two registers where `bytes` is 8.
LaneBits wholeBits(Wave &wave, const Operand &operand, unsigned bytes) {
  LaneBits bits;
  bool isPair = bytes == 8;
  switch (operand.kind) {
  case Operand::Kind::Vector: {
    const LaneWords &low = wave.vector(operand.index, operand.half);
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      bits[lane] = low[lane];
    if (!isPair)
      break;
    const LaneWords &high = wave.vector(operand.index + 1);
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      bits[lane] |= uint64_t(high[lane]) << 32;
    break;
  }
  case Operand::Kind::Scalar:
    broadcast(bits, isPair ? wave.scalarPair(operand.index) : wave.scalar(operand.index));
    break;
  case Operand::Kind::Scc:
    broadcast(bits, wave.scc);
    break;
  case Operand::Kind::Integer:
  case Operand::Kind::Real:
    broadcast(bits, constantBits(operand, bytes));
    break;
  default:
    throw Fault("expected a register or a constant, got '" + operand.word + "'");
  }
  return bits;
}

} // namespace

uint64_t constantBits(const Operand &operand, unsigned bytes) {
  if (operand.kind == Operand::Kind::Integer)
    return bytes == 8 ? uint64_t(operand.integer) : uint32_t(operand.integer);
  return bytes == 8   ? bitsAs<uint64_t>(operand.real)
         : bytes == 4 ? bitsAs<uint32_t>(float(operand.real))
                      : halfBits(operand.real);
}

float flushed(const Wave &wave, float value) {
  if (wave.surroundings.flushesSingles && std::fpclassify(value) == FP_SUBNORMAL)
    return std::copysign(0.f, value);
  return value;
}

LaneBits readBits(Wave &wave, const Instruction &instruction, Source source, unsigned bytes) {
  const Operand &operand = instruction[source.operand];
  LaneBits bits = wholeBits(wave, operand, bytes);
  if (instruction.sdwa.isUsed && source.number < 2) {
    selectPart(instruction.sdwa.sources[source.number], operand.signExtend, bits, wave.numLanes);
  } else if (bytes == 2) {
    bool isHigh = operand.half == Operand::Half::High ||
                  (operand.half == Operand::Half::Whole && instruction.opSel[source.number] &&
                   (operand.isVector() || operand.isScalar()));
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      bits[lane] = bits[lane] >> (isHigh ? 16 : 0) & 0xffff;
  }
  if (instruction.dpp.kind != Dpp::Kind::None && source.number == 0)
    permute(wave, instruction.dpp, bits);
  return bits;
}

uint64_t writtenLanes(const Wave &wave, const Instruction &instruction) {
  const Dpp &dpp = instruction.dpp;
  uint64_t lanes = wave.exec();
  if (dpp.kind == Dpp::Kind::None)
    return lanes;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    int from = sourceLane(dpp, int(lane), int(wave.numLanes));
    bool isMasked = !(dpp.rowMask >> (lane / 16) & 1) || !(dpp.bankMask >> (lane / 4 % 4) & 1);
    if (isMasked || (!canFetch(wave, dpp, from) && !dpp.zeroOutOfBounds))
      lanes &= ~(uint64_t(1) << lane);
  }
  return lanes;
}

namespace {

/// A word with a part of it replaced, as SDWA says.
uint32_t replacePart(const Sdwa &sdwa, uint32_t old, uint32_t value) {
  unsigned first = firstBit(sdwa.destination), width = widthOf(sdwa.destination);
  if (width == 32)
    return value;
  uint32_t mask = ((1u << width) - 1) << first, placed = value << first & mask;
  switch (sdwa.unused) {
  case Sdwa::Unused::Pad:
    return placed;
  case Sdwa::Unused::Preserve:
    return (old & ~mask) | placed;
  case Sdwa::Unused::SignExtend:
    return placed | (placed >> (first + width - 1) & 1 ? ~0u << (first + width - 1) : 0);
  }
  return placed;
}

} // namespace

void writeBits(Wave &wave, const Instruction &instruction, size_t operand, unsigned numSources,
               unsigned bytes, const LaneBits &values, uint64_t lanes) {
  const Operand &to = instruction[operand];
  if (!to.isVector())
    throw Fault("expected a vector register as destination");
  LaneWords &low = wave.vectorToWrite(to.index, to.half);
  bool isHigh = to.half == Operand::Half::High ||
                (to.half == Operand::Half::Whole && bytes == 2 && instruction.opSel[numSources]);
  // GFX9 clears the upper half where a result has 16 bits and is not placed there.
  bool isKept = wave.surroundings.generation != Generation::Gfx9 || instruction.hasOpSel;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    uint32_t value = uint32_t(values[lane]);
    if (instruction.sdwa.isUsed)
      value = replacePart(instruction.sdwa, low[lane], value);
    else if (bytes == 2 && isHigh)
      value = (low[lane] & 0xffff) | value << 16;
    else if (bytes == 2 && isKept)
      value = (low[lane] & 0xffff0000) | (value & 0xffff);
    low[lane] = value;
  }
  if (bytes != 8)
    return;
  LaneWords &high = wave.vectorToWrite(to.index + 1);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    if (lanes >> lane & 1)
      high[lane] = uint32_t(values[lane] >> 32);
}

} // namespace kiln::amdgcn
