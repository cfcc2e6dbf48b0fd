//===- VariantConditions.cpp - what a variant needs of a call -------------===//
#include "codegen/VariantConditions.h"
#include "codegen/ArgumentRanges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace llvm;

namespace kiln {

using Op = Expression::Op;

Expression inVariant(const Expression &expression, const EntryModel &entry,
                     const VariantModel &variant) {
  // It is a constant in other specialisations.
  return expression.simplify([&](StringRef name) {
    return findArgument(entry, name) ? std::nullopt : findConstant(variant, name);
  });
}

//===----------------------------------------------------------------------===//
// Conditions as facts
//===----------------------------------------------------------------------===//

static Op mirrored(Op op) {
  switch (op) {
  case Op::Less:
    return Op::Greater;
  case Op::LessEqual:
    return Op::GreaterEqual;
  case Op::Greater:
    return Op::Less;
  case Op::GreaterEqual:
    return Op::LessEqual;
  default:
    return op;
  }
}

/// `argument op limit` as a fact.
static std::optional<ArgumentFact> boundFact(unsigned argument, Op op, int64_t limit) {
  ArgumentFact fact;
  fact.argument = argument;
  // The neighbours that < and > stand for need not exist.
  bool hasBelow = limit != std::numeric_limits<int64_t>::min();
  bool hasAbove = limit != std::numeric_limits<int64_t>::max();
  if (op == Op::Less && hasBelow)
    fact.maximum = limit - 1;
  else if (op == Op::LessEqual)
    fact.maximum = limit;
  else if (op == Op::Greater && hasAbove)
    fact.minimum = limit + 1;
  else if (op == Op::GreaterEqual)
    fact.minimum = limit;
  else if (op == Op::Equal)
    fact.equals = limit;
  else
    return std::nullopt;
  return fact;
}

/// A condition that says no more than a fact can: about one argument, against a constant.
static std::optional<ArgumentFact> factOf(const Expression &condition, const EntryModel &entry) {
  const std::vector<Expression::Node> &nodes = condition.nodes();
  const Expression::Node &root = condition.root();
  auto constant = [&](unsigned index) {
    return nodes[index].op == Op::Constant ? std::optional(nodes[index].constant) : std::nullopt;
  };
  auto argument = [&](unsigned index) {
    return nodes[index].op == Op::Name ? findArgument(entry, nodes[index].name) : std::nullopt;
  };
  if (nodes.size() < 3)
    return std::nullopt;
  if (auto value = argument(root.left); value && constant(root.right))
    return boundFact(*value, root.op, *constant(root.right));
  if (auto value = argument(root.right); value && constant(root.left))
    return boundFact(*value, mirrored(root.op), *constant(root.left));
  const Expression::Node &dividend = nodes[root.left];
  bool isMultiple = root.op == Op::Equal && dividend.op == Op::Modulo &&
                    constant(root.right) == 0 && argument(dividend.left);
  std::optional<int64_t> divisor = isMultiple ? constant(dividend.right) : std::nullopt;
  if (!divisor || *divisor < 1 || *divisor > (1 << 30) || !isPowerOf2_64(uint64_t(*divisor)))
    return std::nullopt;
  ArgumentFact fact;
  fact.argument = *argument(dividend.left);
  fact.divisibility = static_cast<unsigned>(*divisor);
  return fact;
}

void addCondition(const Expression &condition, const EntryModel &entry, VariantModel &variant) {
  for (Expression &conjunct : inVariant(condition, entry, variant).conjuncts()) {
    bool isMet = conjunct.root().op == Op::Constant && conjunct.root().constant != 0;
    if (isMet)
      continue;
    auto fact = factOf(conjunct, entry);
    if (!fact)
      variant.conditions.push_back(std::move(conjunct));
    else if (!factTexts(entry, *fact).empty()) // every integer is a multiple of 1
      variant.facts.push_back(*fact);
  }
}

//===----------------------------------------------------------------------===//
// Proofs of mistakes
//===----------------------------------------------------------------------===//

static NamedRanges argumentRanges(const EntryModel &entry) {
  NamedRanges names;
  for (const EntryArgument &argument : entry.arguments)
    if (argument.type.isInteger())
      names[argument.name] = rangeOfType(argument.type);
  return names;
}

static void assume(NamedRanges &names, const EntryModel &entry, const ArgumentFact &fact) {
  const EntryArgument &argument = entry.arguments[fact.argument];
  if (!argument.type.isInteger())
    return;
  IntegerRange known;
  known.modulus = fact.divisibility;
  if (fact.minimum)
    known.low = *fact.minimum;
  if (fact.maximum)
    known.high = *fact.maximum;
  IntegerRange &range = names[argument.name];
  range = range.intersect(known);
  if (fact.equals)
    range = range.intersect(IntegerRange::ofConstant(*fact.equals));
}

namespace {
/// One of a variant's needs; a fact or an expression.
struct Need {
  const ArgumentFact *fact = nullptr;
  const Expression *condition = nullptr;
};
} // namespace

/// False when no arguments meet all of `needs`; else `names` are narrowed to those that may.
static bool mayHold(const EntryModel &entry, ArrayRef<Need> needs, NamedRanges &names) {
  std::vector<const Expression *> conditions;
  for (const Need &need : needs)
    if (need.fact)
      assume(names, entry, *need.fact);
    else
      conditions.push_back(need.condition);
  bool isEmpty = any_of(names, [](const auto &argument) { return argument.second.isEmpty(); });
  return !isEmpty && narrow(names, conditions);
}

static std::vector<Need> needsOf(const VariantModel &variant) {
  std::vector<Need> needs;
  for (const ArgumentFact &fact : variant.facts)
    needs.push_back({&fact, nullptr});
  for (const Expression &condition : variant.conditions)
    needs.push_back({nullptr, &condition});
  return needs;
}

std::vector<std::string> contradictionOf(const EntryModel &entry, const VariantModel &variant) {
  std::vector<Need> needs = needsOf(variant);
  NamedRanges names = argumentRanges(entry);
  if (mayHold(entry, needs, names))
    return {};
  for (size_t i = needs.size(); i-- > 0;) {
    std::vector<Need> fewer = needs;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    names = argumentRanges(entry);
    if (!mayHold(entry, fewer, names))
      needs = std::move(fewer);
  }
  std::vector<std::string> texts;
  for (const Need &need : needs)
    if (need.fact)
      append_range(texts, factTexts(entry, *need.fact));
    else
      texts.push_back(need.condition->text());
  return texts;
}

std::string gridMistake(const EntryModel &entry, const VariantModel &variant, size_t index,
                        int64_t limit) {
  NamedRanges names = argumentRanges(entry);
  if (!mayHold(entry, needsOf(variant), names))
    return ""; // contradictionOf() tells.
  Expression dimension = inVariant(entry.grid[index], entry, variant);
  IntegerRange range = rangeOf(dimension, names);
  std::string mistake;
  if (range.isEmpty())
    mistake = "divides by zero or leaves the range of 64 bits";
  else if (range.high < 0)
    mistake = "is negative";
  else if (range.low > limit)
    mistake = formatv("is more than {0}, the limit of every target,", limit).str();
  return mistake.empty() ? "" : formatv("'{0}' {1} in every call", dimension.text(), mistake).str();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Whether an argument stands anywhere below a node.
static bool readsArguments(const Expression &expression, const EntryModel &entry, unsigned root) {
  std::vector<bool> reads;
  for (const Expression::Node &node : expression.nodes()) {
    if (node.op == Op::Name)
      reads.push_back(findArgument(entry, node.name).has_value());
    else
      reads.push_back(node.op != Op::Constant && (reads[node.left] || reads[node.right]));
  }
  return reads[root];
}

std::vector<unsigned> sizeArguments(const EntryModel &entry) {
  std::vector<unsigned> sizes;
  for (const Expression &dimension : entry.grid) {
    // Not written with a minus.
    auto isPositive = [&](unsigned index) { return dimension.nodes()[index].op != Op::Negate; };
    SmallVector<unsigned> pending = {static_cast<unsigned>(dimension.nodes().size() - 1)};
    while (!pending.empty()) {
      const Expression::Node &node = dimension.nodes()[pending.pop_back_val()];
      if (node.op == Op::Name) {
        auto argument = findArgument(entry, node.name);
        bool isSigned = argument && elementClass(entry.arguments[*argument].type.element) ==
                                        ElementClass::Signed;
        if (isSigned && !is_contained(sizes, *argument))
          sizes.push_back(*argument);
      } else if (node.op == Op::Multiply || node.op == Op::Minimum) {
        if (node.op == Op::Minimum || (isPositive(node.left) && isPositive(node.right)))
          pending.append({node.right, node.left});
      } else if (node.op == Op::CeilDivide || node.op == Op::FloorDivide) {
        if (isPositive(node.right) && !readsArguments(dimension, entry, node.right))
          pending.push_back(node.left);
      }
    }
  }
  return sizes;
}

} // namespace kiln
