// The arithmetic of a warp's part of a product: units of shared memory and registers become rows of
// numbers, step by step, as for the instructions of one warp (MatrixProducts.cpp).

#include "runtime/emulator/Fragments.h"
#include "runtime/emulator/MatrixNumbers.h"
#include "runtime/emulator/WarpGroupProducts.h"
#include <numeric>

namespace kiln::emulator {
namespace {

constexpr size_t rows = WarpGroupProduct::rows, maxColumns = 256, maxDepth = 32;
constexpr size_t unitBytes = MatrixDescriptor::unitBytes, stepBytes = 2 * unitBytes;

/// The places of multiplyRows for an A that lies in rows.
const uint16_t *inOrder() {
  static const auto numbers = [] {
    std::array<uint16_t, rows * maxDepth> all;
    std::iota(all.begin(), all.end(), uint16_t(0));
    return all;
  }();
  return numbers.data();
}

/// The instruction of one warp that has the same fragments, but for its columns.
kiln_emu_matrix fragmentsOf(const WarpGroupProduct &product) {
  uint32_t operand = product.shape.operand;
  uint32_t k = uint32_t(stepBytes) * 8 / bitsOf(operand);
  return {KILN_EMU_MMA_SYNC, 16, 8, k, operand, operand, product.shape.accumulator, 0};
}

/// A's rows of a step, `stepBytes` each.
void collectA(const WarpGroupProduct &product, uint32_t step, const char *shared,
              unsigned char *to) {
  product.forUnitsOfA(step, [&](uint32_t i, uint32_t address) {
    if (!product.shape.transpose_a)
      return void(std::memcpy(to + i * unitBytes, shared + address, unitBytes));
    for (uint32_t e = 0; e < 8; ++e)
      std::memcpy(to + (i / 16 * 8 + e) * stepBytes + i % 16 * 2, shared + address + 2 * e, 2);
  });
  if (!product.shape.has_registers_of_a)
    return;
  kiln_emu_matrix fragments = fragmentsOf(product);
  size_t bytes = bitsOf(product.shape.operand) / 8;
  const auto *words = &product.registersOfA[step * WarpGroupProduct::lanes * 4];
  for (uint32_t lane = 0; lane < WarpGroupProduct::lanes; ++lane)
    for (uint32_t e = 0; e < unitBytes / bytes; ++e) {
      Place place = placeOfA(fragments, lane, e);
      std::memcpy(to + place.row * stepBytes + place.column * bytes,
                  reinterpret_cast<const unsigned char *>(words + 4 * lane) + e * bytes, bytes);
    }
}

/// B's rows of a step: k rows of n elements.
template <typename Element>
void collectElementsOfB(const WarpGroupProduct &product, uint32_t step, const char *shared,
                        Element *to) {
  const size_t n = product.shape.n;
  constexpr size_t perUnit = unitBytes / sizeof(Element);
  product.forUnitsOfB(step, [&](uint32_t i, uint32_t address) {
    if (product.shape.transpose_b)
      return void(std::memcpy(to + i % 16 * n + i / 16 * 8, shared + address, unitBytes));
    Element elements[perUnit];
    std::memcpy(elements, shared + address, unitBytes);
    for (size_t e = 0; e < perUnit; ++e)
      to[(i % 2 * perUnit + e) * n + i / 2] = elements[e];
  });
}

void collectB(const WarpGroupProduct &product, uint32_t step, const char *shared, void *to) {
  switch (bitsOf(product.shape.operand)) {
  case 8:
    return collectElementsOfB(product, step, shared, static_cast<uint8_t *>(to));
  case 16:
    return collectElementsOfB(product, step, shared, static_cast<uint16_t *>(to));
  default:
    return collectElementsOfB(product, step, shared, static_cast<uint32_t *>(to));
  }
}

/// Calls visit(number in `accumulators`' elements, row, column) for all of the warp's.
template <typename Visit> void forAccumulators(const WarpGroupProduct &product, Visit visit) {
  const uint32_t perLane = product.shape.n / 2;
  for (uint32_t lane = 0; lane < WarpGroupProduct::lanes; ++lane)
    for (uint32_t e = 0; e < perLane; ++e) {
      // Blocks of eight columns, each as the fragment of a warp's instruction.
      Place place = placeOfC({KILN_EMU_MMA_SYNC, 16, 8, 8, 0, 0, 0, 0}, lane, e % 4);
      visit(lane * perLane + e, place.row, e / 4 * 8 + place.column);
    }
}

template <typename Number> void readAccumulators(const WarpGroupProduct &product, Number *sums) {
  forAccumulators(product, [&](uint32_t e, uint32_t row, uint32_t column) {
    const void *words = product.accumulators.data();
    Number &sum = sums[row * product.shape.n + column];
    if (!product.adds)
      sum = 0;
    else if (product.shape.accumulator == KILN_EMU_F16)
      sum = Number(fromHalf(stored<uint16_t>(words, e)));
    else
      sum = stored<Number>(words, e);
  });
}

template <typename Number> void writeAccumulators(WarpGroupProduct &product, const Number *sums) {
  auto *bytes = reinterpret_cast<unsigned char *>(product.accumulators.data());
  forAccumulators(product, [&](uint32_t e, uint32_t row, uint32_t column) {
    Number sum = sums[row * product.shape.n + column];
    uint16_t half = toHalf(float(sum));
    if (product.shape.accumulator == KILN_EMU_F16)
      std::memcpy(bytes + 2 * e, &half, 2);
    else
      std::memcpy(bytes + 4 * e, &sum, 4);
  });
}

template <typename Number>
KILN_WIDE_PART void multiplyStep(size_t k, size_t n, const Number *a, const Number *b,
                                 Number *sums) {
  size_t column = 0;
  for (; column + 32 <= n; column += 32)
    multiplyRows<32>(rows, k, inOrder(), a, b + column, n, sums + column, n);
  for (; column < n; column += 8)
    multiplyRows<8>(rows, k, inOrder(), a, b + column, n, sums + column, n);
}

template <typename Number>
KILN_WIDE void multiplyNumbers(WarpGroupProduct &product, const char *shared) {
  const uint32_t type = product.shape.operand;
  const size_t k = stepBytes * 8 / bitsOf(type), n = product.shape.n;
  alignas(64) unsigned char elements[stepBytes * maxColumns];
  alignas(64) Number a[rows * maxDepth], b[maxDepth * maxColumns], made[rows * maxColumns],
      sums[rows * maxColumns];
  readAccumulators(product, sums);
  for (uint32_t step = 0; step < product.shape.steps; ++step) {
    collectA(product, step, shared, elements);
    widen(type, elements, rows * k, a);
    collectB(product, step, shared, elements);
    widen(type, elements, k * n, b);
    multiplyStep(k, n, a, b, made);
    for (size_t i = 0; i < rows * n; ++i)
      sums[i] += made[i];
    if (product.shape.accumulator == KILN_EMU_F16)
      for (size_t i = 0; i < rows * n; ++i)
        sums[i] = Number(fromHalf(toHalf(float(sums[i]))));
  }
  writeAccumulators(product, sums);
}

} // namespace

void multiply(WarpGroupProduct &product, const char *shared) {
  if (product.shape.accumulator == KILN_EMU_S32) // sums wrap around
    multiplyNumbers<uint32_t>(product, shared);
  else
    multiplyNumbers<float>(product, shared);
}

} // namespace kiln::emulator
