//===- ChoicePlan.h - how generated code chooses quickly --------*- C++ -*-===//
//
// What DispatchTables.h says of a choice, arranged so that a call computes each thing once. Nothing
// here changes what is chosen.
//
//  * Variants have places: by rank, then by tile cost, then in the order in which they are tried.
//    Sets of variants are bits by place, so the first legal variant is the lowest bit, and those
//    that the model compares stand side by side, cheapest first.
//  * Conditions are not tested for each variant but once: those about bounds of one argument make
//    intervals, and one binary search finds the interval's set of variants; every other condition
//    takes out the variants that rely on it.
//  * A grid is a product of factors. A call computes each value of a factor that some variant has,
//    and the instances of a variant are a product of these. Divisions have numbers of the source
//    as divisors, which compilers turn into multiplications.
//
//  * Most variants are passed over. A call has at least one wave, and at least its instances by the
//    processors, so a cost times that is a bound. An instance of a variant covers so many elements
//    (the product of its divisors), and a grid covers at least all that there are, which bounds the
//    instances in turn. So the search begins about at the cheapest variant that may cover all in
//    one wave, which a table says by the size of the work. From there it goes up until an instance
//    costs more than the best so far, and down until nothing there is cheap enough by what it
//    covers.
//
// All that is for calls whose factors are positive and whose grids are not beyond 2^30, so that
// costs are in 64 bits; others compute grids as launches do. Bounds leave room for rounding.
//
// What a comparison gave is kept for calls that come again (kiln_recall): its words are the set of
// legal variants, the numbers that grids and keys read, the processors and the decision trees.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_CHOICEPLAN_H
#define KILN_CODEGEN_CHOICEPLAN_H

#include "codegen/DispatchTables.h"

namespace kiln {

/// More factors that differ are not computed once: a variant's are four numbers.
inline constexpr size_t kMostVaryingFactors = 4;

/// Bits by place, 64 a word.
using VariantSet = std::vector<uint64_t>;

/// What calls may take by one argument's bounds.
struct BoundIntervals {
  unsigned argument = 0;
  /// Where an interval begins; the first of all has no beginning.
  std::vector<int64_t> cuts;
  /// For each interval.
  std::vector<VariantSet> allowed;
};

/// A condition that is tested by itself.
struct ConditionTest {
  unsigned condition = 0;
  /// Variants that do not rely on it.
  VariantSet allowed;
};

struct GridFactor {
  unsigned dimension = 0;
  /// Distinct ones, over arguments alone.
  std::vector<Expression> values;
  /// Place of the first among the values of all factors.
  unsigned first = 0;
  /// For each variant, its place in `values`.
  std::vector<unsigned> valueOf;

  bool varies() const { return values.size() > 1; }
  /// Where each value is cdiv(n, a positive number of 31 bits) with one n: that n.
  std::optional<Expression> dividend() const;
};

struct ChoicePlan {
  /// By place, and places by variant.
  std::vector<unsigned> variants, places;
  /// By rank: the place behind its last variant.
  std::vector<unsigned> ends;
  std::vector<BoundIntervals> intervals;
  std::vector<ConditionTest> tests;
  /// By row of DispatchTables::targets: what has a binary.
  std::vector<VariantSet> there;
  /// All but the variants that the model never takes, as another goes before them in every call.
  VariantSet contenders;
  /// Empty where grids are not compared, are the caller's, or have too many values.
  std::vector<GridFactor> factors;
  /// By place: the least cost by what an instance covers of the variants of its rank up to here.
  /// Where that is not known: 0.
  std::vector<double> leastRates;
  /// By rank, and by the size of the work for a processor, from `leastSize` on: the first place
  /// that may cover so much. What is smaller than all sizes, or larger, is as the nearest.
  std::vector<std::vector<unsigned>> starts;
  int64_t leastSize = 0;

  size_t words() const { return (variants.size() + 63) / 64; }
  VariantSet all() const;
  bool isIdentity() const { return llvm::is_sorted(variants); }
  /// Whether each target has all variants.
  bool isEverywhere() const {
    return llvm::all_of(there, [&](const VariantSet &set) { return set == all(); });
  }
  size_t numFactorValues() const;
  /// The factors that variants have different values of.
  size_t numVarying() const;
  bool hasCommon() const { return numVarying() < factors.size(); }
};

/// `tables` are those of the entry point.
ChoicePlan planChoice(const EntryModel &entry, const DispatchTables &tables);

} // namespace kiln

#endif // KILN_CODEGEN_CHOICEPLAN_H
