//===- ExpressionC.cpp - expressions as C ---------------------------------===//
#include "codegen/Expression.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace llvm;

namespace kiln {

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
  if (a > 0 && a <= INT32_MAX && b > 0 && b <= INT32_MAX) /* mostly; takes less than 64 bits do */
    return (int64_t)((uint32_t)(a - 1) / (uint32_t)b) + 1;
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
      else if (Expression::isTruth(tree, index))
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
    if (Expression::numOperands(node.op) == 0)
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
    if (Expression::isTruth(tree, index))
      return "";
    const Text &left = printed[node.left], &right = printed[node.right];
    if (node.op == Op::And)
      return "(" + left.truth + " ? " + right.value + " : 0)";
    if (node.op == Op::Or)
      return formatv("({0} ? {1} : {2})", left.truth,
                     Expression::isTruth(tree, node.left) ? "1" : left.value, right.value)
          .str();
    StringRef function = cSpelling(node.op);
    used.insert(function.str());
    std::string operands = node.op == Op::Negate ? "0, " + left.value
                           : Expression::numOperands(node.op) == 1
                               ? left.value
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
