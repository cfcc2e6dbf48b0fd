//===- Expression.cpp - evaluating and printing expressions ---------------===//
#include "codegen/Expression.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace llvm;

namespace kiln {

Expression Expression::ofConstant(int64_t value) {
  Expression expression;
  expression.source = std::to_string(value);
  expression.tree.emplace_back();
  expression.tree.back().constant = value;
  return expression;
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> found;
  for (const Node &node : tree)
    if (node.op == Op::Name && !is_contained(found, node.name))
      found.push_back(node.name);
  return found;
}

static unsigned numOperands(Expression::Op op) {
  using Op = Expression::Op;
  switch (op) {
  case Op::Constant:
  case Op::Name:
    return 0;
  case Op::Negate:
  case Op::Not:
  case Op::NextPowerOf2:
    return 1;
  default:
    return 2;
  }
}

/// Whether the value is 0 or 1.
static bool isTruth(const std::vector<Expression::Node> &tree, unsigned index) {
  using Op = Expression::Op;
  const Expression::Node &node = tree[index];
  switch (node.op) {
  case Op::Equal:
  case Op::NotEqual:
  case Op::Less:
  case Op::LessEqual:
  case Op::Greater:
  case Op::GreaterEqual:
  case Op::Not:
    return true;
  case Op::And:
  case Op::Or:
    return isTruth(tree, node.left) && isTruth(tree, node.right);
  default:
    return false;
  }
}

/// Python's `a // b`; empty on division by zero or overflow.
static std::optional<int64_t> floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// Python's `a % b`: it has the sign of b.
static std::optional<int64_t> floorModulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return b == 0 ? std::nullopt : std::optional<int64_t>(0);
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static std::optional<int64_t> nextPowerOf2(int64_t value) {
  if (value > (int64_t(1) << 62))
    return std::nullopt;
  return value <= 1 ? 1 : static_cast<int64_t>(PowerOf2Ceil(static_cast<uint64_t>(value)));
}

/// The value of one operation on evaluated operands; empty on overflow or division by zero.
static std::optional<int64_t> apply(Expression::Op op, int64_t a, int64_t b) {
  using Op = Expression::Op;
  int64_t result = 0;
  auto checked = [&](bool overflow) {
    return overflow ? std::nullopt : std::optional<int64_t>(result);
  };
  switch (op) {
  case Op::Constant:
  case Op::Name:
    return a;
  case Op::Negate:
    return checked(SubOverflow<int64_t>(0, a, result));
  case Op::Not:
    return a == 0;
  case Op::Add:
    return checked(AddOverflow(a, b, result));
  case Op::Subtract:
    return checked(SubOverflow(a, b, result));
  case Op::Multiply:
    return checked(MulOverflow(a, b, result));
  case Op::FloorDivide:
    return floorDivide(a, b);
  case Op::Modulo:
    return floorModulo(a, b);
  case Op::Equal:
    return a == b;
  case Op::NotEqual:
    return a != b;
  case Op::Less:
    return a < b;
  case Op::LessEqual:
    return a <= b;
  case Op::Greater:
    return a > b;
  case Op::GreaterEqual:
    return a >= b;
  case Op::And:
    return a == 0 ? a : b;
  case Op::Or:
    return a == 0 ? b : a;
  case Op::CeilDivide: {
    std::optional<int64_t> quotient = floorDivide(a, b);
    return quotient && a % b != 0 ? *quotient + 1 : quotient;
  }
  case Op::Minimum:
    return std::min(a, b);
  case Op::Maximum:
    return std::max(a, b);
  case Op::NextPowerOf2:
    return nextPowerOf2(a);
  }
  return std::nullopt;
}

std::optional<int64_t> Expression::evaluate(Lookup lookup, TextError &error) const {
  // Every node is evaluated, but a failure counts only where its value is asked for.
  struct Result {
    std::optional<int64_t> value;
    unsigned failed;
  };
  std::vector<Result> results;
  for (unsigned index = 0; index < tree.size(); ++index) {
    const Node &node = tree[index];
    if (node.op == Op::Name || node.op == Op::Constant) {
      results.push_back({node.op == Op::Name ? lookup(node.name) : node.constant, index});
      continue;
    }
    const Result &left = results[node.left], &right = results[node.right];
    bool isDecided = (node.op == Op::And && left.value == 0) ||
                     (node.op == Op::Or && left.value && left.value != 0);
    if (!left.value || isDecided)
      results.push_back(left);
    else if (numOperands(node.op) == 2 && !right.value)
      results.push_back(right);
    else
      results.push_back({apply(node.op, *left.value, right.value.value_or(0)), index});
  }
  const Result &result = results.back();
  if (result.value)
    return result.value;
  const Node &failed = tree[result.failed];
  bool isDivision =
      failed.op == Op::FloorDivide || failed.op == Op::Modulo || failed.op == Op::CeilDivide;
  std::string message = failed.op == Op::Name ? "unknown name '" + failed.name + "'"
                        : isDivision && results[failed.right].value == 0 ? "division by zero"
                                                                         : "overflow of 64 bits";
  error = {failed.begin, failed.end, std::move(message), ""};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// How an operation is written, and how tightly it binds: Python's levels.
static std::pair<StringRef, unsigned> spellingOf(Expression::Op op) {
  using Op = Expression::Op;
  switch (op) {
  case Op::Constant:
  case Op::Name:
    return {"", 7};
  case Op::Negate:
    return {"-", 6};
  case Op::Not:
    return {"not ", 2};
  case Op::Add:
    return {" + ", 4};
  case Op::Subtract:
    return {" - ", 4};
  case Op::Multiply:
    return {" * ", 5};
  case Op::FloorDivide:
    return {" // ", 5};
  case Op::Modulo:
    return {" % ", 5};
  case Op::Equal:
    return {" == ", 3};
  case Op::NotEqual:
    return {" != ", 3};
  case Op::Less:
    return {" < ", 3};
  case Op::LessEqual:
    return {" <= ", 3};
  case Op::Greater:
    return {" > ", 3};
  case Op::GreaterEqual:
    return {" >= ", 3};
  case Op::And:
    return {" and ", 1};
  case Op::Or:
    return {" or ", 0};
  case Op::CeilDivide:
    return {"cdiv", 7};
  case Op::Minimum:
    return {"min", 7};
  case Op::Maximum:
    return {"max", 7};
  case Op::NextPowerOf2:
    return {"next_power_of_2", 7};
  }
  return {"", 0};
}

/// The text of a tree, with the parentheses that it needs and no others.
static std::string textOf(const std::vector<Expression::Node> &tree) {
  using Op = Expression::Op;
  std::vector<std::string> texts;
  auto levelOf = [&](unsigned index) {
    const Expression::Node &node = tree[index];
    bool isNegative = node.op == Op::Constant && node.constant < 0;
    return isNegative ? 6u : spellingOf(node.op).second;
  };
  auto operand = [&](unsigned index, unsigned level) {
    return levelOf(index) < level ? "(" + texts[index] + ")" : texts[index];
  };
  for (const Expression::Node &node : tree) {
    auto [spelling, level] = spellingOf(node.op);
    bool isCall = level == 7, groupsRight = level <= 1, isComparison = level == 3;
    if (node.op == Op::Constant)
      texts.push_back(std::to_string(node.constant));
    else if (node.op == Op::Name)
      texts.push_back(node.name);
    else if (isCall)
      texts.push_back(spelling.str() + "(" + texts[node.left] +
                      (numOperands(node.op) == 2 ? ", " + texts[node.right] : "") + ")");
    else if (numOperands(node.op) == 1)
      texts.push_back(spelling.str() + operand(node.left, level));
    else
      texts.push_back(operand(node.left, level + (groupsRight || isComparison)) + spelling.str() +
                      operand(node.right, level + !groupsRight));
  }
  return texts.back();
}

Expression Expression::extract(const std::vector<Node> &tree, unsigned root) {
  std::vector<bool> isReached(root + 1);
  isReached[root] = true;
  for (unsigned index = root + 1; index-- > 0;) {
    if (isReached[index] && numOperands(tree[index].op) >= 1)
      isReached[tree[index].left] = true;
    if (isReached[index] && numOperands(tree[index].op) == 2)
      isReached[tree[index].right] = true;
  }
  Expression result;
  std::vector<unsigned> places(root + 1);
  for (unsigned index = 0; index <= root; ++index) {
    if (!isReached[index])
      continue;
    places[index] = static_cast<unsigned>(result.tree.size());
    Node node = tree[index];
    node.left = numOperands(node.op) >= 1 ? places[node.left] : 0;
    node.right = numOperands(node.op) == 2 ? places[node.right] : node.left;
    result.tree.push_back(std::move(node));
  }
  result.source = textOf(result.tree);
  for (Node &node : result.tree) {
    node.begin = 0;
    node.end = result.source.size();
  }
  return result;
}

Expression Expression::simplify(Lookup lookup) const {
  std::vector<Node> nodes;
  // Where the value of each node of `tree` is found in `nodes`.
  std::vector<unsigned> places;
  for (Node node : tree) {
    unsigned operands = numOperands(node.op);
    node.left = operands >= 1 ? places[node.left] : 0;
    node.right = operands == 2 ? places[node.right] : node.left;
    auto constant = [&](unsigned index) {
      const Node &at = nodes[index];
      return at.op == Op::Constant ? std::optional(at.constant) : std::nullopt;
    };
    std::optional<int64_t> value;
    bool isChoice = node.op == Op::And || node.op == Op::Or;
    if (node.op == Op::Name) {
      value = lookup(node.name);
    } else if (isChoice && constant(node.left)) {
      bool takesLeft = (*constant(node.left) == 0) == (node.op == Op::And);
      places.push_back(takesLeft ? node.left : node.right);
      continue;
    } else if (operands && constant(node.left) && constant(node.right)) {
      value = apply(node.op, *constant(node.left), *constant(node.right));
    }
    if (value) {
      node.op = Op::Constant;
      node.constant = *value;
    }
    places.push_back(static_cast<unsigned>(nodes.size()));
    nodes.push_back(std::move(node));
  }
  return extract(nodes, places.back());
}

std::vector<Expression> Expression::conjuncts() const {
  std::vector<Expression> all;
  std::vector<unsigned> pending = {static_cast<unsigned>(tree.size() - 1)};
  while (!pending.empty()) {
    unsigned index = pending.back();
    pending.pop_back();
    if (tree[index].op == Op::And) {
      pending.push_back(tree[index].right);
      pending.push_back(tree[index].left);
    } else {
      all.push_back(extract(tree, index));
    }
  }
  return all;
}

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

namespace {
struct CHelper {
  StringRef name, definition;
};
} // namespace

// The order is that of dependence: a definition calls only those above it.
static const CHelper kHelpers[] = {
    {"checked_add", R"(static int64_t checked_add(int64_t a, int64_t b, int *failed) {
#if defined(__GNUC__)
  int64_t r;
  *failed |= __builtin_add_overflow(a, b, &r);
  return r;
#else
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
    *failed = 1;
    return 0;
  }
  return a + b;
#endif
}
)"},
    {"checked_sub", R"(static int64_t checked_sub(int64_t a, int64_t b, int *failed) {
#if defined(__GNUC__)
  int64_t r;
  *failed |= __builtin_sub_overflow(a, b, &r);
  return r;
#else
  if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b) {
    *failed = 1;
    return 0;
  }
  return a - b;
#endif
}
)"},
    {"checked_mul", R"(static int64_t checked_mul(int64_t a, int64_t b, int *failed) {
#if defined(__GNUC__)
  int64_t r;
  *failed |= __builtin_mul_overflow(a, b, &r);
  return r;
#else
  if (a != 0 && b != 0 &&
      ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN) ||
       (a != -1 && b != -1 && ((a > 0) == (b > 0) ? (a > 0 ? a > INT64_MAX / b : a < INT64_MAX / b)
                                                  : (a > 0 ? b < INT64_MIN / a : a < INT64_MIN / b))))) {
    *failed = 1;
    return 0;
  }
  return a * b;
#endif
}
)"},
    {"floor_div", R"(/* Rounds towards minus infinity, as the kernel language's // does. */
static int64_t floor_div(int64_t a, int64_t b, int *failed) {
  int64_t q;
  if (b == 0 || (b == -1 && a == INT64_MIN)) {
    *failed = 1;
    return 0;
  }
  q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
)"},
    {"floor_mod", R"(/* Has the sign of b. */
static int64_t floor_mod(int64_t a, int64_t b, int *failed) {
  int64_t r;
  if (b == 0) {
    *failed = 1;
    return 0;
  }
  if (b == -1)
    return 0;
  r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
)"},
    {"ceil_div", R"(/* Rounds towards plus infinity. */
static int64_t ceil_div(int64_t a, int64_t b, int *failed) {
  int64_t q;
  if (b == 0 || (b == -1 && a == INT64_MIN)) {
    *failed = 1;
    return 0;
  }
  q = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? q + 1 : q;
}
)"},
    {"from_u64", R"(static int64_t from_u64(uint64_t a, int *failed) {
  if (a > INT64_MAX) {
    *failed = 1;
    return 0;
  }
  return (int64_t)a;
}
)"},
    {"min_of", R"(static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
)"},
    {"max_of", R"(static int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }
)"},
    {"next_power_of_2", R"(static int64_t next_power_of_2(int64_t a, int *failed) {
  int64_t r = 1;
  if (a > ((int64_t)1 << 62)) {
    *failed = 1;
    return 0;
  }
  while (r < a)
    r *= 2;
  return r;
}
)"},
};

std::string Expression::cHelpers(const std::set<std::string> &used) {
  std::string out;
  for (const CHelper &helper : kHelpers)
    if (used.count(helper.name.str()))
      out += (helper.definition + "\n").str();
  return out;
}

/// The C operator of a comparison, or the function of an operation.
static StringRef cSpelling(Expression::Op op) {
  using Op = Expression::Op;
  switch (op) {
  case Op::Constant:
  case Op::Name:
  case Op::Not:
  case Op::And:
  case Op::Or:
    return "";
  case Op::Negate:
  case Op::Subtract:
    return "checked_sub";
  case Op::Add:
    return "checked_add";
  case Op::Multiply:
    return "checked_mul";
  case Op::FloorDivide:
    return "floor_div";
  case Op::Modulo:
    return "floor_mod";
  case Op::CeilDivide:
    return "ceil_div";
  case Op::NextPowerOf2:
    return "next_power_of_2";
  case Op::Minimum:
    return "min_of";
  case Op::Maximum:
    return "max_of";
  case Op::Equal:
    return "==";
  case Op::NotEqual:
    return "!=";
  case Op::Less:
    return "<";
  case Op::LessEqual:
    return "<=";
  case Op::Greater:
    return ">";
  case Op::GreaterEqual:
    return ">=";
  }
  return "";
}

static std::string printConstant(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min())
    return "INT64_MIN";
  bool isSmall = value >= -2147483647 && value <= 2147483647;
  return isSmall ? std::to_string(value) : formatv("INT64_C({0})", value).str();
}

namespace {
/// Prints nodes as C, each as a value and as a condition: what C evaluates is then what Python
/// would, since && , || and ?: skip what the left side decides.
class CPrinter {
public:
  CPrinter(const std::vector<Expression::Node> &tree, Expression::NamePrinter name,
           StringRef failed, std::set<std::string> &used)
      : tree(tree), name(name), failed(failed), used(used) {}

  using Op = Expression::Op;
  struct Text {
    std::string value, truth;
  };

  Text print() {
    for (unsigned index = 0; index < tree.size(); ++index) {
      Text text;
      text.truth = truthOf(tree[index]);
      text.value = valueOf(index);
      if (text.truth.empty())
        text.truth = "(" + text.value + " != 0)";
      else if (isTruth(tree, index))
        text.value = "(int64_t)" + text.truth;
      printed.push_back(std::move(text));
    }
    return printed.back();
  }

private:
  /// Both operands are the same name, whose value cannot fail.
  bool isSameName(const Expression::Node &node) const {
    return tree[node.left].op == Op::Name && tree[node.right].op == Op::Name &&
           tree[node.left].name == tree[node.right].name &&
           !StringRef(printed[node.left].value).contains(failed);
  }

  /// Empty where the value has to be compared with 0.
  std::string truthOf(const Expression::Node &node) const {
    if (numOperands(node.op) == 0)
      return "";
    const Text &left = printed[node.left], &right = printed[node.right];
    switch (node.op) {
    case Op::Not:
      return "!" + left.truth;
    case Op::And:
      return "(" + left.truth + " && " + right.truth + ")";
    case Op::Or:
      return "(" + left.truth + " || " + right.truth + ")";
    case Op::Equal:
    case Op::NotEqual:
    case Op::Less:
    case Op::LessEqual:
    case Op::Greater:
    case Op::GreaterEqual:
      if (isSameName(node)) // which compilers warn of
        return node.op == Op::Equal || node.op == Op::LessEqual || node.op == Op::GreaterEqual
                   ? "1"
                   : "0";
      return formatv("({0} {1} {2})", left.value, cSpelling(node.op), right.value).str();
    default:
      return "";
    }
  }

  /// Empty for comparisons and the like: print() makes the value of the condition.
  std::string valueOf(unsigned index) {
    const Expression::Node &node = tree[index];
    if (node.op == Op::Constant)
      return printConstant(node.constant);
    if (node.op == Op::Name)
      return name(node.name);
    if (isTruth(tree, index))
      return "";
    const Text &left = printed[node.left], &right = printed[node.right];
    if (node.op == Op::And)
      return "(" + left.truth + " ? " + right.value + " : 0)";
    if (node.op == Op::Or)
      return formatv("({0} ? {1} : {2})", left.truth, isTruth(tree, node.left) ? "1" : left.value,
                     right.value)
          .str();
    StringRef function = cSpelling(node.op);
    used.insert(function.str());
    std::string operands = node.op == Op::Negate       ? "0, " + left.value
                           : numOperands(node.op) == 1 ? left.value
                                                       : left.value + ", " + right.value;
    bool cannotFail = node.op == Op::Minimum || node.op == Op::Maximum;
    return formatv("{0}({1}{2})", function, operands, cannotFail ? "" : ", " + failed.str()).str();
  }

  const std::vector<Expression::Node> &tree;
  Expression::NamePrinter name;
  StringRef failed;
  std::set<std::string> &used;
  std::vector<Text> printed;
};
} // namespace

std::string Expression::printC(NamePrinter name, StringRef failed,
                               std::set<std::string> &used) const {
  return CPrinter(tree, name, failed, used).print().value;
}

std::string Expression::printCTruth(NamePrinter name, StringRef failed,
                                    std::set<std::string> &used) const {
  return CPrinter(tree, name, failed, used).print().truth;
}

uint64_t Expression::printedSize() const {
  constexpr uint64_t name = 32; // or a function's, with its arguments
  struct Size {
    uint64_t value, truth;
  };
  std::vector<Size> sizes;
  for (unsigned index = 0; index < tree.size(); ++index) {
    const Node &node = tree[index];
    Size size = {name, 0}, none = {0, 0};
    const Size &left = numOperands(node.op) >= 1 ? sizes[node.left] : none;
    const Size &right = numOperands(node.op) == 2 ? sizes[node.right] : none;
    bool isChoice = node.op == Op::And || node.op == Op::Or;
    uint64_t operands = SaturatingAdd(left.value, right.value);
    if (isChoice) // as printed by CPrinter
      operands = SaturatingAdd(left.truth, node.op == Op::Or ? left.value : 0, right.value);
    size.value = SaturatingAdd(name, operands);
    size.truth = isChoice ? SaturatingAdd(name, left.truth, right.truth) : size.value;
    sizes.push_back(size);
  }
  return sizes.back().value;
}

} // namespace kiln
