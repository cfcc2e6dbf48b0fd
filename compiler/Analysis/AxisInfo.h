// What is known of the integers and addresses in a value, axis by axis: the facts behind vector
// accesses.
//
// For an integer or pointer value x of rank r, along axis d, with the other indices fixed:
//   contiguity[d] = c: aligned groups of c neighbours count up by one (pointers: by one element);
//   divisibility[d] = n: the first of each such group is a multiple of n (pointers: an address that
//   is a multiple of n bytes); constancy[d] = k: aligned groups of k neighbours are equal;
//   prefix[d] = k, of booleans: in aligned groups of k neighbours all true ones come first.
// All are powers of two, at least 1; a scalar has rank 1 here and contiguity = constancy = 1. A
// value that is the same known constant everywhere carries it. Sources: arange, constants, kernel
// arguments' `tile.divisibility`, tile.hint, and tile.assume in a kernel's outermost block (of `x %
// c == 0`, `x >= 0`, `x > 0`).
//
// Two assumptions, Triton's as well: integer arithmetic on indices does not overflow, and what a
// non-negative index is divided by at run time is positive.

#ifndef KILN_COMPILER_ANALYSIS_AXISINFO_H
#define KILN_COMPILER_ANALYSIS_AXISINFO_H

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace kiln {

/// The largest divisibility that is claimed; that of zero.
inline constexpr int64_t maxDivisibility = int64_t(1) << 40;

/// The lattice element: a value's facts, or nothing yet. Joining takes the weaker of each.
struct AxisInfo {
  llvm::SmallVector<int64_t, 4> contiguity, divisibility, constancy, prefix;
  std::optional<int64_t> constant;
  /// Every element is known to be at least 0.
  bool nonNegative = false;

  unsigned rank() const { return contiguity.size(); }
  bool isInitialized() const { return !contiguity.empty(); }
  bool operator==(const AxisInfo &other) const;

  /// Nothing known about a value of this rank (at least 1).
  static AxisInfo unknown(unsigned rank);
  static AxisInfo join(const AxisInfo &lhs, const AxisInfo &rhs);
  void print(llvm::raw_ostream &os) const;
};

/// What `tile.hint` says of tensors is the source's word, which programs give of rows that wrap
/// around, too (`max_contiguous(rows % n, …)`): Triton takes it for neighbours in one access.
enum class TensorHints { Believed, Ignored };

/// Runs over a kernel once and answers for each value in it. Stale after the IR changes.
class AxisInfoAnalysis {
public:
  explicit AxisInfoAnalysis(mlir::Operation *root, TensorHints hints = TensorHints::Believed);
  ~AxisInfoAnalysis();

  /// Facts of an integer- or pointer-like value, of floats their constancy; unknown() for others
  /// and for values made after the analysis ran.
  AxisInfo get(mlir::Value value) const;

  /// How many neighbours along `axis` one access through these pointers may cover as a vector: they
  /// are contiguous and their first address is a multiple of their size. At least 1; a power of
  /// two.
  int64_t vectorLength(mlir::Value pointers, unsigned axis) const;

  /// How many aligned neighbours along `axis` have one mask value: at least 1; a power of two.
  int64_t maskConstancy(mlir::Value mask, unsigned axis) const;

  /// The same of an access under `mask` (null: everywhere), so that the first and last element of
  /// the mask say whether all of the vector is accessed, some or none.
  int64_t accessLength(mlir::Value pointers, mlir::Value mask, unsigned axis) const;

private:
  struct Solver;
  std::unique_ptr<Solver> solver;
};

} // namespace kiln

#endif
