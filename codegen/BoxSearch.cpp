//===- BoxSearch.cpp - arguments for which conditions hold ----------------===//
#include "codegen/BoxSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <numeric>

using namespace llvm;

namespace kiln {

using Op = Expression::Op;

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

BoxSearch::BoxSearch(std::vector<Axis> given) : axes(std::move(given)) {}

BoxSearch::Formula BoxSearch::allOf(std::vector<Formula> parts) {
  nodes.push_back({std::nullopt, std::move(parts)});
  return {static_cast<unsigned>(nodes.size() - 1)};
}

BoxSearch::Formula BoxSearch::anyOf(ArrayRef<Formula> parts) {
  std::vector<Formula> opposites;
  for (Formula part : parts)
    opposites.push_back(!part);
  return !allOf(std::move(opposites));
}

/// Equal conditions are one, so that what was assumed of it is known wherever it stands.
BoxSearch::Formula BoxSearch::ofCondition(Condition condition) {
  std::string key = (condition.asksForValue ? "value of " : "") + condition.expression.text();
  auto [it, isNew] = known.try_emplace(key, nodes.size());
  if (isNew) {
    nodes.push_back({static_cast<unsigned>(conditions.size()), {}});
    conditions.push_back(std::move(condition));
  }
  return {it->second};
}

static NamedRanges wholeBox(ArrayRef<Axis> axes) {
  NamedRanges box;
  for (const Axis &axis : axes)
    box[axis.name] = axis.range;
  return box;
}

/// What may fail stays as it is: where the left side of an `or` has no value, the whole has none.
BoxSearch::Formula BoxSearch::holds(const Expression &expression) {
  if (mayFail(expression, wholeBox(axes)))
    return ofCondition({expression, std::nullopt, false});
  const Expression::Node &root = expression.root();
  switch (root.op) {
  case Op::And:
    return allOf({holds(expression.operand(root.left)), holds(expression.operand(root.right))});
  case Op::Or:
    return anyOf({holds(expression.operand(root.left)), holds(expression.operand(root.right))});
  case Op::Not:
  case Op::NotEqual:
  case Op::Greater:
  case Op::GreaterEqual:
    return !holds(expression.negated());
  default:
    return ofCondition({expression, expression.negated(), false});
  }
}

BoxSearch::Formula BoxSearch::hasValue(const Expression &expression) {
  return ofCondition({expression, std::nullopt, true});
}

//===----------------------------------------------------------------------===//
// Formulas on boxes
//===----------------------------------------------------------------------===//

BoxSearch::Truth BoxSearch::truthOn(const Condition &condition, const NamedRanges &box) const {
  IntegerRange range = rangeOf(condition.expression, box);
  bool isZero = range.isConstant() && range.low == 0;
  if (range.isEmpty() || (isZero && !condition.asksForValue))
    return Truth::No;
  bool mayHold = condition.asksForValue || !range.contains(0);
  return mayHold && !mayFail(condition.expression, box) ? Truth::Yes : Truth::Open;
}

BoxSearch::Truth BoxSearch::truthOn(Formula formula, const NamedRanges &box) const {
  auto turned = [&](Truth truth) {
    return formula.isNegated ? Truth(-static_cast<int>(truth)) : truth;
  };
  const Node &node = nodes[formula.node];
  if (node.condition)
    return turned(truthOn(conditions[*node.condition], box));
  Truth all = Truth::Yes;
  for (Formula part : node.parts) {
    all = std::min(all, truthOn(part, box));
    if (all == Truth::No)
      break;
  }
  return turned(all);
}

bool BoxSearch::isTrue(Formula formula, const Point &point) const {
  NamedRanges box;
  for (const auto &[name, value] : point)
    box[name] = IntegerRange::ofConstant(value);
  return truthOn(formula, box) == Truth::Yes;
}

static bool isMember(const IntegerRange &range, int64_t value) {
  return !range.intersect(IntegerRange::ofConstant(value)).isEmpty();
}

bool BoxSearch::clip(NamedRanges &box) const {
  for (const Axis &axis : axes) {
    IntegerRange &range = box[axis.name];
    if (!axis.values.empty()) {
      auto isIn = [&](int64_t value) { return isMember(range, value); };
      auto low = find_if(axis.values, isIn);
      auto high = std::find_if(axis.values.rbegin(), axis.values.rend(), isIn);
      if (low == axis.values.end())
        return false;
      range.low = *low;
      range.high = *high;
    }
    if (range.isEmpty())
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// A box, and what has to be true on it.
struct BoxSearch::State {
  NamedRanges box;
  std::vector<Formula> goals;
  /// Of each node, what a goal says. The box may not show it yet.
  std::vector<Truth> assumed;
};

class BoxSearch::Run {
public:
  Run(const BoxSearch &search, Formula wanted, int64_t &budget)
      : search(search), wanted(wanted), budget(budget) {}

  Answer run() {
    State first{
        wholeBox(search.axes), {wanted}, std::vector<Truth>(search.nodes.size(), Truth::Open)};
    if (search.clip(first.box))
      pending.push_back(std::move(first));
    Answer answer;
    while (!pending.empty() && !answer.found) {
      if (budget <= 0) {
        answer.gaveUp = true;
        break;
      }
      State state = std::move(pending.back());
      pending.pop_back();
      if (reduce(state))
        answer.found = pointIn(state);
      if (!answer.found && !state.goals.empty())
        divide(std::move(state));
    }
    return answer;
  }

private:
  const BoxSearch &search;
  const Formula wanted;
  int64_t &budget;
  std::vector<State> pending;
  uint64_t random = 1;

  const Node &nodeOf(Formula formula) const { return search.nodes[formula.node]; }
  bool isAlternative(Formula formula) const {
    return !nodeOf(formula).condition && formula.isNegated;
  }

  Truth truthOf(unsigned condition, const NamedRanges &box) {
    budget -= static_cast<int64_t>(search.conditions[condition].expression.nodes().size());
    return search.truthOn(search.conditions[condition], box);
  }

  /// Also by what was assumed.
  Truth truthOf(Formula formula, const State &state) {
    const Node &node = nodeOf(formula);
    Truth truth = state.assumed[formula.node];
    if (truth == Truth::Open && node.condition) {
      truth = truthOf(*node.condition, state.box);
    } else if (truth == Truth::Open) {
      truth = Truth::Yes;
      for (Formula part : node.parts) {
        truth = std::min(truth, truthOf(part, state));
        if (truth == Truth::No)
          break;
      }
    }
    return formula.isNegated ? Truth(-static_cast<int>(truth)) : truth;
  }

  /// Takes goals apart and narrows the box until nothing changes. False, without goals, where the
  /// box has no point that is wanted. True without goals: each of its points is.
  bool reduce(State &state) {
    bool isPossible = true, isChanged = true;
    while (isPossible && isChanged) {
      isChanged = false;
      std::vector<Formula> goals = std::move(state.goals);
      state.goals.clear();
      for (size_t i = 0; i < goals.size() && isPossible; ++i)
        isPossible = reduceGoal(goals[i], state, goals, isChanged);
    }
    if (!isPossible)
      state.goals.clear();
    return isPossible;
  }

  /// Adds to `goals` what is to be looked at as well, to the state's what stays.
  bool reduceGoal(Formula goal, State &state, std::vector<Formula> &goals, bool &isChanged) {
    const Node &node = nodeOf(goal);
    if (node.condition)
      return reduceCondition(goal, state, isChanged);
    Truth &assumed = state.assumed[goal.node],
          wantedTruth = goal.isNegated ? Truth::No : Truth::Yes;
    if (assumed != Truth::Open && assumed != wantedTruth)
      return false;
    assumed = wantedTruth;
    if (!goal.isNegated) {
      goals.insert(goals.end(), node.parts.begin(), node.parts.end());
      return true;
    }
    std::vector<Formula> open;
    for (Formula part : node.parts) {
      Truth truth = truthOf(!part, state);
      if (truth == Truth::Yes)
        return true;
      if (truth == Truth::Open)
        open.push_back(!part);
    }
    if (open.size() == 1) {
      isChanged = true;
      goals.push_back(open.front());
    } else {
      state.goals.push_back(goal);
    }
    return !open.empty();
  }

  bool reduceCondition(Formula goal, State &state, bool &isChanged) {
    unsigned index = *nodeOf(goal).condition;
    Truth wantedTruth = goal.isNegated ? Truth::No : Truth::Yes;
    Truth truth = truthOf(index, state.box);
    if (truth == wantedTruth)
      return true;
    Truth &assumed = state.assumed[goal.node];
    bool isAssumed = assumed == wantedTruth;
    if (truth != Truth::Open || (!isAssumed && assumed != Truth::Open))
      return false;
    state.goals.push_back(goal);
    if (isAssumed)
      return true;
    isChanged = true;
    assumed = wantedTruth;
    return narrowBy(index, goal.isNegated, state.box);
  }

  bool narrowBy(unsigned index, bool isNegated, NamedRanges &box) {
    const Condition &condition = search.conditions[index];
    if (condition.asksForValue || (isNegated && !condition.negated))
      return true;
    const Expression *expression = isNegated ? &*condition.negated : &condition.expression;
    budget -= 4 * static_cast<int64_t>(expression->nodes().size());
    return narrow(box, expression) && search.clip(box);
  }

  //--- Points ---
  /// A point of the box that is wanted: any where no goal is open, else one that is tried.
  std::optional<Point> pointIn(const State &state) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      Point point;
      NamedRanges box;
      for (const Axis &axis : search.axes) {
        point[axis.name] = valueIn(state.box.at(axis.name), axis, attempt);
        box[axis.name] = IntegerRange::ofConstant(point[axis.name]);
      }
      bool isWanted = all_of(state.goals, [&](Formula goal) {
        State there{box, {}, std::vector<Truth>(search.nodes.size(), Truth::Open)};
        return truthOf(goal, there) == Truth::Yes;
      });
      if (!isWanted)
        continue;
      assert(search.isTrue(wanted, point) && "a box was taken for what it is not");
      return point;
    }
    return std::nullopt;
  }

  /// The least, the largest, or another one.
  int64_t valueIn(const IntegerRange &range, const Axis &axis, int attempt) {
    if (attempt < 2)
      return attempt == 0 ? range.low : range.high;
    random = random * 6364136223846793005u + 1442695040888963407u;
    uint64_t span = (uint64_t(range.high) - uint64_t(range.low)) / uint64_t(range.modulus);
    uint64_t step = span == UINT64_MAX ? random : (random >> 11) % (span + 1);
    int64_t value = int64_t(uint64_t(range.low) + step * uint64_t(range.modulus));
    if (axis.values.empty())
      return value;
    auto next =
        find_if(axis.values, [&](int64_t one) { return one >= value && isMember(range, one); });
    return next == axis.values.end() ? range.low : *next;
  }

  //--- Division ---
  void divide(State state) {
    const Formula *alternative = nullptr;
    for (const Formula &goal : state.goals)
      if (isAlternative(goal) &&
          (!alternative || nodeOf(goal).parts.size() < nodeOf(*alternative).parts.size()))
        alternative = &goal;
    if (!alternative)
      return divideBox(std::move(state));
    Formula chosen = !*find_if(nodeOf(*alternative).parts,
                               [&](Formula part) { return truthOf(!part, state) == Truth::Open; });
    State without = state;
    without.goals.push_back(!chosen);
    pending.push_back(std::move(without));
    state.goals.push_back(chosen);
    pending.push_back(std::move(state));
  }

  void divideBox(State state) {
    if (divideByRemainders(state))
      return;
    const std::string *widest = nullptr;
    auto width = [&](const std::string &name) {
      const IntegerRange &range = state.box.at(name);
      return (uint64_t(range.high) - uint64_t(range.low)) / uint64_t(range.modulus);
    };
    for (Formula goal : state.goals)
      for (const Expression::Node &node : expressionOf(goal).nodes())
        if (node.op == Op::Name && width(node.name) > 0 &&
            (!widest || width(node.name) > width(*widest)))
          widest = &node.name;
    assert(widest && "a condition is open at a point");
    std::string name = *widest;
    int64_t middle = middleOf(state.box.at(name));
    IntegerRange lower, upper;
    lower.high = middle;
    upper.low = middle + 1;
    add(state, name, upper);
    add(std::move(state), name, lower);
  }

  const Expression &expressionOf(Formula goal) const {
    return search.conditions[*nodeOf(goal).condition].expression;
  }

  /// At least low, less than high. Boundaries lie closer to zero than to 2^63: of wide ranges the
  /// half of their digits.
  static int64_t middleOf(const IntegerRange &range) {
    if (range.low < 0 && range.high > 0)
      return range.low < -1 ? -1 : 0;
    bool isNegative = range.high <= 0;
    uint64_t least = isNegative ? -uint64_t(range.high) : uint64_t(range.low);
    uint64_t most = isNegative ? -uint64_t(range.low) : uint64_t(range.high);
    uint64_t middle = least + (most - least) / 2;
    if (most / 16 > least) // beside it in digits
      middle = std::max(
          least, uint64_t(1) << ((Log2_64(std::max<uint64_t>(least, 1)) + Log2_64(most)) / 2));
    return isNegative ? int64_t(-middle - 1) : int64_t(middle);
  }

  /// Where a condition asks for the remainder of a name that the box does not know.
  bool divideByRemainders(State &state) {
    for (Formula goal : state.goals) {
      const std::vector<Expression::Node> &tree = expressionOf(goal).nodes();
      for (const Expression::Node &node : tree) {
        if (node.op != Op::Modulo || tree[node.right].op != Op::Constant ||
            tree[node.left].op != Op::Name)
          continue;
        const std::string &name = tree[node.left].name;
        IntegerRange range = state.box.at(name);
        int64_t modulus = tree[node.right].constant;
        if (modulus < 2 || range.isConstant())
          continue;
        int64_t rest = modulus / std::gcd(modulus, range.modulus), factor = 2;
        while (factor <= 64 && rest % factor != 0)
          ++factor;
        uint64_t span = (uint64_t(range.high) - uint64_t(range.low)) / uint64_t(range.modulus);
        if (rest < 2 || factor > 64 || span < uint64_t(factor) ||
            range.modulus > std::numeric_limits<int32_t>::max())
          continue;
        for (int64_t i = factor; i-- > 0;)
          add(state, name,
              {range.low, range.high, range.modulus * factor, range.remainder + i * range.modulus});
        return true;
      }
    }
    return false;
  }

  /// The part of the state's box where `name` is in `range`.
  void add(State state, const std::string &name, const IntegerRange &range) {
    IntegerRange &old = state.box.at(name);
    old = old.intersect(range);
    if (old.isEmpty())
      return;
    for (Formula goal : state.goals) // the smaller box may teach more
      state.assumed[goal.node] = Truth::Open;
    if (search.clip(state.box))
      pending.push_back(std::move(state));
  }
};

BoxSearch::Answer BoxSearch::find(Formula wanted, int64_t &budget) const {
  return Run(*this, wanted, budget).run();
}

} // namespace kiln
