// Loads to scalar registers, which return in any order.
#include "tests/amdgcn/Operations.h"
#include "tests/amdgcn/Scalars.h"

namespace kiln::amdgcn {
namespace {

void perform(Wave &wave, Access &access) {
  for (uint32_t i = 0; i != access.registers; ++i) {
    uint32_t value = 0;
    wave.surroundings.caches->ofScalars().load(access.addresses[0] + 4 * i, &value,
                                               std::min<uint32_t>(access.bytes, 4),
                                               access.instruction->scope);
    if (access.isSigned)
      value = access.bytes == 1 ? uint32_t(int8_t(value)) : uint32_t(int16_t(value));
    access.data[i][0] = value;
  }
}

std::unique_ptr<Access> start(const Instruction &in, uint32_t bytes, bool isSigned) {
  auto access = InFlight::start(in, Counter::Scalar, perform);
  access->bytes = bytes;
  access->isSigned = isSigned;
  access->registers = (bytes + 3) / 4;
  access->target = Operand::Kind::Scalar;
  access->destination = in[0].index;
  if (!in[0].isScalar())
    throw Fault("expected scalar registers as destination");
  return access;
}

uint64_t offsetOf(const Wave &wave, const Instruction &in) {
  const Operand &operand = in[2];
  int64_t offset = operand.kind == Operand::Kind::Integer ? operand.integer
                                                          : readScalar<uint32_t>(wave, operand);
  return uint64_t(offset + in.offset);
}

Operation load(uint32_t bytes, bool isSigned = false) {
  return [=](Wave &wave, const Instruction &in) {
    auto access = start(in, bytes, isSigned);
    uint64_t address = wave.scalarPair(in[1].index) + offsetOf(wave, in);
    access->addresses[0] = bytes >= 4 ? address & ~uint64_t(3) : address;
    wave.surroundings.allocations->check(access->addresses[0], bytes, false);
    wave.inFlight.issue(std::move(access));
  };
}

Operation loadFromBuffer(uint32_t bytes) {
  return [=](Wave &wave, const Instruction &in) {
    auto access = start(in, bytes, false);
    unsigned descriptor = in[1].index;
    uint64_t base = wave.scalarPair(descriptor) & 0xffffffffffff, offset = offsetOf(wave, in) & ~3;
    access->addresses[0] = base + offset;
    uint32_t records = wave.scalar(descriptor + 2);
    for (uint32_t i = 0; i != access->registers; ++i)
      if (offset + 4 * i + 4 > records)
        throw Fault("scalar load beyond the end of a buffer");
    wave.surroundings.allocations->check(access->addresses[0], bytes, false);
    wave.inFlight.issue(std::move(access));
  };
}

} // namespace

void addScalarLoads(OperationTable &table) {
  for (uint32_t dwords : {1, 2, 3, 4, 8, 16}) {
    std::string old = dwords == 1 ? "dword" : "dwordx" + std::to_string(dwords);
    for (const std::string &type : {old, "b" + std::to_string(32 * dwords)}) {
      table["s_load_" + type] = load(4 * dwords);
      table["s_buffer_load_" + type] = loadFromBuffer(4 * dwords);
    }
  }
  table["s_load_u8"] = load(1);
  table["s_load_i8"] = load(1, true);
  table["s_load_u16"] = load(2);
  table["s_load_i16"] = load(2, true);
}

} // namespace kiln::amdgcn
