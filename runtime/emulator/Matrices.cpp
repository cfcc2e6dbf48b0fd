// Matrix instructions: the last lane to arrive gathers the fragments of all lanes, multiplies, and
// deals the result out.
//
// Accuracy: products of 8 and 16-bit operands and of tf32 are exact in f32, and are added there in
// the order of k. The order and inner width of real units differ by generation and are not
// documented. Where f32 is the operand type, f64 is used inside.

#include "runtime/emulator/Block.h"
#include "runtime/emulator/Fragments.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace kiln::emulator;

namespace {

float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// A float with `mantissa` bits, `bits` in all: its exponent and mantissa go where f32 has them,
/// and a product corrects the bias.
float widen(uint32_t word, unsigned bits, unsigned mantissa, int bias, bool hasInfinity) {
  uint32_t magnitude = word & ((1u << (bits - 1)) - 1), sign = word >> (bits - 1) << 31;
  uint32_t exponents = (1u << (bits - 1 - mantissa)) - 1;
  uint32_t moved = magnitude << (23 - mantissa);
  float value = hasInfinity && magnitude >> mantissa == exponents
                    ? asFloat(moved | 0x7f800000)
                    : asFloat(moved) * asFloat(uint32_t(127 - bias + 127) << 23);
  return asFloat(bitsOfFloat(value) | sign);
}

float fromHalf(uint16_t half) { return widen(half, 16, 10, 15, true); }

/// f32 to f16, to nearest even.
uint16_t toHalf(float value) {
  uint32_t bits = bitsOfFloat(value), sign = bits >> 16 & 0x8000;
  float magnitude = std::fabs(value);
  if (std::isnan(value))
    return uint16_t(sign | 0x7e00);
  if (magnitude >= 65520.f)
    return uint16_t(sign | 0x7c00);
  if (magnitude < 0x1p-14f) // adding a number whose last place is 2^-24 rounds
    return uint16_t(sign | (bitsOfFloat(magnitude + 0.5f) - bitsOfFloat(0.5f)));
  uint32_t word = bits & 0x7fffffff;
  return uint16_t(sign | ((word + 0xfff + (word >> 13 & 1) - (112u << 23)) >> 13));
}

template <typename Stored> Stored stored(const void *fragment, uint32_t e) {
  Stored value;
  std::memcpy(&value, static_cast<const unsigned char *>(fragment) + sizeof(Stored) * e,
              sizeof value);
  return value;
}

/// Element `e` of a fragment of 8-bit floats.
template <uint32_t type> float smallElement(const void *fragment, uint32_t e) {
  uint8_t byte = stored<uint8_t>(fragment, e);
  switch (type) {
  case KILN_EMU_E4M3: // OFP8: no infinity, all ones is NaN
    return (byte & 0x7f) == 0x7f ? NAN : widen(byte, 8, 3, 7, false);
  case KILN_EMU_E5M2:
    return widen(byte, 8, 2, 15, true);
  case KILN_EMU_E4M3FNUZ: // the sign bit alone is NaN
    return byte == 0x80 ? NAN : widen(byte, 8, 3, 8, false);
  default:
    return byte == 0x80 ? NAN : widen(byte, 8, 2, 16, false);
  }
}

/// Element `e` of a fragment of the type as a number.
template <uint32_t type, typename Number> Number element(const void *fragment, uint32_t e) {
  switch (type) {
  case KILN_EMU_F16:
    return Number(fromHalf(stored<uint16_t>(fragment, e)));
  case KILN_EMU_BF16:
    return Number(asFloat(uint32_t(stored<uint16_t>(fragment, e)) << 16));
  case KILN_EMU_TF32:
    return Number(asFloat(stored<uint32_t>(fragment, e) & ~0x1fffu));
  case KILN_EMU_F32:
    return Number(stored<float>(fragment, e));
  case KILN_EMU_S32:
    return Number(stored<int32_t>(fragment, e));
  case KILN_EMU_F64:
    return Number(stored<double>(fragment, e));
  case KILN_EMU_S8:
    return Number(stored<int8_t>(fragment, e));
  case KILN_EMU_U8:
    return Number(stored<uint8_t>(fragment, e));
  default:
    return Number(smallElement<type>(fragment, e));
  }
}

template <typename Number>
void setElement(void *fragment, uint32_t type, uint32_t e, Number value) {
  auto *bytes = static_cast<unsigned char *>(fragment);
  auto put = [&](auto stored) { std::memcpy(bytes + sizeof stored * e, &stored, sizeof stored); };
  if (type == KILN_EMU_F16)
    put(toHalf(float(value)));
  else if (type == KILN_EMU_F64)
    put(double(value));
  else if (type == KILN_EMU_S32)
    put(int32_t(value));
  else
    put(float(value));
}

struct Multiply {
  const void *a, *b, *c;
  void *d;
};

/// Places of one operand's elements, as offsets into a row-major matrix: the functions of
/// Fragments.h, asked once for each instruction.
struct Offsets {
  kiln_emu_matrix matrix;
  std::vector<uint16_t> a, b, c;
  uint32_t perLaneA, perLaneB, perLaneC;

  Offsets(const kiln_emu_matrix &matrix, unsigned numLanes)
      : matrix(matrix), perLaneA(elementsOfA(matrix)), perLaneB(elementsOfB(matrix)),
        perLaneC(elementsOfC(matrix)) {
    auto fill = [&](std::vector<uint16_t> &offsets, uint32_t perLane, auto placeOf,
                    uint32_t columns) {
      for (unsigned lane = 0; lane < numLanes; ++lane)
        for (uint32_t e = 0; e < perLane; ++e) {
          Place place = placeOf(matrix, lane, e);
          offsets.push_back(uint16_t(place.row * columns + place.column));
        }
    };
    fill(a, perLaneA, placeOfA, matrix.k);
    fill(b, perLaneB, placeOfB, matrix.n);
    fill(c, perLaneC, placeOfC, matrix.n);
  }
};

const Offsets &offsetsOf(const kiln_emu_matrix &matrix, unsigned numLanes) {
  static thread_local std::vector<std::unique_ptr<Offsets>> known;
  for (const auto &offsets : known)
    if (!std::memcmp(&offsets->matrix, &matrix, sizeof matrix))
      return *offsets;
  known.push_back(std::make_unique<Offsets>(matrix, numLanes));
  return *known.back();
}

constexpr unsigned maxElements = 32 * 64;

/// One operand's places, and how many of them are a lane's.
struct Operand {
  const std::vector<uint16_t> &offsets;
  uint32_t perLane;
  const void *Multiply::*fragment;
};

template <uint32_t type, typename Number>
void gatherOf(const Warp &warp, const Operand &operand, Number *to) {
  const uint16_t *offset = operand.offsets.data(), *end = offset + operand.offsets.size();
  for (unsigned lane = 0; offset != end; ++lane) {
    const void *fragment = warp.request<Multiply>(lane).*operand.fragment;
    for (uint32_t e = 0; e < operand.perLane; ++e)
      to[*offset++] = element<type, Number>(fragment, e);
  }
}

/// The operand as a row-major matrix.
template <typename Number>
void gather(const Warp &warp, const Operand &operand, uint32_t type, Number *to) {
  switch (type) {
#define KILN_GATHER(TYPE)                                                                          \
  case TYPE:                                                                                       \
    return gatherOf<TYPE>(warp, operand, to);
    KILN_GATHER(KILN_EMU_F16)
    KILN_GATHER(KILN_EMU_BF16)
    KILN_GATHER(KILN_EMU_TF32)
    KILN_GATHER(KILN_EMU_F32)
    KILN_GATHER(KILN_EMU_F64)
    KILN_GATHER(KILN_EMU_S8)
    KILN_GATHER(KILN_EMU_U8)
    KILN_GATHER(KILN_EMU_S32)
    KILN_GATHER(KILN_EMU_E4M3)
    KILN_GATHER(KILN_EMU_E5M2)
    KILN_GATHER(KILN_EMU_E4M3FNUZ)
    KILN_GATHER(KILN_EMU_E5M2FNUZ)
#undef KILN_GATHER
  }
}

/// c += a * b, row-major; n is known so that rows of c stay in registers.
template <uint32_t n, typename Number>
void accumulate(uint32_t m, uint32_t k, const Number *a, const Number *b, Number *c) {
  for (uint32_t row = 0; row < m; ++row) {
    Number sums[n];
    std::copy(c + row * n, c + row * n + n, sums);
    for (uint32_t i = 0; i < k; ++i)
      for (uint32_t column = 0; column < n; ++column)
        sums[column] += a[row * k + i] * b[i * n + column];
    std::copy(sums, sums + n, c + row * n);
  }
}

template <typename Number>
void multiply(const Warp &warp, const kiln_emu_matrix &matrix, const Offsets &offsets) {
  Number a[maxElements], b[maxElements], c[maxElements];
  gather(warp, {offsets.a, offsets.perLaneA, &Multiply::a}, matrix.a, a);
  gather(warp, {offsets.b, offsets.perLaneB, &Multiply::b}, matrix.b, b);
  gather(warp, {offsets.c, offsets.perLaneC, &Multiply::c}, matrix.c, c);
  if (matrix.n == 8)
    accumulate<8>(matrix.m, matrix.k, a, b, c);
  else if (matrix.n == 16)
    accumulate<16>(matrix.m, matrix.k, a, b, c);
  else
    accumulate<32>(matrix.m, matrix.k, a, b, c);
  size_t index = 0;
  for (unsigned lane = 0; index < offsets.c.size(); ++lane)
    for (uint32_t e = 0; e < offsets.perLaneC; ++e)
      setElement(warp.request<Multiply>(lane).d, matrix.c, e, c[offsets.c[index++]]);
}

struct MatrixRows {
  const void *address;
  uint32_t *words;
};

} // namespace

void kiln_emu_multiply(kiln_emu_thread *thread, const kiln_emu_site *site,
                       const kiln_emu_matrix *matrix, const void *a, const void *b, const void *c,
                       void *d) {
  Thread &self = threadOf(thread);
  Multiply own{a, b, c, d};
  self.block->collective(self, site, ~uint64_t(0), own, [&](Warp &warp) {
    unsigned numLanes = unsigned(__builtin_popcountll(warp.full));
    if (!isDescribed(*matrix) || numLanes != (matrix->family == KILN_EMU_MFMA ? 64 : 32))
      self.block->fail(self, site, Finding::Operand, "this shape is not emulated");
    const Offsets &offsets = offsetsOf(*matrix, numLanes);
    if (self.block->launched().count)
      self.block->counts().operations(site, uint64_t(2) * matrix->m * matrix->n * matrix->k);
    if (matrix->c == KILN_EMU_S32) // sums wrap around
      multiply<uint32_t>(warp, *matrix, offsets);
    else if (matrix->a == KILN_EMU_F32 || matrix->a == KILN_EMU_F64)
      multiply<double>(warp, *matrix, offsets);
    else
      multiply<float>(warp, *matrix, offsets);
  });
}

// PTX ISA, "ldmatrix": the addresses of 8x8 matrix i are those of lanes 8 i to 8 i + 7; lane l gets
// elements 2 (l % 4) and the next of row l / 4, or of column l / 4 with .trans.
void kiln_emu_ldmatrix(kiln_emu_thread *thread, const kiln_emu_site *site, const void *address,
                       uint32_t count, uint32_t transposed, uint32_t *out) {
  Thread &self = threadOf(thread);
  uint16_t row[8];
  if (self.lane < 8 * count)
    kiln_emu_load(thread, site, KILN_EMU_SHARED, address, row, 16, 16, 1);
  MatrixRows own{row, out};
  self.block->collective(self, site, ~uint64_t(0), own, [&](Warp &warp) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < count; ++i) {
        uint16_t pair[2];
        for (unsigned e = 0; e < 2; ++e) {
          unsigned from = transposed ? lane % 4 * 2 + e : lane / 4,
                   column = transposed ? lane / 4 : lane % 4 * 2 + e;
          pair[e] =
              static_cast<const uint16_t *>(warp.request<MatrixRows>(8 * i + from).address)[column];
        }
        std::memcpy(&warp.request<MatrixRows>(lane).words[i], pair, 4);
      }
  });
}

void kiln_emu_stmatrix(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                       uint32_t count, uint32_t transposed, const uint32_t *in) {
  Thread &self = threadOf(thread);
  uint16_t row[8];
  uint32_t words[4];
  std::copy(in, in + count, words);
  MatrixRows own{row, words};
  self.block->collective(self, site, ~uint64_t(0), own, [&](Warp &warp) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < count; ++i) {
        uint16_t pair[2];
        std::memcpy(pair, &warp.request<MatrixRows>(lane).words[i], 4);
        for (unsigned e = 0; e < 2; ++e) {
          unsigned to = transposed ? lane % 4 * 2 + e : lane / 4,
                   column = transposed ? lane / 4 : lane % 4 * 2 + e;
          auto *target =
              static_cast<const uint16_t *>(warp.request<MatrixRows>(8 * i + to).address);
          const_cast<uint16_t *>(target)[column] = pair[e];
        }
      }
  });
  if (self.lane < 8 * count)
    kiln_emu_store(thread, site, KILN_EMU_SHARED, address, row, 16, 16, 1);
}
