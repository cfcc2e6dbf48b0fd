//===- Expression.cpp - evaluating and printing grid expressions ----------===//
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
    return a != 0 && b != 0;
  case Op::Or:
    return a != 0 || b != 0;
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
  std::vector<int64_t> values;
  for (const Node &node : tree) {
    std::optional<int64_t> value;
    if (node.op == Op::Name) {
      value = lookup(node.name);
      if (!value) {
        error = {node.begin, node.end, "unknown name '" + node.name + "'", ""};
        return std::nullopt;
      }
    } else if (node.op == Op::Constant) {
      value = node.constant;
    } else {
      value = apply(node.op, values[node.left], values[node.right]);
    }
    if (!value) {
      bool isDivision =
          node.op == Op::FloorDivide || node.op == Op::Modulo || node.op == Op::CeilDivide;
      bool byZero = isDivision && values[node.right] == 0;
      error = {node.begin, node.end, byZero ? "division by zero" : "overflow of 64 bits", ""};
      return std::nullopt;
    }
    values.push_back(*value);
  }
  return values.back();
}

Expression Expression::substitute(Lookup lookup) const {
  Expression result = *this;
  for (Node &node : result.tree) {
    if (node.op != Op::Name)
      continue;
    if (std::optional<int64_t> value = lookup(node.name)) {
      node.op = Op::Constant;
      node.constant = *value;
    }
  }
  return result;
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

/// The C operator or checked function of an operation.
static std::pair<StringRef, bool> cSpelling(Expression::Op op) {
  using Op = Expression::Op;
  switch (op) {
  case Op::Constant:
  case Op::Name:
  case Op::Not:
    return {"", false};
  case Op::Negate:
  case Op::Subtract:
    return {"checked_sub", true};
  case Op::Add:
    return {"checked_add", true};
  case Op::Multiply:
    return {"checked_mul", true};
  case Op::FloorDivide:
    return {"floor_div", true};
  case Op::Modulo:
    return {"floor_mod", true};
  case Op::CeilDivide:
    return {"ceil_div", true};
  case Op::NextPowerOf2:
    return {"next_power_of_2", true};
  case Op::Minimum:
    return {"min_of", true};
  case Op::Maximum:
    return {"max_of", true};
  case Op::Equal:
    return {"==", false};
  case Op::NotEqual:
    return {"!=", false};
  case Op::Less:
    return {"<", false};
  case Op::LessEqual:
    return {"<=", false};
  case Op::Greater:
    return {">", false};
  case Op::GreaterEqual:
    return {">=", false};
  case Op::And:
    return {"&&", false};
  case Op::Or:
    return {"||", false};
  }
  return {"", false};
}

static std::string printConstant(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min())
    return "INT64_MIN";
  bool isSmall = value >= -2147483647 && value <= 2147483647;
  return isSmall ? std::to_string(value) : formatv("INT64_C({0})", value).str();
}

std::string Expression::printC(NamePrinter name, StringRef failed,
                               std::set<std::string> &used) const {
  // Chains of min and max share no nodes, so every node is printed once.
  std::vector<std::string> printed;
  for (const Node &node : tree) {
    auto [spelling, isCall] = cSpelling(node.op);
    std::string text;
    if (node.op == Op::Constant) {
      text = printConstant(node.constant);
    } else if (node.op == Op::Name) {
      text = name(node.name);
    } else if (node.op == Op::Not) {
      text = "(int64_t)(" + printed[node.left] + " == 0)";
    } else if (!isCall) {
      bool isLogical = node.op == Op::And || node.op == Op::Or;
      text = isLogical ? formatv("(int64_t)(({0} != 0) {1} ({2} != 0))", printed[node.left],
                                 spelling, printed[node.right])
                             .str()
                       : formatv("(int64_t)({0} {1} {2})", printed[node.left], spelling,
                                 printed[node.right])
                             .str();
    } else {
      used.insert(spelling.str());
      bool isMinMax = node.op == Op::Minimum || node.op == Op::Maximum;
      std::string operands = node.op == Op::Negate ? "0, " + printed[node.left]
                             : node.op == Op::NextPowerOf2
                                 ? printed[node.left]
                                 : printed[node.left] + ", " + printed[node.right];
      text = formatv("{0}({1}{2})", spelling, operands, isMinMax ? "" : ", " + failed.str()).str();
    }
    printed.push_back(std::move(text));
  }
  return printed.back();
}

} // namespace kiln
