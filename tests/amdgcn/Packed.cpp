// Two operations of halves of registers at once, or of a pair of registers, and mixed precisions.
#include "tests/amdgcn/Extremes.h"
#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"
#include <algorithm>

namespace kiln::amdgcn {
namespace {

/// The sources of the low and of the high result.
template <typename T> struct Pair { LaneValues<T> low, high; };

template <typename T> typename LaneType<T>::Value decodePart(uint32_t bits, bool isNegated) {
  using Value = typename LaneType<T>::Value;
  Value value;
  if constexpr (std::is_same<T, Half>::value)
    value = halfValue(bits);
  else if constexpr (std::is_same<T, float>::value)
    value = bitsAs<float>(bits);
  else
    value = Value(bits);
  return isNegated ? Value(-value) : value;
}

/// Constants and scalars have their low part alone where the parts are f32: op_sel_hi chooses it.
/// Zero is zero in both, whatever is made of constants.
template <typename T> Pair<T> readPair(Wave &wave, const Instruction &in, Source source) {
  constexpr bool isWide = LaneType<T>::bytes == 4;
  const Operand &operand = in[source.operand];
  bool isConstant = operand.kind == Operand::Kind::Integer || operand.kind == Operand::Kind::Real;
  bool lowFromHigh = in.opSel[source.number], highFromHigh = in.opSelHi[source.number];
  if (isWide && isConstant && (lowFromHigh || highFromHigh) && constantBits(operand, 4) != 0)
    throw Fault("the upper part of a constant is read, which guides do not tell");
  LaneBits bits;
  if (isConstant)
    bits.fill(constantBits(operand, isWide ? 4 : LaneType<T>::isFloat ? 2 : 4));
  else
    bits = readBits(wave, in, source, isWide ? 8 : 4);
  constexpr unsigned width = 8 * LaneType<T>::bytes;
  auto part = [](uint64_t word, bool isHigh) {
    return uint32_t(word >> (isHigh ? width : 0)) & uint32_t((uint64_t(1) << width) - 1);
  };
  Pair<T> pair;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    pair.low[lane] = decodePart<T>(part(bits[lane], lowFromHigh), in.negLow[source.number]);
    pair.high[lane] = decodePart<T>(part(bits[lane], highFromHigh), in.negHigh[source.number]);
  }
  // A constant of f32 may have its sign before it.
  return pair;
}

template <typename T> void writePair(Wave &wave, const Instruction &in, const Pair<T> &pair) {
  constexpr unsigned width = 8 * LaneType<T>::bytes;
  LaneBits bits;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    bits[lane] = encode<T>(wave, in, pair.low[lane]) | encode<T>(wave, in, pair.high[lane])
                                                           << width;
  // Not 16 bits of a register: no half of it is chosen.
  writeBits(wave, in, 0, 3, width == 32 ? 8 : 4, bits, writtenLanes(wave, in));
}

template <typename T, typename Function> Operation packed(size_t numSources, Function function) {
  return [=](Wave &wave, const Instruction &in) {
    Pair<T> a = readPair<T>(wave, in, {1, 0}), b = readPair<T>(wave, in, {2, 1}), c = a;
    if (numSources == 3)
      c = readPair<T>(wave, in, {3, 2});
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      a.low[lane] = function(a.low[lane], b.low[lane], c.low[lane]);
      a.high[lane] = function(a.high[lane], b.high[lane], c.high[lane]);
    }
    writePair<T>(wave, in, a);
  };
}

/// Integers, which `clamp` saturates.
template <typename T, typename Function> Operation packedIntegers(Function function) {
  return [=](Wave &wave, const Instruction &in) {
    auto part = [&](T a, T b) {
      int value = function(int(a), int(b));
      return in.clamps ? T(std::clamp<int>(value, std::numeric_limits<T>::min(),
                                           std::numeric_limits<T>::max()))
                       : T(value);
    };
    Pair<T> a = readPair<T>(wave, in, {1, 0}), b = readPair<T>(wave, in, {2, 1});
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      a.low[lane] = part(a.low[lane], b.low[lane]);
      a.high[lane] = part(a.high[lane], b.high[lane]);
    }
    writePair<T>(wave, in, a);
  };
}

template <typename T> void addIntegers(OperationTable &table, const std::string &type) {
  table["v_pk_add_" + type] = packedIntegers<T>([](int a, int b) { return a + b; });
  table["v_pk_sub_" + type] = packedIntegers<T>([](int a, int b) { return a - b; });
  table["v_pk_max_" + type] = packedIntegers<T>([](int a, int b) { return std::max(a, b); });
  table["v_pk_min_" + type] = packedIntegers<T>([](int a, int b) { return std::min(a, b); });
}

template <typename T> void addFloats(OperationTable &table, const std::string &type) {
  table["v_pk_add_" + type] = packed<T>(2, [](auto a, auto b, auto) { return a + b; });
  table["v_pk_mul_" + type] = packed<T>(2, [](auto a, auto b, auto) { return a * b; });
  table["v_pk_fma_" + type] =
      packed<T>(3, [](auto a, auto b, auto c) { return std::fma(a, b, c); });
}

/// V_PK_MOV_B32: a register of each source, by op_sel.
void movePair(Wave &wave, const Instruction &in) {
  LaneBits a = readBits(wave, in, {1, 0}, 8), b = readBits(wave, in, {2, 1}, 8);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    a[lane] = (in.opSel[0] ? a[lane] >> 32 : a[lane] & 0xffffffff) |
              (in.opSel[1] ? b[lane] >> 32 : b[lane] & 0xffffffff) << 32;
  writeBits(wave, in, 0, 2, 8, a, writtenLanes(wave, in));
}

/// V_FMA_MIX: each source is f32, or by op_sel_hi a half of a register, by op_sel which.
LaneValues<float> readMixed(Wave &wave, const Instruction &in, Source source) {
  const Operand &operand = in[source.operand];
  LaneValues<float> values;
  bool isHalf = in.opSelHi[source.number];
  LaneBits bits;
  if (operand.kind == Operand::Kind::Integer || operand.kind == Operand::Kind::Real)
    bits.fill(constantBits(operand, isHalf ? 2 : 4));
  else
    bits = readBits(wave, in, source, 4);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    uint32_t word = uint32_t(bits[lane]);
    float value =
        isHalf ? halfValue(in.opSel[source.number] ? word >> 16 : word) : bitsAs<float>(word);
    value = operand.absolute ? std::fabs(value) : value;
    values[lane] = operand.negate ? -value : value;
  }
  return values;
}

LaneValues<float> mixed(Wave &wave, const Instruction &in) {
  LaneValues<float> a = readMixed(wave, in, {1, 0}), b = readMixed(wave, in, {2, 1}),
                    c = readMixed(wave, in, {3, 2});
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    a[lane] = std::fma(a[lane], b[lane], c[lane]);
  return a;
}

/// Without op_sel_hi all sources are f32, which is not what other packed instructions default to.
Instruction withMixDefaults(const Instruction &in) {
  Instruction copy = in;
  if (in.text.find("op_sel_hi:") == std::string::npos)
    copy.opSelHi = {};
  return copy;
}

void mixToSingle(Wave &wave, const Instruction &in) {
  Instruction copy = withMixDefaults(in);
  write<float>(wave, copy, 3, mixed(wave, copy));
}

/// To one half of the destination; the other stays.
void mixToHalf(Wave &wave, const Instruction &in) {
  Instruction copy = withMixDefaults(in);
  LaneValues<float> values = mixed(wave, copy);
  LaneWords &words = wave.vectorToWrite(copy[0].index);
  bool isHigh = copy.name == "v_fma_mixhi_f16";
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    if (!wave.isActive(lane))
      continue;
    uint32_t bits = uint32_t(encode<Half>(wave, copy, values[lane]));
    words[lane] = isHigh ? (words[lane] & 0xffff) | bits << 16 : (words[lane] & 0xffff0000) | bits;
  }
}

} // namespace

void addPacked(OperationTable &table) {
  addFloats<float>(table, "f32");
  addFloats<Half>(table, "f16");
  for (const char *one : {"v_pk_max_f16", "v_pk_max_num_f16"})
    table[one] = packed<Half>(2, [](double a, double b, double) { return larger(a, b); });
  for (const char *one : {"v_pk_min_f16", "v_pk_min_num_f16"})
    table[one] = packed<Half>(2, [](double a, double b, double) { return smaller(a, b); });
  table["v_pk_maximum3_f16"] =
      packed<Half>(3, [](double a, double b, double c) { return maximum(maximum(a, b), c); });
  table["v_pk_minimum3_f16"] =
      packed<Half>(3, [](double a, double b, double c) { return minimum(minimum(a, b), c); });
  table["v_pk_maximum_f16"] =
      packed<Half>(2, [](double a, double b, double) { return maximum(a, b); });
  table["v_pk_minimum_f16"] =
      packed<Half>(2, [](double a, double b, double) { return minimum(a, b); });
  addIntegers<uint16_t>(table, "u16");
  addIntegers<int16_t>(table, "i16");
  table["v_pk_mul_lo_u16"] = packed<uint16_t>(
      2, [](uint16_t a, uint16_t b, uint16_t) { return uint16_t(uint32_t(a) * b); });
  table["v_pk_mad_u16"] = packed<uint16_t>(
      3, [](uint16_t a, uint16_t b, uint16_t c) { return uint16_t(uint32_t(a) * b + c); });
  table["v_pk_lshlrev_b16"] =
      packed<uint16_t>(2, [](uint16_t n, uint16_t a, uint16_t) { return uint16_t(a << (n & 15)); });
  table["v_pk_lshrrev_b16"] =
      packed<uint16_t>(2, [](uint16_t n, uint16_t a, uint16_t) { return uint16_t(a >> (n & 15)); });
  table["v_pk_ashrrev_i16"] =
      packed<int16_t>(2, [](int16_t n, int16_t a, int16_t) { return int16_t(a >> (n & 15)); });
  table["v_pk_mov_b32"] = movePair;
  table["v_fma_mix_f32"] = mixToSingle;
  table["v_fma_mixlo_f16"] = mixToHalf;
  table["v_fma_mixhi_f16"] = mixToHalf;
}

} // namespace kiln::amdgcn
