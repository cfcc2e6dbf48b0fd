// Matrix products: the last lane to arrive widens the fragments of all lanes,
// multiplies, and deals the result out.
//
// Accuracy: products of 8 and 16-bit operands and of tf32 are exact in f32, and are added there in
// the order of k; the sum is added to C. The order and inner width of real units differ by
// generation and are not documented. Where f32 is the operand type, f64 is used inside.
//
// Speed: which element is where is asked of Fragments.h once for each instruction's shape. A stays
// as the lanes hold it, as its elements are read one at a time; B is put in rows, which a vector
// unit multiplies by one element of A. Emulated code needs AVX2 on x86-64 anyhow (LowerToEmulator),
// so this file uses it too, by function, as the rest of the program may run on older machines.

#include "runtime/emulator/Block.h"
#include "runtime/emulator/Fragments.h"
#include <array>
#include <cmath>
#include <cstring>
#ifdef __x86_64__
#include <immintrin.h>
#define KILN_WIDE __attribute__((target("avx2,fma,f16c"), flatten))
#define KILN_WIDE_PART __attribute__((target("avx2,fma,f16c"), always_inline)) inline
#else
#define KILN_WIDE
#define KILN_WIDE_PART inline
#endif

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

/// A float with `mantissa` bits, `bits` in all: its exponent and mantissa go
/// where f32 has them, and a product corrects the bias.
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

/// The value of an 8-bit float.
template <uint32_t type> float smallFloat(uint32_t byte) {
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

/// The values of all 8-bit floats of a type.
template <uint32_t type> const std::array<float, 256> &smallFloats() {
  static const std::array<float, 256> values = [] {
    std::array<float, 256> table;
    for (uint32_t byte = 0; byte < 256; ++byte)
      table[byte] = smallFloat<type>(byte);
    return table;
  }();
  return values;
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
    return Number(smallFloats<type>()[stored<uint8_t>(fragment, e)]);
  }
}

/// A lane's operands, as the instruction's registers.
struct Fragments {
  const void *a, *b, *c;
  void *d;
};

constexpr unsigned maxElements = 32 * 64;
constexpr uint16_t nowhere = 0xffff;

/// Where an instruction's elements are: numbers of elements, counted lane by lane.
struct Plan {
  kiln_emu_matrix matrix;
  bool isDescribed;
  uint32_t numLanes, perLaneA = 0, perLaneB = 0, perLaneC = 0;
  std::vector<uint16_t> a; ///< of A's rows
  std::vector<uint16_t> b; ///< of B's rows
  std::vector<uint16_t> c; ///< the other way round: in C's rows, of the lanes' elements

  explicit Plan(const kiln_emu_matrix &matrix)
      : matrix(matrix), isDescribed(kiln::emulator::isDescribed(matrix)),
        numLanes(matrix.family == KILN_EMU_MFMA ? 64 : 32) {
    if (!isDescribed)
      return;
    perLaneA = elementsOfA(matrix);
    perLaneB = elementsOfB(matrix);
    perLaneC = elementsOfC(matrix);
    a.assign(matrix.m * matrix.k, nowhere);
    b.assign(matrix.k * matrix.n, nowhere);
    auto eachOf = [&](uint32_t perLane, auto visit) {
      for (uint32_t i = 0; i < numLanes * perLane; ++i)
        visit(i, i / perLane, i % perLane);
    };
    eachOf(perLaneA, [&](uint32_t i, uint32_t lane, uint32_t e) {
      Place place = placeOfA(matrix, lane, e);
      a[place.row * matrix.k + place.column] = uint16_t(i);
    });
    eachOf(perLaneB, [&](uint32_t i, uint32_t lane, uint32_t e) {
      Place place = placeOfB(matrix, lane, e);
      b[place.row * matrix.n + place.column] = uint16_t(i);
    });
    eachOf(perLaneC, [&](uint32_t, uint32_t lane, uint32_t e) {
      Place place = placeOfC(matrix, lane, e);
      c.push_back(uint16_t(place.row * matrix.n + place.column));
    });
  }
};

const Plan &planOf(const kiln_emu_matrix &matrix) {
  static thread_local std::vector<std::unique_ptr<Plan>> known;
  for (const auto &plan : known)
    if (!std::memcmp(&plan->matrix, &matrix, sizeof matrix))
      return *plan;
  return *known.emplace_back(std::make_unique<Plan>(matrix));
}

/// Copies `bytes` from or to each lane's fragment, to or from where they lie one after the other.
template <size_t bytes>
KILN_WIDE_PART void collectFragments(const Warp &warp, const void *Fragments::*operand,
                                     size_t numLanes, unsigned char *to) {
  for (size_t lane = 0; lane < numLanes; ++lane)
    std::memcpy(to + bytes * lane, warp.request<Fragments>(lane).*operand, bytes);
}

KILN_WIDE_PART void collect(const Warp &warp, const void *Fragments::*operand, size_t numLanes,
                            size_t bytes, unsigned char *to) {
  switch (bytes) {
  case 2:
    return collectFragments<2>(warp, operand, numLanes, to);
  case 4:
    return collectFragments<4>(warp, operand, numLanes, to);
  case 8:
    return collectFragments<8>(warp, operand, numLanes, to);
  case 16:
    return collectFragments<16>(warp, operand, numLanes, to);
  case 32:
    return collectFragments<32>(warp, operand, numLanes, to);
  default:
    return collectFragments<64>(warp, operand, numLanes, to);
  }
}

template <size_t bytes>
KILN_WIDE_PART void dealFragments(const Warp &warp, size_t numLanes, const unsigned char *from) {
  for (size_t lane = 0; lane < numLanes; ++lane)
    std::memcpy(warp.request<Fragments>(lane).d, from + bytes * lane, bytes);
}

KILN_WIDE_PART void deal(const Warp &warp, size_t numLanes, size_t bytes,
                         const unsigned char *from) {
  switch (bytes) {
  case 8:
    return dealFragments<8>(warp, numLanes, from);
  case 16:
    return dealFragments<16>(warp, numLanes, from);
  case 32:
    return dealFragments<32>(warp, numLanes, from);
  default:
    return dealFragments<64>(warp, numLanes, from);
  }
}

template <uint32_t type, typename Number>
KILN_WIDE_PART void widenElements(const unsigned char *elements, size_t count, Number *to) {
  size_t e = 0;
#ifdef __x86_64__
  if constexpr (type == KILN_EMU_F16)
    for (; e < count; e += 8)
      _mm256_storeu_ps(to + e, _mm256_cvtph_ps(_mm_loadu_si128(
                                   reinterpret_cast<const __m128i *>(elements + 2 * e))));
#endif
  for (; e < count; ++e)
    to[e] = element<type, Number>(elements, e);
}

/// Elements of a type as the numbers that they are multiplied as: those of the
/// type's own width are in place.
template <typename Number>
KILN_WIDE_PART void widen(uint32_t type, const unsigned char *elements, size_t count, Number *to) {
  switch (type) {
#define KILN_WIDEN(TYPE, NUMBER)                                                                   \
  case TYPE:                                                                                       \
    if constexpr (std::is_same_v<Number, NUMBER>)                                                  \
      widenElements<TYPE>(elements, count, to);                                                    \
    break;
    KILN_WIDEN(KILN_EMU_F16, float)
    KILN_WIDEN(KILN_EMU_BF16, float)
    KILN_WIDEN(KILN_EMU_TF32, float)
    KILN_WIDEN(KILN_EMU_E4M3, float)
    KILN_WIDEN(KILN_EMU_E5M2, float)
    KILN_WIDEN(KILN_EMU_E4M3FNUZ, float)
    KILN_WIDEN(KILN_EMU_E5M2FNUZ, float)
    KILN_WIDEN(KILN_EMU_F32, double)
    KILN_WIDEN(KILN_EMU_S8, uint32_t)
    KILN_WIDEN(KILN_EMU_U8, uint32_t)
#undef KILN_WIDEN
  }
}

/// All fragments of an operand as numbers, one after the other.
template <typename Number>
KILN_WIDE_PART void read(const Warp &warp, const Plan &plan, const void *Fragments::*operand,
                         uint32_t perLane, uint32_t type, Number *to) {
  size_t bytes = perLane * bitsOf(type) / 8;
  bool isPlain = type == (std::is_same_v<Number, float>    ? KILN_EMU_F32
                          : std::is_same_v<Number, double> ? KILN_EMU_F64
                                                           : KILN_EMU_S32);
  alignas(64) unsigned char elements[maxElements * 4];
  unsigned char *collected = isPlain ? reinterpret_cast<unsigned char *>(to) : elements;
  collect(warp, operand, plan.numLanes, bytes, collected);
  if (!isPlain)
    widen(type, elements, plan.numLanes * perLane, to);
}

template <typename Number>
KILN_WIDE_PART void write(const Warp &warp, const Plan &plan, Number *numbers) {
  size_t count = plan.c.size(), bytes = plan.perLaneC * bitsOf(plan.matrix.c) / 8;
  auto *elements = reinterpret_cast<unsigned char *>(numbers);
  auto narrow = [&](size_t e, auto narrowed) {
    std::memcpy(elements + sizeof narrowed * e, &narrowed, sizeof narrowed);
  };
  // In place: what is written lies before what is still to be read.
  if (plan.matrix.c == KILN_EMU_F16)
    for (size_t e = 0; e < count; ++e)
      narrow(e, toHalf(float(numbers[e])));
  else if (plan.matrix.c == KILN_EMU_F32 && sizeof(Number) == 8)
    for (size_t e = 0; e < count; ++e)
      narrow(e, float(numbers[e]));
  deal(warp, plan.numLanes, bytes, elements);
}

/// c = a * b; rows of n numbers, of which some stay in registers at a time.
template <uint32_t n, typename Number>
KILN_WIDE_PART void multiplyRows(const Plan &plan, const Number *a, const Number *b, Number *c) {
  constexpr size_t together = n <= 16 ? 4 : 2;
  const size_t k = plan.matrix.k, m = plan.matrix.m;
  const uint16_t *place = plan.a.data();
  for (size_t row = 0; row < m; row += together, place += together * k) {
    Number sums[together][n] = {};
    for (size_t i = 0; i < k; ++i)
      for (size_t r = 0; r < together; ++r) {
        Number factor = a[place[r * k + i]];
        for (size_t column = 0; column < n; ++column)
          sums[r][column] += factor * b[i * n + column];
      }
    std::memcpy(c + row * n, sums, sizeof sums);
  }
}

template <typename Number> KILN_WIDE void multiply(const Warp &warp, const Plan &plan) {
  alignas(64) Number a[maxElements], b[maxElements], rows[maxElements], sums[maxElements];
  const kiln_emu_matrix &matrix = plan.matrix;
  read(warp, plan, &Fragments::a, plan.perLaneA, matrix.a, a);
  read(warp, plan, &Fragments::b, plan.perLaneB, matrix.b, b);
  for (size_t i = 0, count = plan.b.size(); i < count; ++i)
    rows[i] = b[plan.b[i]];
  if (matrix.n == 8)
    multiplyRows<8>(plan, a, rows, sums);
  else if (matrix.n == 16)
    multiplyRows<16>(plan, a, rows, sums);
  else
    multiplyRows<32>(plan, a, rows, sums);
  Number *c = a;
  read(warp, plan, &Fragments::c, plan.perLaneC, matrix.c, c);
  for (size_t i = 0, count = plan.c.size(); i < count; ++i)
    c[i] += sums[plan.c[i]];
  write(warp, plan, c);
}

} // namespace

KILN_SWITCHES void kiln_emu_multiply(kiln_emu_thread *thread, const kiln_emu_site *site,
                                     const kiln_emu_matrix *matrix, const void *a, const void *b,
                                     const void *c, void *d) {
  Thread &self = threadOf(thread);
  Fragments own{a, b, c, d};
  self.inWarp->requests[self.lane] = &own;
  self.block->collective(self, site, ~uint64_t(0), [&](Warp &warp) {
    const Plan &plan = planOf(*matrix);
    if (!plan.isDescribed || unsigned(__builtin_popcountll(warp.full)) != plan.numLanes)
      self.block->fail(self, site, Finding::Operand, "this shape is not emulated");
    if (matrix->c == KILN_EMU_S32) // sums wrap around
      multiply<uint32_t>(warp, plan);
    else if (matrix->a == KILN_EMU_F32 || matrix->a == KILN_EMU_F64)
      multiply<double>(warp, plan);
    else
      multiply<float>(warp, plan);
  });
}
