// Matrix products: the last lane to arrive widens the fragments of all lanes,
// multiplies, and deals the result out.
//
// Speed: which element is where is asked of Fragments.h once for each instruction's shape. A stays
// as the lanes hold it, as its elements are read one at a time; B is put in rows, which a vector
// unit multiplies by one element of A.

#include "runtime/emulator/Block.h"
#include "runtime/emulator/Fragments.h"
#include "runtime/emulator/MatrixNumbers.h"
#include <cstring>
using namespace kiln::emulator;

namespace {

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
        numLanes(lanesOf(matrix)) {
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

template <typename Number> KILN_WIDE void multiply(const Warp &warp, const Plan &plan) {
  alignas(64) Number a[maxElements], b[maxElements], rows[maxElements], sums[maxElements];
  const kiln_emu_matrix &matrix = plan.matrix;
  read(warp, plan, &Fragments::a, plan.perLaneA, matrix.a, a);
  read(warp, plan, &Fragments::b, plan.perLaneB, matrix.b, b);
  for (size_t i = 0, count = plan.b.size(); i < count; ++i)
    rows[i] = b[plan.b[i]];
  if (matrix.n == 8)
    multiplyRows<8>(matrix.m, matrix.k, plan.a.data(), a, rows, 8, sums, 8);
  else if (matrix.n == 16)
    multiplyRows<16>(matrix.m, matrix.k, plan.a.data(), a, rows, 16, sums, 16);
  else
    multiplyRows<32>(matrix.m, matrix.k, plan.a.data(), a, rows, 32, sums, 32);
  Number *c = a;
  read(warp, plan, &Fragments::c, plan.perLaneC, matrix.c, c);
  for (size_t i = 0, count = plan.c.size(); i < count; ++i)
    c[i] += sums[plan.c[i]];
  write(warp, plan, c);
}

/// With the lane's scales.
struct ScaledFragments {
  Fragments fragments; // first: it is read as these, too
  uint32_t scaleA, scaleB;
};

/// Sums of 32 products are scaled in f64, which has every exponent that two scales make.
KILN_WIDE void multiplyScaled(const Warp &warp, const Plan &plan) {
  constexpr uint32_t together = 32;
  alignas(64) float a[maxElements], b[maxElements], c[maxElements];
  const kiln_emu_matrix &matrix = plan.matrix;
  read(warp, plan, &Fragments::a, plan.perLaneA, matrix.a, a);
  read(warp, plan, &Fragments::b, plan.perLaneB, matrix.b, b);
  read(warp, plan, &Fragments::c, plan.perLaneC, matrix.c, c);
  auto factor = [&](uint32_t row, uint32_t column, uint32_t group) {
    uint32_t left = warp.request<ScaledFragments>(group * matrix.m + row).scaleA,
             right = warp.request<ScaledFragments>(group * matrix.n + column).scaleB;
    return left == 255 || right == 255 ? double(NAN) : std::ldexp(1.0, int(left + right) - 254);
  };
  for (size_t i = 0; i < plan.c.size(); ++i) {
    uint32_t row = plan.c[i] / matrix.n, column = plan.c[i] % matrix.n;
    double sum = c[i];
    for (uint32_t k = 0; k < matrix.k; k += together) {
      double products = 0;
      for (uint32_t j = k; j < k + together; ++j)
        products += double(a[plan.a[row * matrix.k + j]]) * b[plan.b[j * matrix.n + column]];
      sum += products * factor(row, column, k / together);
    }
    c[i] = float(sum);
  }
  write(warp, plan, c);
}

} // namespace

KILN_SWITCHES void kiln_emu_multiply_scaled(kiln_emu_thread *thread, const kiln_emu_site *site,
                                            const kiln_emu_matrix *matrix, const void *a,
                                            const void *b, const void *c, void *d, uint32_t scale_a,
                                            uint32_t scale_b) {
  Thread &self = threadOf(thread);
  ScaledFragments own{{a, b, c, d}, scale_a & 0xff, scale_b & 0xff};
  self.inWarp->requests[self.lane] = &own;
  self.block->collective(self, site, ~uint64_t(0), [&](Warp &warp) {
    const Plan &plan = planOf(*matrix);
    if (!plan.isDescribed || unsigned(__builtin_popcountll(warp.full)) != plan.numLanes)
      self.block->fail(self, site, Finding::Operand, "this shape is not emulated");
    multiplyScaled(warp, plan);
  });
}

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
