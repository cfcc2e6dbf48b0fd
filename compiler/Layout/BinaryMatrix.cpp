//===- BinaryMatrix.cpp - linear algebra over GF(2) -----------------------===//
//
// All routines are Gaussian elimination in the form of BinarySpan: vectors are
// reduced against a basis in which every row has a leading bit of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Layout/BinaryMatrix.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <cassert>

using namespace llvm;

namespace kiln {

static unsigned leadingBit(BinaryVector vector) { return 63 - llvm::countl_zero(vector); }

BinarySpan::BinarySpan(ArrayRef<BinaryVector> generators) {
  for (BinaryVector generator : generators)
    insert(generator);
}

// Rows stand in descending order of their leading bits, so one pass clears them
// all: no later row can bring an earlier leading bit back.
std::pair<BinaryVector, uint64_t> BinarySpan::reduce(BinaryVector vector) const {
  uint64_t combination = 0;
  for (const Row &row : rows)
    if (vector >> leadingBit(row.vector) & 1) {
      vector ^= row.vector;
      combination ^= row.combination;
    }
  return {vector, combination};
}

bool BinarySpan::insert(BinaryVector vector) {
  assert(inserted < 64 && "more generators than a combination can name");
  auto [rest, combination] = reduce(vector);
  unsigned index = inserted++;
  if (!rest)
    return false;
  auto position = rows.begin();
  while (position != rows.end() && leadingBit(position->vector) > leadingBit(rest))
    ++position;
  rows.insert(position, Row{rest, combination ^ (uint64_t(1) << index)});
  return true;
}

std::optional<uint64_t> BinarySpan::solve(BinaryVector vector) const {
  auto [rest, combination] = reduce(vector);
  if (rest)
    return std::nullopt;
  return combination;
}

unsigned rank(ArrayRef<BinaryVector> columns) { return BinarySpan(columns).dimension(); }

BinaryVector multiply(ArrayRef<BinaryVector> columns, BinaryVector vector) {
  BinaryVector result = 0;
  for (; vector; vector &= vector - 1) {
    unsigned column = llvm::countr_zero(vector);
    assert(column < columns.size() && "vector has more coordinates than the matrix has columns");
    result ^= columns[column];
  }
  return result;
}

BinaryColumns kernel(ArrayRef<BinaryVector> columns) {
  BinaryColumns result;
  BinarySpan span;
  for (auto [index, column] : llvm::enumerate(columns)) {
    std::optional<uint64_t> relation = span.solve(column);
    if (relation)
      result.push_back(*relation | uint64_t(1) << index);
    span.insert(column);
  }
  return result;
}

std::optional<BinaryVector> solve(ArrayRef<BinaryVector> columns, BinaryVector target) {
  return BinarySpan(columns).solve(target);
}

std::optional<BinaryColumns> inverse(ArrayRef<BinaryVector> columns) {
  BinarySpan span(columns);
  if (span.dimension() != columns.size())
    return std::nullopt;
  BinaryColumns result;
  for (BinaryVector unit : unitVectors(columns.size())) {
    std::optional<uint64_t> column = span.solve(unit);
    if (!column)
      return std::nullopt;
    result.push_back(*column);
  }
  return result;
}

BinaryColumns intersection(ArrayRef<BinaryVector> a, ArrayRef<BinaryVector> b) {
  // Reduce both to bases; a kernel vector (x, y) of [A B] gives A x = B y.
  BinaryColumns basisA = complementWithin({}, a), joined = basisA, result;
  BinaryColumns basisB = complementWithin({}, b);
  joined.append(basisB.begin(), basisB.end());
  uint64_t maskA = basisA.size() == 64 ? ~uint64_t(0) : (uint64_t(1) << basisA.size()) - 1;
  for (BinaryVector relation : kernel(joined))
    result.push_back(multiply(basisA, relation & maskA));
  return result;
}

BinaryColumns complementWithin(ArrayRef<BinaryVector> base, ArrayRef<BinaryVector> candidates) {
  BinarySpan span;
  // Only independent vectors are inserted, so the limit of 64 never binds.
  for (BinaryVector vector : base)
    if (!span.contains(vector))
      span.insert(vector);
  BinaryColumns result;
  for (BinaryVector vector : candidates)
    if (!span.contains(vector)) {
      span.insert(vector);
      result.push_back(vector);
    }
  return result;
}

uint64_t pivotColumns(ArrayRef<BinaryVector> columns) {
  uint64_t result = 0;
  BinarySpan span;
  for (auto [index, column] : llvm::enumerate(columns))
    if (span.insert(column))
      result |= uint64_t(1) << index;
  return result;
}

BinaryColumns unitVectors(unsigned bits) {
  BinaryColumns result;
  for (unsigned bit = 0; bit < bits; ++bit)
    result.push_back(uint64_t(1) << bit);
  return result;
}

} // namespace kiln
