//===- IntegerRange.cpp - which values an expression can have -------------===//
#include "codegen/IntegerRange.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llvm;

namespace kiln {

namespace {
using Op = Expression::Op;
/// Wide enough for a product of two 64-bit integers.
using Wide = __int128;
constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

Wide floorOf(Wide a, Wide b) {
  Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
Wide ceilOf(Wide a, Wide b) { return -floorOf(-a, b); }
/// From 0 to modulus - 1.
Wide remainderOf(Wide a, Wide modulus) { return a - floorOf(a, modulus) * modulus; }

/// The bounds moved inwards to integers that have the remainder.
IntegerRange tightened(Wide low, Wide high, int64_t modulus, int64_t remainder) {
  low += remainderOf(Wide(remainder) - low, modulus);
  high -= remainderOf(high - remainder, modulus);
  low = std::max<Wide>(low, kLowest);
  high = std::min<Wide>(high, kHighest);
  if (low > high)
    return IntegerRange::empty();
  return {int64_t(low), int64_t(high), modulus, remainder};
}

IntegerRange between(Wide low, Wide high) { return tightened(low, high, 1, 0); }

/// The x from 0 to b - 1 for which a * x leaves 1 when divided by b; a and b have no common factor.
Wide inverseOf(Wide a, Wide b) {
  Wide x = 1, next = 0, modulus = b;
  a = remainderOf(a, b);
  while (b != 0) {
    Wide quotient = a / b;
    std::tie(a, b) = std::pair(b, a - quotient * b);
    std::tie(x, next) = std::pair(next, x - quotient * next);
  }
  return remainderOf(x, modulus);
}
} // namespace

IntegerRange IntegerRange::intersect(const IntegerRange &other) const {
  if (isEmpty() || other.isEmpty())
    return empty();
  Wide least = std::max(low, other.low), most = std::min(high, other.high);
  int64_t common = std::gcd(modulus, other.modulus);
  if (remainderOf(Wide(remainder) - other.remainder, common) != 0)
    return empty();
  Wide combined = Wide(modulus / common) * other.modulus;
  if (combined > kHighest) // Either alone is right, too.
    return tightened(least, most, modulus, remainder);
  // The Chinese remainder theorem: this one's remainder and a multiple of its modulus.
  Wide steps = other.modulus / common;
  Wide distance = floorOf(Wide(other.remainder) - remainder, common);
  Wide multiple = remainderOf(distance * inverseOf(modulus / common, steps), steps);
  Wide both = remainderOf(remainder + multiple * modulus, combined);
  return tightened(least, most, int64_t(combined), int64_t(both));
}

IntegerRange IntegerRange::join(const IntegerRange &other) const {
  if (isEmpty() || other.isEmpty())
    return isEmpty() ? other : *this;
  int64_t common = std::gcd(modulus, other.modulus);
  Wide apart = Wide(remainder) - other.remainder;
  common = std::gcd(common, int64_t(apart < 0 ? -apart : apart));
  return tightened(std::min(low, other.low), std::max(high, other.high), common,
                   int64_t(remainderOf(remainder, common)));
}

//===----------------------------------------------------------------------===//
// From names to values
//===----------------------------------------------------------------------===//

namespace {
IntegerRange rangeOfProduct(const IntegerRange &a, const IntegerRange &b) {
  Wide corners[] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low,
                    Wide(a.high) * b.high};
  return between(*std::min_element(std::begin(corners), std::end(corners)),
                 *std::max_element(std::begin(corners), std::end(corners)));
}

/// The divisors below and above zero: a quotient has its extremes at their ends.
std::vector<IntegerRange> withoutZero(const IntegerRange &divisor) {
  std::vector<IntegerRange> parts = {between(divisor.low, std::min<Wide>(divisor.high, -1)),
                                     between(std::max<Wide>(divisor.low, 1), divisor.high)};
  erase_if(parts, [](const IntegerRange &part) { return part.isEmpty(); });
  return parts;
}

IntegerRange rangeOfQuotient(const IntegerRange &a, const IntegerRange &b,
                             function_ref<Wide(Wide, Wide)> divide) {
  IntegerRange all = IntegerRange::empty();
  for (const IntegerRange &divisor : withoutZero(b)) {
    Wide corners[] = {divide(a.low, divisor.low), divide(a.low, divisor.high),
                      divide(a.high, divisor.low), divide(a.high, divisor.high)};
    all = all.join(between(*std::min_element(std::begin(corners), std::end(corners)),
                           *std::max_element(std::begin(corners), std::end(corners))));
  }
  return all;
}

IntegerRange rangeOfRemainder(const IntegerRange &a, const IntegerRange &b) {
  if (a.isConstant() && b.isConstant() && b.low != 0)
    return IntegerRange::ofConstant(int64_t(a.low - floorOf(a.low, b.low) * b.low));
  if (b.isConstant() && b.low > 0 && !(a.low >= 0 && a.high < b.low)) {
    // What leaves 4 when divided by 8 leaves 4 or 12 when divided by 16.
    int64_t common = std::gcd(a.modulus, b.low);
    return tightened(0, Wide(b.low) - 1, common, int64_t(remainderOf(a.remainder, common)));
  }
  IntegerRange all = IntegerRange::empty();
  for (const IntegerRange &divisor : withoutZero(b)) {
    bool isWithin = divisor.low > 0 && a.low >= 0 && a.high < divisor.low;
    all = all.join(isWithin          ? between(a.low, a.high)
                   : divisor.low > 0 ? between(0, Wide(divisor.high) - 1)
                                     : between(Wide(divisor.low) + 1, 0));
  }
  return all;
}

IntegerRange rangeOfPowerOf2(const IntegerRange &a) {
  constexpr int64_t largest = int64_t(1) << 62;
  if (a.low > largest)
    return IntegerRange::empty();
  auto next = [](int64_t value) { return value <= 1 ? 1 : int64_t(PowerOf2Ceil(uint64_t(value))); };
  return between(next(a.low), next(std::min(a.high, largest)));
}

/// Whether `a op b`: a truth where the ranges decide it, else 0 to 1.
IntegerRange rangeOfComparison(Op op, const IntegerRange &a, const IntegerRange &b) {
  bool mayBeLess = a.low<b.high, mayBeGreater = a.high> b.low;
  bool mayBeEqual = !a.intersect(b).isEmpty();
  bool mayHold = false, mayFail = false;
  auto consider = [&](bool isPossible, bool holds) {
    mayHold |= isPossible && holds;
    mayFail |= isPossible && !holds;
  };
  consider(mayBeLess, op == Op::Less || op == Op::LessEqual || op == Op::NotEqual);
  consider(mayBeEqual, op == Op::Equal || op == Op::LessEqual || op == Op::GreaterEqual);
  consider(mayBeGreater, op == Op::Greater || op == Op::GreaterEqual || op == Op::NotEqual);
  return between(mayFail ? 0 : 1, mayHold ? 1 : 0);
}

IntegerRange rangeOfChoice(Op op, const IntegerRange &a, const IntegerRange &b) {
  bool mayBeZero = a.contains(0), mayBeOther = !(a.isConstant() && a.low == 0);
  if (op == Op::And)
    return (mayBeZero ? IntegerRange::ofConstant(0) : IntegerRange::empty())
        .join(mayBeOther ? b : IntegerRange::empty());
  IntegerRange taken = a; // where it is not 0
  if (taken.low == 0)
    taken = between(1, taken.high);
  else if (taken.high == 0)
    taken = between(taken.low, -1);
  return taken.join(mayBeZero ? b : IntegerRange::empty());
}

IntegerRange rangeOfNode(const Expression::Node &node, const IntegerRange &a,
                         const IntegerRange &b) {
  switch (node.op) {
  case Op::And:
  case Op::Or:
    return rangeOfChoice(node.op, a, b);
  case Op::Negate:
    return between(-Wide(a.high), -Wide(a.low));
  case Op::Not:
    return between(a.isConstant() && a.low == 0 ? 1 : 0, a.contains(0) ? 1 : 0);
  case Op::NextPowerOf2:
    return rangeOfPowerOf2(a);
  default:
    break;
  }
  if (b.isEmpty())
    return b;
  switch (node.op) {
  case Op::Add:
    return between(Wide(a.low) + b.low, Wide(a.high) + b.high);
  case Op::Subtract:
    return between(Wide(a.low) - b.high, Wide(a.high) - b.low);
  case Op::Multiply:
    return rangeOfProduct(a, b);
  case Op::FloorDivide:
    return rangeOfQuotient(a, b, floorOf);
  case Op::CeilDivide:
    return rangeOfQuotient(a, b, ceilOf);
  case Op::Modulo:
    return rangeOfRemainder(a, b);
  case Op::Minimum:
    return between(std::min(a.low, b.low), std::min(a.high, b.high));
  case Op::Maximum:
    return between(std::max(a.low, b.low), std::max(a.high, b.high));
  default:
    return rangeOfComparison(node.op, a, b);
  }
}

std::vector<IntegerRange> rangesOf(const Expression &expression, const NamedRanges &names) {
  std::vector<IntegerRange> ranges;
  for (const Expression::Node &node : expression.nodes()) {
    if (node.op == Op::Constant) {
      ranges.push_back(IntegerRange::ofConstant(node.constant));
    } else if (node.op == Op::Name) {
      auto known = names.find(node.name);
      ranges.push_back(known == names.end() ? IntegerRange() : known->second);
    } else {
      const IntegerRange &a = ranges[node.left], &b = ranges[node.right];
      ranges.push_back(a.isEmpty() ? a : rangeOfNode(node, a, b));
    }
  }
  return ranges;
}
} // namespace

IntegerRange rangeOf(const Expression &expression, const NamedRanges &names) {
  return rangesOf(expression, names).back();
}

namespace {
bool leaves64Bits(Wide low, Wide high) { return low < kLowest || high > kHighest; }

/// Whether one operation on values of these ranges may have no result.
bool mayFail(Op op, const IntegerRange &a, const IntegerRange &b) {
  bool mayDivideByZero = b.low <= 0 && b.high >= 0 && b.remainder == 0;
  switch (op) {
  case Op::Negate:
    return a.low == kLowest;
  case Op::Add:
    return leaves64Bits(Wide(a.low) + b.low, Wide(a.high) + b.high);
  case Op::Subtract:
    return leaves64Bits(Wide(a.low) - b.high, Wide(a.high) - b.low);
  case Op::Multiply: {
    Wide corners[] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low,
                      Wide(a.high) * b.high};
    return leaves64Bits(*std::min_element(std::begin(corners), std::end(corners)),
                        *std::max_element(std::begin(corners), std::end(corners)));
  }
  case Op::FloorDivide:
  case Op::CeilDivide:
    return mayDivideByZero || (a.low == kLowest && b.low <= -1 && b.high >= -1);
  case Op::Modulo:
    return mayDivideByZero;
  case Op::NextPowerOf2:
    return a.high > int64_t(1) << 62;
  default:
    return false;
  }
}
} // namespace

bool mayFail(const Expression &expression, const NamedRanges &names) {
  std::vector<IntegerRange> ranges = rangesOf(expression, names);
  std::vector<bool> fails;
  for (const Expression::Node &node : expression.nodes()) {
    unsigned operands = Expression::numOperands(node.op);
    if (operands == 0) {
      fails.push_back(false);
      continue;
    }
    const IntegerRange &a = ranges[node.left], &b = ranges[node.right];
    // The right side of a choice counts only where the left one does not decide.
    bool isDecided = (node.op == Op::Or && !a.contains(0)) ||
                     (node.op == Op::And && a.isConstant() && a.low == 0);
    bool ofOperands = fails[node.left] || (operands == 2 && !isDecided && fails[node.right]);
    fails.push_back(ofOperands || a.isEmpty() || (operands == 2 && !isDecided && b.isEmpty()) ||
                    mayFail(node.op, a, operands == 2 ? b : a));
  }
  return fails.back();
}

//===----------------------------------------------------------------------===//
// From conditions to names
//===----------------------------------------------------------------------===//

namespace {
/// Narrows the names of one expression. Every function gives false when no value is left.
class Narrower {
public:
  /// `budget` is the number of nodes to look at: alternatives within alternatives multiply.
  Narrower(const Expression &expression, NamedRanges &names, int64_t &budget)
      : expression(expression), nodes(expression.nodes()), names(names), budget(budget) {
    budget -= static_cast<int64_t>(nodes.size());
    if (budget > 0)
      ranges = rangesOf(expression, names);
  }

  bool assume(unsigned index, bool isTrue) {
    if (budget <= 0)
      return true;
    const Expression::Node &node = nodes[index];
    if (ranges[index].isEmpty())
      return false;
    switch (node.op) {
    case Op::Not:
      return assume(node.left, !isTrue);
    case Op::And:
    case Op::Or:
      return (node.op == Op::And) == isTrue ? assumeBoth(node, isTrue) : assumeEither(node, isTrue);
    case Op::Less:
    case Op::GreaterEqual:
      return compare(node, (node.op == Op::Less) == isTrue ? Op::Less : Op::GreaterEqual);
    case Op::LessEqual:
    case Op::Greater:
      return compare(node, (node.op == Op::Greater) == isTrue ? Op::Greater : Op::LessEqual);
    case Op::Equal:
    case Op::NotEqual:
      return compare(node, (node.op == Op::Equal) == isTrue ? Op::Equal : Op::NotEqual);
    default:
      return isTrue ? exclude(index, 0) : restrict(index, IntegerRange::ofConstant(0));
    }
  }

private:
  /// The right side counts with what the left one has taught.
  bool assumeBoth(const Expression::Node &node, bool isTrue) {
    return assume(node.left, isTrue) &&
           Narrower(expression, names, budget).assume(node.right, isTrue);
  }

  bool assumeEither(const Expression::Node &node, bool isTrue) {
    NamedRanges left = names, right = names;
    bool mayLeft = Narrower(expression, left, budget).assume(node.left, isTrue);
    bool mayRight = Narrower(expression, right, budget).assume(node.left, !isTrue) &&
                    Narrower(expression, right, budget).assume(node.right, isTrue);
    if (!mayLeft && !mayRight)
      return false;
    if (mayLeft && mayRight)
      for (auto &[name, range] : left)
        range = range.join(right[name]);
    names = mayLeft ? std::move(left) : std::move(right);
    return true;
  }

  bool compare(const Expression::Node &node, Op op) {
    const IntegerRange a = ranges[node.left], b = ranges[node.right];
    switch (op) {
    case Op::Less:
      return restrict(node.left, between(kLowest, Wide(b.high) - 1)) &&restrict(
          node.right, between(Wide(a.low) + 1, kHighest));
    case Op::LessEqual:
      return restrict(node.left, between(kLowest, b.high)) &&restrict(node.right,
                                                                      between(a.low, kHighest));
    case Op::Greater:
      return restrict(node.left, between(Wide(b.low) + 1, kHighest)) &&restrict(
          node.right, between(kLowest, Wide(a.high) - 1));
    case Op::GreaterEqual:
      return restrict(node.left, between(b.low, kHighest)) &&restrict(node.right,
                                                                      between(kLowest, a.high));
    case Op::Equal:
      return restrict(node.left, b) &&restrict(node.right, a);
    default:
      return (!b.isConstant() || exclude(node.left, b.low)) &&
             (!a.isConstant() || exclude(node.right, a.low));
    }
  }

  /// The node has another value than `value`.
  bool exclude(unsigned index, int64_t value) {
    const IntegerRange &range = ranges[index];
    if (range.low == value)
      return restrict(index, between(Wide(value) + 1, kHighest));
    return range.high != value || restrict(index, between(kLowest, Wide(value) - 1));
  }

  /// The node's value is in `wanted`.
  bool restrict(unsigned index, const IntegerRange &wanted) {
    const Expression::Node &node = nodes[index];
    IntegerRange range = ranges[index].intersect(wanted);
    if (range.isEmpty())
      return false;
    if (node.op == Op::Name) {
      IntegerRange &known = names.try_emplace(node.name).first->second;
      known = known.intersect(range);
      return !known.isEmpty();
    }
    return node.op == Op::Constant || restrictOperands(node, range);
  }

  bool restrictOperands(const Expression::Node &node, const IntegerRange &range) {
    const IntegerRange a = ranges[node.left], b = ranges[node.right];
    Wide low = range.low, high = range.high;
    switch (node.op) {
    case Op::Negate:
      return restrict(node.left, between(-high, -low));
    case Op::Add:
      return restrict(node.left, between(low - b.high, high - b.low)) &&restrict(
          node.right, between(low - a.high, high - a.low));
    case Op::Subtract:
      return restrict(node.left, between(low + b.low, high + b.high)) &&restrict(
          node.right, between(a.low - high, a.high - low));
    case Op::Multiply:
      return restrictFactor(node.left, b, low, high) && restrictFactor(node.right, a, low, high);
    case Op::FloorDivide:
      return !isPositiveConstant(b) ||
             restrict(node.left, between(low * b.low, high * b.low + (b.low - 1)));
    case Op::CeilDivide:
      return !isPositiveConstant(b) ||
             restrict(node.left, between((low - 1) * b.low + 1, high * b.low));
    case Op::Modulo:
      return !isPositiveConstant(b) || !range.isConstant() ||
             restrict(node.left, tightened(a.low, a.high, b.low, range.low));
    case Op::Minimum:
      return restrict(node.left, between(low, kHighest)) &&restrict(node.right,
                                                                    between(low, kHighest));
    case Op::Maximum:
      return restrict(node.left, between(kLowest, high)) &&restrict(node.right,
                                                                    between(kLowest, high));
    case Op::NextPowerOf2: // at least its operand
      return restrict(node.left, between(kLowest, high));
    default:
      return true;
    }
  }

  static bool isPositiveConstant(const IntegerRange &range) {
    return range.isConstant() && range.low > 0;
  }

  /// One factor of a product, where the other is a constant above 0.
  bool restrictFactor(unsigned index, const IntegerRange &other, Wide low, Wide high) {
    return !isPositiveConstant(other) ||
           restrict(index, between(ceilOf(low, other.low), floorOf(high, other.low)));
  }

  const Expression &expression;
  const std::vector<Expression::Node> &nodes;
  NamedRanges &names;
  int64_t &budget;
  std::vector<IntegerRange> ranges;
};
} // namespace

bool narrow(NamedRanges &names, ArrayRef<const Expression *> conditions) {
  // What one condition teaches may help another; more rounds seldom find more.
  constexpr unsigned rounds = 4;
  int64_t budget = 300000;
  for (unsigned round = 0; round < rounds; ++round) {
    NamedRanges before = names;
    for (const Expression *condition : conditions)
      if (!Narrower(*condition, names, budget)
               .assume(static_cast<unsigned>(condition->nodes().size() - 1), true))
        return false;
    if (names == before)
      break;
  }
  return true;
}

} // namespace kiln
