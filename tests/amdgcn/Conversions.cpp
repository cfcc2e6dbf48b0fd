// Conversions between types, in all lanes.
#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"

namespace kiln::amdgcn {
namespace {

/// Towards zero; what is out of range becomes the nearest, a NaN 0.
template <typename T> T truncated(double value) {
  if (std::isnan(value))
    return 0;
  double low = double(std::numeric_limits<T>::min()), high = double(std::numeric_limits<T>::max());
  return value <= low    ? std::numeric_limits<T>::min()
         : value >= high ? std::numeric_limits<T>::max()
                         : T(value);
}

uint32_t halfTowardsZero(float value) {
  uint32_t bits = halfBits(value);
  bool isTooLarge = std::fabs(halfValue(bits)) > std::fabs(value);
  return isTooLarge && std::isfinite(value) ? bits - 1 : bits;
}

uint32_t packed(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }

SmallFloat byteFormat(const Wave &wave, bool isBf8) {
  if (wave.surroundings.hasOcpFloats)
    return isBf8 ? ocpE5M2 : ocpE4M3;
  return isBf8 ? fnuzE5M2 : fnuzE4M3;
}

/// V_CVT_PK_F32_FP8: the two bytes of one half of the source.
Operation widenBytePair(bool isBf8) {
  return [=](Wave &wave, const Instruction &in) {
    const Operand &source = in[1];
    LaneValues<uint32_t> words = read<uint32_t>(wave, in, {1, 0});
    bool isHigh = in.opSel[0] || source.half == Operand::Half::High;
    SmallFloat format = byteFormat(wave, isBf8);
    LaneBits bits;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      uint32_t pair = words[lane] >> (isHigh ? 16 : 0);
      bits[lane] = bitsAs<uint32_t>(float(format.decode(pair & 0xff))) |
                   uint64_t(bitsAs<uint32_t>(float(format.decode(pair >> 8 & 0xff)))) << 32;
    }
    writeBits(wave, in, 0, 1, 8, bits, writtenLanes(wave, in));
  };
}

/// `number` times the power of two of an f32 number's exponent, of which the largest one makes NaN.
double scaled(double number, uint32_t scale) {
  int exponent = int(scale >> 23 & 0xff);
  return exponent == 255 ? NAN : std::ldexp(number, exponent - 127);
}

/// Two numbers as f16 or bf16 in a word, or as f32 in two.
using PairWriter = uint64_t (*)(double, double);
uint64_t halves(double a, double b) { return packed(halfFormat.encode(a), halfFormat.encode(b)); }
uint64_t bfloats(double a, double b) {
  return packed(bfloatFormat.encode(a), bfloatFormat.encode(b));
}
uint64_t singles(double a, double b) {
  return bitsAs<uint32_t>(float(a)) | uint64_t(bitsAs<uint32_t>(float(b))) << 32;
}

/// V_CVT_SCALEF32_PK_F16_FP8: two bytes of one half of the source, times the power of two that is
/// the second source's exponent, rounded once (the host's code of AMD's amd_hip_ocp_host.hpp).
Operation widenScaledPair(bool isBf8, PairWriter write) {
  return [=](Wave &wave, const Instruction &in) {
    LaneValues<uint32_t> words = read<uint32_t>(wave, in, {1, 0}),
                         scales = read<uint32_t>(wave, in, {2, 1});
    SmallFloat format = byteFormat(wave, isBf8);
    LaneBits bits;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      uint32_t pair = words[lane] >> (in.opSel[0] ? 16 : 0);
      bits[lane] = write(scaled(format.decode(pair & 0xff), scales[lane]),
                         scaled(format.decode(pair >> 8 & 0xff), scales[lane]));
    }
    writeBits(wave, in, 0, 2, write == singles ? 8 : 4, bits, writtenLanes(wave, in));
  };
}

/// V_CVT_SCALEF32_PK_F16_FP4: the same of two e2m1 numbers, in one byte of the source.
Operation widenScaledNibbles(PairWriter write) {
  return [=](Wave &wave, const Instruction &in) {
    LaneValues<uint32_t> words = read<uint32_t>(wave, in, {1, 0}),
                         scales = read<uint32_t>(wave, in, {2, 1});
    LaneBits bits;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      uint32_t pair = words[lane] >> (8 * (in.opSel[0] + 2 * in.opSel[1]));
      bits[lane] = write(scaled(e2M1.decode(pair & 15), scales[lane]),
                         scaled(e2M1.decode(pair >> 4 & 15), scales[lane]));
    }
    writeBits(wave, in, 0, 2, write == singles ? 8 : 4, bits, writtenLanes(wave, in));
  };
}

/// V_CVT_F32_FP8: one byte, by SDWA or byte_sel.
Operation widenByte(bool isBf8) {
  return [=](Wave &wave, const Instruction &in) {
    LaneValues<uint32_t> words = read<uint32_t>(wave, in, {1, 0});
    SmallFloat format = byteFormat(wave, isBf8);
    LaneBits bits;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      bits[lane] =
          bitsAs<uint32_t>(float(format.decode(words[lane] >> (8 * in.byteSelect) & 0xff)));
    writeBits(wave, in, 0, 1, 4, bits, writtenLanes(wave, in));
  };
}

/// V_CVT_PK_FP8_F32: two floats to one half of the destination.
Operation narrowToBytes(bool isBf8) {
  return [=](Wave &wave, const Instruction &in) {
    LaneValues<float> a = read<float>(wave, in, {1, 0}), b = read<float>(wave, in, {2, 1});
    SmallFloat format = byteFormat(wave, isBf8);
    const Operand &to = in[0];
    LaneWords &words = wave.vectorToWrite(to.index, to.half);
    unsigned shift = in.opSel[2] || in.opSel[3] || to.half == Operand::Half::High ? 16 : 0;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      if (!wave.isActive(lane))
        continue;
      // Without the mode that clamps, what is too large is a NaN or an infinity.
      uint32_t pair = format.encode(a[lane]) | format.encode(b[lane]) << 8;
      words[lane] = (words[lane] & ~(0xffffu << shift)) | pair << shift;
    }
  };
}

void addHalves(OperationTable &table) {
  table["v_cvt_f16_f32"] = unary<Half, float>([](float a) { return double(a); });
  table["v_cvt_f32_f16"] = unary<float, Half>([](double a) { return float(a); });
  table["v_cvt_f16_u16"] = unary<Half, uint16_t>([](uint16_t a) { return double(a); });
  table["v_cvt_f16_i16"] = unary<Half, int16_t>([](int16_t a) { return double(a); });
  table["v_cvt_u16_f16"] = unary<uint16_t, Half>(truncated<uint16_t>);
  table["v_cvt_i16_f16"] = unary<int16_t, Half>(truncated<int16_t>);
  for (const char *one : {"v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"})
    table[one] = binary<uint32_t, float>(
        [](float a, float b) { return packed(halfTowardsZero(a), halfTowardsZero(b)); });
  table["v_cvt_pk_f16_f32"] =
      binary<uint32_t, float>([](float a, float b) { return packed(halfBits(a), halfBits(b)); });
  table["v_cvt_pk_bf16_f32"] = binary<uint32_t, float>(
      [](float a, float b) { return packed(bfloatFormat.encode(a), bfloatFormat.encode(b)); });
  table["v_cvt_pk_i16_f32"] = binary<uint32_t, float>([](float a, float b) {
    return packed(uint16_t(truncated<int16_t>(a)), uint16_t(truncated<int16_t>(b)));
  });
  table["v_cvt_pk_u16_f32"] = binary<uint32_t, float>(
      [](float a, float b) { return packed(truncated<uint16_t>(a), truncated<uint16_t>(b)); });
  table["v_pack_b32_f16"] =
      binary<uint32_t, uint16_t>([](uint16_t a, uint16_t b) { return packed(a, b); });
}

void addWords(OperationTable &table) {
  table["v_cvt_u32_f32"] = unary<uint32_t, float>(truncated<uint32_t>);
  table["v_cvt_i32_f32"] = unary<int32_t, float>(truncated<int32_t>);
  table["v_cvt_f32_u32"] = unary<float, uint32_t>([](uint32_t a) { return float(a); });
  table["v_cvt_f32_i32"] = unary<float, int32_t>([](int32_t a) { return float(a); });
  table["v_cvt_f64_f32"] = unary<double, float>([](float a) { return double(a); });
  table["v_cvt_f32_f64"] = unary<float, double>([](double a) { return float(a); });
  table["v_cvt_f64_u32"] = unary<double, uint32_t>([](uint32_t a) { return double(a); });
  table["v_cvt_f64_i32"] = unary<double, int32_t>([](int32_t a) { return double(a); });
  table["v_cvt_u32_f64"] = unary<uint32_t, double>(truncated<uint32_t>);
  table["v_cvt_i32_f64"] = unary<int32_t, double>(truncated<int32_t>);
  for (int byte = 0; byte != 4; ++byte)
    table["v_cvt_f32_ubyte" + std::to_string(byte)] =
        unary<float, uint32_t>([=](uint32_t a) { return float(a >> (8 * byte) & 0xff); });
  for (const char *one : {"v_cvt_i32_i16"})
    table[one] = unary<int32_t, int16_t>([](int16_t a) { return int32_t(a); });
  table["v_cvt_u32_u16"] = unary<uint32_t, uint16_t>([](uint16_t a) { return uint32_t(a); });
}

} // namespace

void addConversions(OperationTable &table) {
  addHalves(table);
  addWords(table);
  for (bool isBf8 : {false, true}) {
    std::string type = isBf8 ? "bf8" : "fp8";
    table["v_cvt_pk_f32_" + type] = widenBytePair(isBf8);
    table["v_cvt_scalef32_pk_f16_" + type] = widenScaledPair(isBf8, halves);
    table["v_cvt_scalef32_pk_bf16_" + type] = widenScaledPair(isBf8, bfloats);
    table["v_cvt_scalef32_pk_f32_" + type] = widenScaledPair(isBf8, singles);
    table["v_cvt_f32_" + type] = widenByte(isBf8);
    table["v_cvt_pk_" + type + "_f32"] = narrowToBytes(isBf8);
  }
  table["v_cvt_scalef32_pk_f16_fp4"] = widenScaledNibbles(halves);
  table["v_cvt_scalef32_pk_bf16_fp4"] = widenScaledNibbles(bfloats);
  table["v_cvt_scalef32_pk_f32_fp4"] = widenScaledNibbles(singles);
}

} // namespace kiln::amdgcn
