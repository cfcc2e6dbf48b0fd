//===- BoxSearch.h - arguments for which conditions hold --------*- C++ -*-===//
//
// Finds values of names for which a formula over conditions is true, or proves that there are none,
// among declared ranges ("no variant is legal": is there such a call, and which?).
//
// A *box* gives each name a range. On a box a condition holds everywhere, nowhere, or it is open
// (IntegerRange.h: from ranges of names to what an expression can be). Boxes with open conditions
// are divided, first by assuming one alternative of the formula and then its opposite, which
// narrows the names to where that may be (`n <= 1024` cuts n there, exactly); where nothing but
// conditions is left that narrowing cannot look through, by remainders (`n % 16`) and by halves. A
// box on which every condition holds has an example in any of its points; points of open boxes are
// tried, too.
//
// What is found is checked by evaluation, and what is excluded was excluded on a whole box, so both
// answers are exact. The number of steps is bounded: a search that reaches it proves nothing.
//
// Refused: an SMT solver. The conditions that specs have are decided in a few boxes, and the ones
// that are not (products of unbounded names modulo each other) are hard for a solver, too.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_BOXSEARCH_H
#define KILN_CODEGEN_BOXSEARCH_H

#include "codegen/IntegerRange.h"
#include "llvm/ADT/ArrayRef.h"

namespace kiln {

/// The values that a name may have: those of `range`, of `values` where there are any (sorted).
struct Axis {
  std::string name;
  IntegerRange range;
  std::vector<int64_t> values;
};

class BoxSearch {
public:
  explicit BoxSearch(std::vector<Axis> axes);

  /// A formula, to be used with this search alone.
  struct Formula {
    unsigned node = 0;
    bool isNegated = false;
    Formula operator!() const { return {node, !isNegated}; }
  };
  /// The expression has a value, and that is not 0.
  Formula holds(const Expression &expression);
  /// The expression has a value.
  Formula hasValue(const Expression &expression);
  Formula allOf(std::vector<Formula> parts);
  Formula anyOf(llvm::ArrayRef<Formula> parts);

  using Point = std::map<std::string, int64_t>;
  struct Answer {
    /// Values for all axes that make the formula true.
    std::optional<Point> found;
    /// Nothing was found, and nothing was proven.
    bool gaveUp = false;
    bool isImpossible() const { return !found && !gaveUp; }
  };
  /// Looks at about `budget` nodes of expressions, and takes those that it looked at off.
  Answer find(Formula wanted, int64_t &budget) const;

  /// Whether a formula is true for values of all axes.
  bool isTrue(Formula formula, const Point &point) const;

private:
  struct Condition {
    Expression expression;
    /// Of a condition that always has a value on the axes; narrowing by it is sound there alone.
    std::optional<Expression> negated;
    bool asksForValue = false;
  };
  struct Node {
    /// Of a condition; else all of `parts`.
    std::optional<unsigned> condition;
    std::vector<Formula> parts;
  };
  enum class Truth : int8_t { No = -1, Open = 0, Yes = 1 };
  struct State;
  class Run;

  Formula ofCondition(Condition condition);
  Truth truthOn(const Condition &condition, const NamedRanges &box) const;
  Truth truthOn(Formula formula, const NamedRanges &box) const;
  /// Leaves of the box what the axes have. False when that is nothing.
  bool clip(NamedRanges &box) const;

  std::vector<Axis> axes;
  std::vector<Condition> conditions;
  std::vector<Node> nodes;
  std::map<std::string, unsigned> known;
};

} // namespace kiln

#endif // KILN_CODEGEN_BOXSEARCH_H
