// Operands of vector instructions in all lanes, and the shapes that most instructions have.
#ifndef KILN_TESTS_AMDGCN_LANES_H
#define KILN_TESTS_AMDGCN_LANES_H

#include "tests/amdgcn/SmallFloats.h"
#include "tests/amdgcn/Wave.h"
#include <cmath>
#include <cstring>

namespace kiln::amdgcn {

template <typename To, typename From> To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// The types that operands have: how wide they are, and what is computed with.
struct Half {};
template <typename T> struct LaneType {
  using Value = T;
  static constexpr unsigned bytes = sizeof(T);
  static constexpr bool isFloat = std::is_floating_point<T>::value;
};
/// Computed in f64, in which sums and products of halves are exact, and rounded once.
template <> struct LaneType<Half> {
  using Value = double;
  static constexpr unsigned bytes = 2;
  static constexpr bool isFloat = true;
};
template <typename T> using LaneValues = std::array<typename LaneType<T>::Value, 64>;

/// Where a source stands: its place among the operands, and its number among the sources.
struct Source {
  size_t operand;
  unsigned number;
};

using LaneBits = std::array<uint64_t, 64>;

/// The bits of a source that is `bytes` wide, with what the instruction selects of lanes and parts,
/// without signs.
LaneBits readBits(Wave &wave, const Instruction &instruction, Source source, unsigned bytes);

/// The lanes that the instruction writes.
uint64_t writtenLanes(const Wave &wave, const Instruction &instruction);

/// Writes `bytes` to the destination, `number` of whose sources is the first behind the last.
void writeBits(Wave &wave, const Instruction &instruction, size_t operand, unsigned numSources,
               unsigned bytes, const LaneBits &values, uint64_t lanes);

/// A constant of a float's bits, or the integer's.
uint64_t constantBits(const Operand &operand, unsigned bytes);

/// Integers from -16 to 64 are in the instruction itself.
inline bool isLiteral(const Operand &operand) {
  return operand.kind == Operand::Kind::Integer && (operand.integer < -16 || operand.integer > 64);
}

float flushed(const Wave &wave, float value);

template <typename T>
typename LaneType<T>::Value decode(const Wave &wave, uint64_t bits, const Operand &operand) {
  using Value = typename LaneType<T>::Value;
  if constexpr (!LaneType<T>::isFloat) {
    // Bits that instructions move or pack (V_CNDMASK, V_PACK_B32_F16) have a float's sign.
    constexpr uint64_t sign = uint64_t(1) << (8 * LaneType<T>::bytes - 1);
    return Value((operand.absolute ? bits & ~sign : bits) ^ (operand.negate ? sign : 0));
  } else {
    Value value;
    if constexpr (std::is_same<T, Half>::value)
      value = halfValue(uint32_t(bits));
    else if constexpr (sizeof(Value) == 4)
      value = flushed(wave, bitsAs<float>(uint32_t(bits)));
    else
      value = bitsAs<double>(bits);
    if (operand.absolute)
      value = std::fabs(value);
    return operand.negate ? -value : value;
  }
}

template <typename T>
LaneValues<T> read(Wave &wave, const Instruction &instruction, Source source) {
  LaneBits bits = readBits(wave, instruction, source, LaneType<T>::bytes);
  const Operand &operand = instruction[source.operand];
  // A literal of f64 is its upper half (ISA guides, "Literal Constants").
  if (std::is_same<T, double>::value && isLiteral(operand))
    bits.fill(uint64_t(uint32_t(operand.integer)) << 32);
  LaneValues<T> values;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    values[lane] = decode<T>(wave, bits[lane], operand);
  return values;
}

template <typename T>
uint64_t encode(const Wave &wave, const Instruction &instruction,
                typename LaneType<T>::Value value) {
  if constexpr (LaneType<T>::isFloat) {
    if (instruction.scale != 1)
      value *= instruction.scale;
    if (instruction.clamps)
      value = value >= 1 ? 1 : value > 0 ? value : 0;
  }
  if constexpr (std::is_same<T, Half>::value)
    return halfBits(value);
  else if constexpr (std::is_same<T, float>::value)
    return bitsAs<uint32_t>(flushed(wave, value));
  else if constexpr (std::is_same<T, double>::value)
    return bitsAs<uint64_t>(value);
  else if constexpr (sizeof(T) == 8)
    return uint64_t(value);
  else
    return uint64_t(value) & ((uint64_t(1) << (8 * sizeof(T))) - 1);
}

template <typename T>
void write(Wave &wave, const Instruction &instruction, unsigned numSources,
           const LaneValues<T> &values, size_t operand = 0) {
  LaneBits bits;
  uint64_t lanes = writtenLanes(wave, instruction);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    bits[lane] = encode<T>(wave, instruction, values[lane]);
  writeBits(wave, instruction, operand, numSources, LaneType<T>::bytes, bits, lanes);
}

// --- shapes: the destination comes first, then sources ---

template <typename Result, typename A = Result, typename Function>
Operation unary(Function function) {
  return [function](Wave &wave, const Instruction &in) {
    LaneValues<A> a = read<A>(wave, in, {1, 0});
    LaneValues<Result> result;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      result[lane] = function(a[lane]);
    write<Result>(wave, in, 1, result);
  };
}

template <typename Result, typename A = Result, typename B = A, typename Function>
Operation binary(Function function) {
  return [function](Wave &wave, const Instruction &in) {
    LaneValues<A> a = read<A>(wave, in, {1, 0});
    LaneValues<B> b = read<B>(wave, in, {2, 1});
    LaneValues<Result> result;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      result[lane] = function(a[lane], b[lane]);
    write<Result>(wave, in, 2, result);
  };
}

template <typename Result, typename A = Result, typename B = A, typename C = B, typename Function>
Operation ternary(Function function) {
  return [function](Wave &wave, const Instruction &in) {
    LaneValues<A> a = read<A>(wave, in, {1, 0});
    LaneValues<B> b = read<B>(wave, in, {2, 1});
    LaneValues<C> c = read<C>(wave, in, {3, 2});
    LaneValues<Result> result;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      result[lane] = function(a[lane], b[lane], c[lane]);
    write<Result>(wave, in, 3, result);
  };
}

/// The destination is the last source.
template <typename T, typename Function> Operation accumulating(Function function) {
  return [function](Wave &wave, const Instruction &in) {
    LaneValues<T> a = read<T>(wave, in, {1, 0});
    LaneValues<T> b = read<T>(wave, in, {2, 1});
    LaneValues<T> c = read<T>(wave, in, {0, 2});
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      c[lane] = function(a[lane], b[lane], c[lane]);
    write<T>(wave, in, 2, c);
  };
}

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_LANES_H
