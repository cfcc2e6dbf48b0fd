//===- IntegerRange.h - which values an expression can have -----*- C++ -*-===//
//
// What is known of an integer without its value: bounds, and a remainder ("a multiple of 16"). From
// ranges of its names an expression's range follows; from the fact that a condition holds, narrower
// ranges of its names. Both err on the wide side: an empty range proves that there is no value.
//
// Failed evaluations (overflow, division by zero) have no value and are left out.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_INTEGERRANGE_H
#define KILN_CODEGEN_INTEGERRANGE_H

#include "codegen/Expression.h"
#include <limits>
#include <map>

namespace kiln {

/// The integers from `low` to `high` that leave `remainder` when divided by `modulus`.
struct IntegerRange {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
  /// 0 <= remainder < modulus.
  int64_t modulus = 1, remainder = 0;

  static IntegerRange ofConstant(int64_t value) { return {value, value, 1, 0}; }
  static IntegerRange empty() { return {1, 0, 1, 0}; }
  bool isEmpty() const { return low > high; }
  bool isConstant() const { return low == high; }
  bool operator==(const IntegerRange &other) const {
    return low == other.low && high == other.high && modulus == other.modulus &&
           remainder == other.remainder;
  }
  bool contains(int64_t value) const { return low <= value && value <= high; }

  /// What both hold; empty when no integer does.
  IntegerRange intersect(const IntegerRange &other) const;
  /// The least range that holds all of both.
  IntegerRange join(const IntegerRange &other) const;
};

/// By the names of an expression; one that is missing may be any integer of 64 bits.
using NamedRanges = std::map<std::string, IntegerRange>;

/// The values of the evaluations that succeed; empty when none does.
IntegerRange rangeOf(const Expression &expression, const NamedRanges &names);

/// Whether some of the evaluations may fail: false proves that all have a value.
bool mayFail(const Expression &expression, const NamedRanges &names);

/// Narrows `names` to values for which all `conditions` may be other than 0. False when there are
/// none. Conditions that are too intricate to look through narrow nothing.
bool narrow(NamedRanges &names, llvm::ArrayRef<const Expression *> conditions);

} // namespace kiln

#endif // KILN_CODEGEN_INTEGERRANGE_H
