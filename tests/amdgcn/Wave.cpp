#include "tests/amdgcn/Wave.h"

namespace kiln::amdgcn {
namespace {

std::string vectorName(unsigned index) {
  return index < FirstAccumulator ? "v" + std::to_string(index)
                                  : "a" + std::to_string(index - FirstAccumulator);
}

std::string scalarName(unsigned index) {
  switch (index) {
  case VccLow:
    return "vcc_lo";
  case VccLow + 1:
    return "vcc_hi";
  case ExecLow:
    return "exec_lo";
  case ExecLow + 1:
    return "exec_hi";
  case M0:
    return "m0";
  default:
    return "s" + std::to_string(index);
  }
}

} // namespace

Wave::Wave(const Surroundings &surroundings, unsigned number, unsigned numLanes, uint32_t noise)
    : surroundings(surroundings), number(number), numLanes(numLanes),
      scratchBytes(surroundings.scratchBytes), inFlight(*this, noise), vectors(NumVectors),
      privateMemory(uint64_t(numLanes) * scratchBytes) {
  auto next = [&noise] { return noise = noise * 1664525 + 1013904223; };
  for (LaneWords &lanes : vectors)
    for (uint32_t &word : lanes)
      word = next();
  for (uint32_t &word : scalars)
    word = next();
  for (uint8_t &byte : privateMemory)
    byte = uint8_t(next() >> 24);
}

uint32_t Wave::scalar(unsigned index) const {
  if (pendingScalars[index])
    throw Fault(scalarName(index) + " is read before the load to it was waited for");
  return scalars[index];
}

void Wave::setScalar(unsigned index, uint32_t value) {
  if (pendingScalars[index])
    throw Fault(scalarName(index) + " is written before the load to it was waited for");
  scalars[index] = value;
}

void Wave::checkVector(unsigned index, Operand::Half half) const {
  const Pending &pending = pendingVectors[index];
  if ((pending.low && half != Operand::Half::High) || (pending.high && half != Operand::Half::Low))
    throw Fault(vectorName(index) + " is read or written before the load to it was waited for");
}

void Wave::markVector(unsigned index, Operand::Half half, Counter counter, int change) {
  Pending &pending = pendingVectors[index];
  if (change > 0 && pending.counter != counter)
    checkVector(index, half);
  pending.counter = counter;
  if (half != Operand::Half::High)
    pending.low = uint8_t(pending.low + change);
  if (half != Operand::Half::Low)
    pending.high = uint8_t(pending.high + change);
}

void Wave::markScalar(unsigned index, int change) {
  if (change > 0 && pendingScalars[index])
    throw Fault(scalarName(index) + " is loaded again before the load to it was waited for");
  pendingScalars[index] = uint8_t(pendingScalars[index] + change);
}

} // namespace kiln::amdgcn
