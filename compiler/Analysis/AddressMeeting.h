// Whether two accesses to global memory may touch one element, and which.
//
// Both are tiles of addresses (or one address), as polynomials (IndexPolynomial.h). Their
// difference is a known number, plus known multiples of the tiles' indices, which have bounds, plus
// multiples of what is only known to be an integer. Whether it can be small enough for the elements
// to overlap is searched exactly, axis by axis from the largest step down, as in writing a number
// in mixed radix.
//
// Pointers of different arguments are compared as if the arguments were one array: that is the only
// way in which two arguments share memory that program order speaks of
// (docs/coming-from-triton.md).

#ifndef KILN_COMPILER_ANALYSIS_ADDRESSMEETING_H
#define KILN_COMPILER_ANALYSIS_ADDRESSMEETING_H

#include "compiler/Analysis/IndexPolynomial.h"

namespace kiln {

enum class Meeting : uint8_t {
  Never,
  SameIndex, ///< only elements with equal indices
  Anywhere,
  Unknown, ///< depends on values that are not known before the kernel runs
};

/// An axis of an earlier and of a later access's tile.
using AxisPair = std::pair<unsigned, unsigned>;

/// A pair of different arguments, by their numbers, the smaller first.
using ArgumentPair = std::pair<unsigned, unsigned>;

/// Under which condition two pointers lead into one array.
struct SharedOrigin {
  /// Always, or as far as is known; otherwise if the arguments of one of `pairs` are equal.
  bool always = false;
  llvm::SmallVector<ArgumentPair, 2> pairs;
};

/// The elements of a tile of pointers for which `mask` holds; all of them if it is null.
struct MaskedPointers {
  mlir::Value pointers, mask;
};

/// What of a number of elements is made of indices of the tile, iterations and constants alone.
Polynomial columnsOf(const Polynomial &elements, const IndexPolynomials &polynomials);

/// Sums that are less than 0 where the mask holds, of the mask's own indices: of comparisons of
/// signed numbers in it.
llvm::SmallVector<Polynomial> negativesIn(mlir::Value mask, IndexPolynomials &polynomials);

class AddressMeetings {
public:
  /// The elements that pointers of an `earlier` and of a `later` access have in common. Both in one
  /// iteration of each loop around them, but of the loops `passed` the later one is in a later
  /// iteration. Tiles of different shapes have no equal indices.
  Meeting meet(MaskedPointers earlier, MaskedPointers later,
               llvm::ArrayRef<mlir::Operation *> passed = {});

  /// The same where addresses are, in elements, a number that is one for both, a multiple of
  /// `stride`, the row, and columns (`columnsOf`) from 0 to below the stride: rows do not reach
  /// into each other.
  Meeting meetInRows(MaskedPointers earlier, MaskedPointers later, mlir::Value stride,
                     llvm::ArrayRef<mlir::Operation *> passed = {});

  /// The same, only the indices along certain axes being compared.
  Meeting meetAlong(mlir::Value earlier, mlir::Value later, llvm::ArrayRef<AxisPair> axes,
                    llvm::ArrayRef<mlir::Operation *> passed = {}) {
    return meet({earlier, {}}, {later, {}}, std::optional(axes), passed);
  }

  SharedOrigin originOf(mlir::Value earlier, mlir::Value later);

private:
  /// With no axes, no indices count as equal.
  Meeting meet(MaskedPointers earlier, MaskedPointers later,
               std::optional<llvm::ArrayRef<AxisPair>> axes,
               llvm::ArrayRef<mlir::Operation *> passed);
  /// Whether a part of both addresses can be the same, `moves` being the axes that it depends on.
  Meeting meetInPart(const Polynomial &earlier, const Polynomial &later,
                     llvm::ArrayRef<int64_t> extents, llvm::SmallVectorImpl<unsigned> &moves);
  /// How far the tile reaches along its axes, or less, where comparisons of indices with numbers
  /// say so: `arange(0, 128) < 96`.
  llvm::SmallVector<int64_t> extentsOf(MaskedPointers access);
  void boundExtents(mlir::Value mask, llvm::ArrayRef<unsigned> axes,
                    llvm::MutableArrayRef<int64_t> extents);
  Polynomial asEarlier(const Polynomial &polynomial, llvm::ArrayRef<mlir::Operation *> passed);
  /// The kernel's arguments that a pointer may come from; none if it may come from elsewhere.
  const llvm::SmallVector<unsigned, 2> &argumentsOf(mlir::Value pointer);

  IndexPolynomials polynomials;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 2>> origins;
};

} // namespace kiln

#endif
