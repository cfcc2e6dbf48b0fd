//===- Expression.cpp - evaluating and rewriting expressions --------------===//
#include "codegen/Expression.h"
#include "llvm/ADT/STLExtras.h"
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

unsigned Expression::numOperands(Op op) {
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

bool Expression::isTruth(const std::vector<Node> &tree, unsigned index) {
  const Node &node = tree[index];
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
                      (Expression::numOperands(node.op) == 2 ? ", " + texts[node.right] : "") +
                      ")");
    else if (Expression::numOperands(node.op) == 1)
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

/// `x or 0`, which is x, and `x and 1` where x is 0 or 1.
static bool isNeutral(const std::vector<Expression::Node> &nodes, const Expression::Node &choice) {
  const Expression::Node &right = nodes[choice.right];
  if (right.op != Expression::Op::Constant)
    return false;
  return choice.op == Expression::Op::Or
             ? right.constant == 0
             : right.constant == 1 && Expression::isTruth(nodes, choice.left);
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
    } else if (isChoice && isNeutral(nodes, node)) {
      places.push_back(node.left);
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

static std::optional<Expression::Op> oppositeOf(Expression::Op op) {
  using Op = Expression::Op;
  switch (op) {
  case Op::Equal:
    return Op::NotEqual;
  case Op::NotEqual:
    return Op::Equal;
  case Op::Less:
    return Op::GreaterEqual;
  case Op::LessEqual:
    return Op::Greater;
  case Op::Greater:
    return Op::LessEqual;
  case Op::GreaterEqual:
    return Op::Less;
  default:
    return std::nullopt;
  }
}

Expression Expression::ofName(StringRef name) {
  Node node;
  node.op = Op::Name;
  node.name = name.str();
  return extract({node}, 0);
}

Expression Expression::joined(Op op, const Expression &right) const {
  std::vector<Node> nodes = tree;
  unsigned shift = static_cast<unsigned>(tree.size());
  for (Node node : right.tree) {
    node.left += shift;
    node.right += shift;
    nodes.push_back(std::move(node));
  }
  Node root;
  root.op = op;
  root.left = shift - 1;
  root.right = static_cast<unsigned>(nodes.size() - 1);
  nodes.push_back(root);
  return extract(nodes, static_cast<unsigned>(nodes.size() - 1));
}

Expression Expression::negated() const {
  unsigned last = static_cast<unsigned>(tree.size() - 1);
  if (root().op == Op::Not)
    return extract(tree, root().left);
  std::vector<Node> nodes = tree;
  if (std::optional<Op> opposite = oppositeOf(root().op)) {
    nodes.back().op = *opposite;
    return extract(nodes, last);
  }
  Node negation;
  negation.op = Op::Not;
  negation.left = last;
  nodes.push_back(negation);
  return extract(nodes, last + 1);
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

} // namespace kiln
