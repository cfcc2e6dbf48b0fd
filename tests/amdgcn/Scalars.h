// Operands of scalar instructions.
#ifndef KILN_TESTS_AMDGCN_SCALARS_H
#define KILN_TESTS_AMDGCN_SCALARS_H

#include "tests/amdgcn/Lanes.h"

namespace kiln::amdgcn {

template <typename T> T readScalar(const Wave &wave, const Operand &operand) {
  if (operand.isScalar()) {
    if constexpr (sizeof(T) == 8)
      return bitsAs<T>(wave.scalarPair(operand.index));
    else
      return bitsAs<T>(wave.scalar(operand.index));
  }
  if (operand.kind == Operand::Kind::Null)
    return T(0);
  if (operand.kind == Operand::Kind::Scc)
    return T(wave.scc);
  if (operand.kind != Operand::Kind::Integer && operand.kind != Operand::Kind::Real)
    throw Fault("expected a scalar register or a constant");
  if constexpr (sizeof(T) == 8)
    return bitsAs<T>(constantBits(operand, 8));
  else
    return bitsAs<T>(uint32_t(constantBits(operand, 4)));
}

template <typename T> void writeScalar(Wave &wave, const Operand &operand, T value) {
  if (operand.kind == Operand::Kind::Null)
    return;
  if (!operand.isScalar())
    throw Fault("expected a scalar register as destination");
  if constexpr (sizeof(T) == 8)
    wave.setScalarPair(operand.index, bitsAs<uint64_t>(value));
  else
    wave.setScalar(operand.index, bitsAs<uint32_t>(value));
}

/// A float of the low bits, with the operand's signs.
template <typename T>
typename LaneType<T>::Value readScalarFloat(const Wave &wave, const Operand &operand) {
  uint64_t bits =
      operand.isScalar() ? wave.scalar(operand.index) : constantBits(operand, LaneType<T>::bytes);
  return decode<T>(wave, bits, operand);
}

/// To the first operand; bits above the float's become 0.
template <typename T>
void writeScalarFloat(Wave &wave, const Instruction &instruction,
                      typename LaneType<T>::Value value) {
  writeScalar<uint32_t>(wave, instruction[0], uint32_t(encode<T>(wave, instruction, value)));
}

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_SCALARS_H
