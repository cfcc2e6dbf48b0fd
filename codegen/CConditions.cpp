//===- CConditions.cpp - what calls meet, in generated C ------------------===//
//
// f_legal, f_held, f_distance and f_miss of an entry point `f` (CFunctions.cpp lists what calls
// them). ChoicePlan.h says how legal variants are found; only misses and counted calls look at each
// condition.
//
//===----------------------------------------------------------------------===//
#include "codegen/EntryFunctions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace llvm;

namespace kiln {

namespace {

class ConditionWriter : EntryFunctions {
public:
  ConditionWriter(const EntryText &text, std::set<std::string> &helpers)
      : EntryFunctions(text, helpers) {}

  std::string write() {
    if (hasConditions()) {
      writeIntervals();
      writeLegal();
      writeHeld();
      writeDistance();
    }
    if (text.mayMiss())
      writeMiss();
    return result;
  }

private:
  size_t words() const { return tables.words(); }

  /// Whether a condition holds: statements, and a C condition after them.
  struct Test {
    std::string statements, truth;
  };

  Test test(const Condition &condition) {
    std::string value = text.field(condition.argument);
    const ArgumentType &type = entry.arguments[condition.argument].type;
    switch (condition.kind) {
    case Condition::Kind::Divisible:
      if (type.isPointer())
        return {"", formatv("((uintptr_t){0} & {1}u) == 0", value, condition.value - 1).str()};
      return {"", formatv("{0} % {1} == 0", value, condition.value).str()};
    case Condition::Kind::Equals:
      return {"", cComparison(type, value, "==", condition.value)};
    case Condition::Kind::AtLeast:
      return {"", cComparison(type, value, ">=", condition.value)};
    case Condition::Kind::AtMost:
      return {"", cComparison(type, value, "<=", condition.value)};
    case Condition::Kind::Holds:
      break;
    }
    return testExpression(condition);
  }

  /// What cannot be computed does not hold.
  Test testExpression(const Condition &condition) {
    std::set<std::string> used;
    std::string truth = condition.expression->printCTruth(
        [&](StringRef symbol) { return text.symbolValue(symbol, "&failed", used); }, "&failed",
        used);
    helpers.insert(used.begin(), used.end());
    bool mayFail = StringRef(truth).contains("&failed");
    return {
        formatv("{0}    const int holds = {1};\n", mayFail ? "    int failed = 0;\n" : "", truth)
            .str(),
        mayFail ? "holds && !failed" : "holds"};
  }

  /// `code` with the truth of the condition for @.
  void putTested(const Condition &condition, StringRef code) {
    Test tested = test(condition);
    auto [before, after] = code.split('@');
    std::string statement = (before + tested.truth + after).str();
    if (tested.statements.empty())
      out << "  " << statement << "\n";
    else
      out << formatv("  {{ /* {0} */\n{1}    {2}\n  }\n", cComment(condition.text),
                     tested.statements, statement);
  }

  //--- Legal variants ---
  void writeIntervals() {
    for (const BoundIntervals &one : plan.intervals) {
      out << formatv("/* Where the variants that {0} allows change, and which these are, a bit "
                     "each. */\n",
                     cComment(entry.arguments[one.argument].name))
          << wrapDeclaration(formatv("static const int64_t {0}_cuts_{1}[] = {{{2}};", name,
                                     one.argument, join(map_range(one.cuts, cInteger), ", ")))
          << "\n"
          << wrapDeclaration(formatv("static const uint64_t {0}_allowed_{1}[][{2}] = {{{3}};", name,
                                     one.argument, plan.words(),
                                     join(map_range(one.allowed, cWords), ", ")))
          << "\n";
    }
  }

  void writeLegal() {
    put("/* The variants that may run with these arguments, a bit each. */\n"
        "static void $_legal(const $_args *args, uint64_t *legal) {\n");
    for (auto [word, all] : enumerate(plan.all()))
      out << formatv("  legal[{0}] = UINT64_C({1:x});\n", word, all);
    for (const BoundIntervals &one : plan.intervals) {
      helpers.insert("interval_of");
      put(formatv("  {{\n    const uint64_t *allowed = $_allowed_{0}[interval_of($_cuts_{0}, {1}, "
                  "(int64_t){2})];\n",
                  one.argument, one.cuts.size(), text.field(one.argument))
              .str());
      for (size_t word = 0; word < plan.words(); ++word)
        out << formatv("    legal[{0}] &= allowed[{0}];\n", word);
      out << "  }\n";
    }
    for (const ConditionTest &one : plan.tests)
      writeTest(one);
    out << "}\n\n";
  }

  void writeTest(const ConditionTest &one) {
    std::vector<uint64_t> all = plan.all();
    std::vector<std::string> statements;
    for (auto [word, allowed] : enumerate(one.allowed))
      if (allowed != all[word])
        statements.push_back(
            formatv("legal[{0}] &= UINT64_C({1:x}) | (0 - may_run);", word, allowed).str());
    const Condition &condition = tables.conditions[one.condition];
    if (statements.size() == 1) {
      auto [before, after] = StringRef(statements.front()).split("may_run");
      return putTested(condition, (before + "(uint64_t)(@)" + after).str());
    }
    out << "  {\n    uint64_t may_run = 0;\n";
    putTested(condition, "may_run = (uint64_t)(@);");
    for (const std::string &statement : statements)
      out << "    " << statement << "\n";
    out << "  }\n";
  }

  void writeHeld() {
    put("/* Bit i of held is condition i. */\n"
        "static void $_held(const $_args *args, uint64_t *held) {\n");
    for (size_t word = 0; word < words(); ++word) {
      out << "  held[" << word << "] = 0;\n";
      for (size_t bit = word * 64; bit < std::min(tables.conditions.size(), word * 64 + 64); ++bit)
        putTested(tables.conditions[bit],
                  formatv("held[{0}] |= (uint64_t)(@) << {1};", word, bit % 64).str());
    }
    out << "}\n\n";
  }

  //--- Misses ---
  std::string distance(const Condition &condition) {
    std::string value = text.field(condition.argument);
    if (condition.kind == Condition::Kind::Holds)
      return "1.0";
    if (condition.kind == Condition::Kind::Divisible)
      return formatv("(double)(({0}){1} & {2}u)",
                     entry.arguments[condition.argument].type.isPointer() ? "uintptr_t"
                                                                          : "uint64_t",
                     value, condition.value - 1)
          .str();
    helpers.insert("distance_of");
    return formatv("distance_of((double){0}, (double){1})", value, cInteger(condition.value)).str();
  }

  void writeDistance() {
    put("/* How far the arguments are from meeting a condition. */\n"
        "static double $_distance(const $_args *args, uint32_t condition) {\n");
    out << "  (void)args;\n  switch (condition) {\n";
    for (size_t i = 0; i < tables.conditions.size(); ++i)
      out << formatv("  case {0}:\n    return {1};\n", i, distance(tables.conditions[i]));
    out << "  default:\n    return 0.0;\n  }\n}\n\n";
  }

  void writeMiss() {
    put("/* Says what the nearest variant lacks: the one that lacks the fewest conditions, among\n"
        " * equals the least far. `only`, unless UINT32_MAX, is the one that was asked for. */\n"
        "static kiln_status $_miss(const kiln_call *call, const $_args *args, uint32_t only) {\n");
    if (!hasConditions()) {
      put("  (void)args;\n  return kiln_miss(call, only, 0, NULL, NULL, 0);\n}\n\n");
      return;
    }
    put(formatv(
            "  uint64_t held[{0}];\n"
            "  uint32_t variant, condition, nearest = UINT32_MAX, first = 0, fewest = "
            "UINT32_MAX;\n"
            "  double least = 0.0;\n"
            "  $_held(args, held);\n"
            "  for (variant = 0; variant < {1}; ++variant) {{\n"
            "    uint32_t lacking = 0, its_first = 0;\n"
            "    double distance = 0.0;\n"
            "    if ((only != UINT32_MAX && variant != only) ||\n"
            "        $_binaries[variant * {2} + call->target].symbol == NULL)\n"
            "      continue;\n"
            "    for (condition = {3}; condition-- > 0;)\n"
            "      if (($_needs[variant][condition / 64] & ~held[condition / 64]) >> (condition "
            "% 64) & 1) {{\n"
            "        ++lacking;\n"
            "        its_first = condition;\n"
            "        distance += $_distance(args, condition);\n"
            "      }\n"
            "    if (lacking != 0 && (lacking < fewest || (lacking == fewest && distance < "
            "least))) "
            "{{\n"
            "      nearest = variant;\n"
            "      first = its_first;\n"
            "      fewest = lacking;\n"
            "      least = distance;\n"
            "    }\n"
            "  }\n"
            "  if (nearest == UINT32_MAX)\n"
            "    return kiln_miss(call, only, 0, NULL, NULL, 0);\n"
            "  switch (first) {{\n",
            words(), numVariants(), tables.targets.size(), tables.conditions.size())
            .str());
    for (size_t i = 0; i < tables.conditions.size(); ++i) {
      const Condition &condition = tables.conditions[i];
      auto [declaration, values] = text.valuesOf(argumentsOf(entry, condition));
      out << formatv(
          "  case {0}: {{\n{1}    return kiln_miss(call, nearest, fewest, {2}, {3});\n  }\n", i,
          declaration, cString(condition.text), values);
    }
    out << "  default:\n    return kiln_miss(call, nearest, fewest, NULL, NULL, 0);\n  }\n}\n\n";
  }
};

} // namespace

std::string writeConditions(const EntryText &text, std::set<std::string> &helpers) {
  return ConditionWriter(text, helpers).write();
}

//===----------------------------------------------------------------------===//
// What several writers print
//===----------------------------------------------------------------------===//

std::string EntryText::field(unsigned argument, StringRef access) const {
  return access.str() + argumentNames[argument];
}

std::string EntryText::symbolValue(StringRef symbol, StringRef failed,
                                   std::set<std::string> &used) const {
  if (auto argument = findArgument(*entry, symbol)) {
    if (entry->arguments[*argument].type.element != ElementType::UInt64)
      return "(int64_t)" + field(*argument);
    used.insert("from_u64");
    return "from_u64(" + field(*argument) + ", " + failed.str() + ")";
  }
  auto constant = find(tables.gridConstants, symbol);
  return formatv("{0}_constants[variant][{1}]", name, constant - tables.gridConstants.begin())
      .str();
}

std::pair<std::string, std::string> EntryText::valuesOf(ArrayRef<unsigned> arguments) const {
  if (arguments.empty())
    return {"", "NULL, 0"};
  std::vector<std::string> rows;
  for (unsigned i : arguments) {
    const EntryArgument &argument = entry->arguments[i];
    rows.push_back(formatv("        {{{0}, {1}, (int64_t){2}{3}}", cString(argument.name),
                           cParamKind(argument.type), argument.type.isPointer() ? "(intptr_t)" : "",
                           field(i))
                       .str());
  }
  return {"    const kiln_argument_value values[] = {\n" + join(rows, ",\n") + "};\n",
          "values, " + std::to_string(arguments.size())};
}

/// The arguments that variants are compared by.
static std::vector<unsigned> comparedArguments(const EntryModel &entry,
                                               const DispatchTables &tables) {
  std::vector<unsigned> arguments;
  if (tables.isKeyed)
    arguments = tables.keyArguments;
  for (const Expression &dimension : entry.grid)
    for (const std::string &name : dimension.names())
      if (std::optional<unsigned> argument = findArgument(entry, name))
        if (!is_contained(arguments, *argument))
          arguments.push_back(*argument);
  return arguments;
}

uint64_t EntryText::comparedUnit(unsigned argument) const {
  if (choice.factors.empty() || (tables.isKeyed && is_contained(tables.keyArguments, argument)))
    return 1;
  StringRef name = entry->arguments[argument].name;
  uint64_t unit = 0;
  for (const GridFactor &factor : choice.factors)
    for (const Expression &value : factor.values) {
      std::vector<std::string> names = value.names();
      if (!is_contained(names, name))
        continue;
      std::optional<Expression> dividend = factor.dividend();
      if (!dividend || dividend->text() != name)
        return 1;
      unit = std::gcd(unit, uint64_t(value.nodes()[value.root().right].constant));
    }
  return unit;
}

std::vector<std::string> EntryText::choiceWords() const {
  constexpr size_t most = 12;
  std::vector<std::string> words, halves;
  if (!tables.hasCosts && !tables.isKeyed)
    return {};
  for (unsigned argument : comparedArguments(*entry, tables)) {
    bool isHalf = entry->arguments[argument].type.bytes() <= 4;
    std::string type = isHalf ? "(uint32_t)" : "(uint64_t)", number = type + field(argument);
    if (uint64_t unit = comparedUnit(argument); unit > 1)
      number = formatv("{0}({1} / {2}u + ({1} % {2}u != 0u))", type, number, unit);
    (isHalf ? halves : words).push_back(number);
  }
  if (tables.hasCosts)
    halves.push_back("call->processors");
  if (hasCallersGrid())
    halves.insert(halves.end(), {"args->grid_x", "args->grid_y", "args->grid_z"});
  // The second one is lower: else compilers load both at once, which waits for two stores.
  for (size_t i = 0; i < halves.size(); i += 2)
    words.push_back(i + 1 < halves.size()
                        ? "(uint64_t)" + halves[i + 1] + " | (uint64_t)" + halves[i] + " << 32"
                        : "(uint64_t)" + halves[i]);
  for (size_t word = 0; word < choice.words() && mayMiss(); ++word)
    words.push_back("legal[" + std::to_string(word) + "]");
  if (tables.isKeyed)
    words.push_back("(uint64_t)(uintptr_t)call->tuned");
  return words.size() <= most ? words : std::vector<std::string>();
}

std::string EntryText::isIn(StringRef set, StringRef variant) const {
  std::string place =
      choice.isIdentity() ? variant.str() : formatv("{0}_places[{1}]", name, variant);
  std::string word = choice.words() == 1 ? "0" : place + " / 64";
  std::string bit = choice.words() == 1 ? place : place + " % 64";
  return formatv("({0}[{1}] >> {2} & 1)", set, word, bit).str();
}

/// Unsigned values are compared as unsigned: a bound below zero decides by itself.
std::string cComparison(const ArgumentType &type, const std::string &value, StringRef op,
                        int64_t bound) {
  bool isUnsigned = elementClass(type.element) == ElementClass::Unsigned ||
                    elementClass(type.element) == ElementClass::Bool;
  if (!isUnsigned)
    return formatv("(int64_t){0} {1} {2}", value, op, cInteger(bound)).str();
  if (bound < 0)
    return op == ">=" ? "1" : "0";
  if (bound == 0 && op == ">=")
    return "1";
  return formatv("(uint64_t){0} {1} UINT64_C({2})", value, op, bound).str();
}

std::string cWords(ArrayRef<uint64_t> words) {
  return "{" +
         join(
             map_range(words, [](uint64_t word) { return formatv("UINT64_C({0:x})", word).str(); }),
             ", ") +
         "}";
}

} // namespace kiln
