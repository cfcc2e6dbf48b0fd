//===- BinaryMatrix.h - linear algebra over GF(2) ---------------*- C++ -*-===//
//
// A matrix over the field of two elements, stored as columns of at most 64
// bits: column j is the image of the j-th unit vector, bit i of it is entry
// (i, j). Addition is xor. Every question about layouts (are two threads'
// elements equal, which register holds this coordinate, is this access free of
// bank conflicts) is a rank, a solution or a subspace computation on such
// matrices, and they live here so that no layout code eliminates by hand.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_BINARYMATRIX_H
#define KILN_COMPILER_LAYOUT_BINARYMATRIX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace kiln {

/// A vector over GF(2): bit i is coordinate i.
using BinaryVector = uint64_t;
/// The columns of a matrix, or a generating set of a subspace.
using BinaryColumns = llvm::SmallVector<BinaryVector, 16>;

/// A basis of a subspace, grown one vector at a time. Every stored vector
/// remembers which of the inserted vectors sum up to it, so that membership
/// tests also give coordinates.
class BinarySpan {
public:
  BinarySpan() = default;
  explicit BinarySpan(llvm::ArrayRef<BinaryVector> generators);

  /// Adds a vector; false when it already lies in the span. The n-th call of
  /// insert is generator n of solve(), whether it was independent or not.
  bool insert(BinaryVector vector);
  bool contains(BinaryVector vector) const { return reduce(vector).first == 0; }
  unsigned dimension() const { return rows.size(); }
  /// A set of generators (bit n: generator n) whose sum is `vector`, using
  /// only generators that were independent of all earlier ones.
  std::optional<uint64_t> solve(BinaryVector vector) const;

private:
  struct Row {
    BinaryVector vector;
    uint64_t combination;
  };
  std::pair<BinaryVector, uint64_t> reduce(BinaryVector vector) const;

  llvm::SmallVector<Row, 16> rows;
  unsigned inserted = 0;
};

/// Number of linearly independent columns.
unsigned rank(llvm::ArrayRef<BinaryVector> columns);

/// The product of the matrix with a vector: the xor of the columns it selects.
BinaryVector multiply(llvm::ArrayRef<BinaryVector> columns, BinaryVector vector);

/// A basis of {x : columns * x = 0}; bit j of x stands for column j.
BinaryColumns kernel(llvm::ArrayRef<BinaryVector> columns);

/// Some x with columns * x = target that uses only the first independent
/// columns (later dependent columns get 0), or none.
std::optional<BinaryVector> solve(llvm::ArrayRef<BinaryVector> columns, BinaryVector target);

/// The inverse of a square matrix of `size` columns, or none if singular.
std::optional<BinaryColumns> inverse(llvm::ArrayRef<BinaryVector> columns);

/// A basis of span(a) ∩ span(b).
BinaryColumns intersection(llvm::ArrayRef<BinaryVector> a, llvm::ArrayRef<BinaryVector> b);

/// Vectors of `candidates`, in order, that extend span(base) to
/// span(base, candidates): a basis of a complement within that span.
BinaryColumns complementWithin(llvm::ArrayRef<BinaryVector> base,
                               llvm::ArrayRef<BinaryVector> candidates);

/// The reduced row echelon form's pivot columns: bit j is set when column j is
/// independent of the columns before it.
uint64_t pivotColumns(llvm::ArrayRef<BinaryVector> columns);

/// The unit vectors 1, 2, 4, … of a space of `bits` dimensions.
BinaryColumns unitVectors(unsigned bits);

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_BINARYMATRIX_H
