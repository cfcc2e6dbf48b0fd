//===- CChoice.cpp - the choice of a variant in generated C ---------------===//
//
// f_factors, f_factor_grid, f_waves and f_choose of an entry point `f`, and the tables that they
// read (CFunctions.cpp lists what calls them). DispatchTables.h says how a variant is chosen, and
// ChoicePlan.h how a call does that quickly: by functions that all entry points share.
//
//===----------------------------------------------------------------------===//
#include "codegen/EntryFunctions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

namespace {

class ChoiceWriter : EntryFunctions {
public:
  ChoiceWriter(const EntryText &text, std::set<std::string> &helpers)
      : EntryFunctions(text, helpers) {}

  std::string write() {
    writePlaces();
    writeFactors();
    writeWaves();
    writeFastest();
    writeCompare();
    writeSee();
    writeChoose();
    return result;
  }

private:
  bool hasFactors() const { return !plan.factors.empty(); }
  /// Whether a call may have to compare variants.
  bool compares() const { return tables.hasCosts || tables.isKeyed; }
  size_t words() const { return plan.words(); }

  /// Exactly.
  static std::string cDouble(double value) { return formatv("{0:e17}", value).str(); }

  static std::string list(ArrayRef<unsigned> numbers) {
    return join(map_range(numbers, [](unsigned one) { return std::to_string(one); }), ", ");
  }

  //--- Tables ---
  void writePlaces() {
    if (compares())
      writeCandidates();
    else if (!plan.isIdentity())
      out << "/* Variants that rely on more come first. */\n"
          << wrapDeclaration(
                 formatv("static const uint16_t {0}_order[] = {{{1}};", name, list(plan.variants)))
          << "\n";
    if (tables.isRanked() && !tables.hasTunedRanks()) // those are in a table
      out << "/* How much each variant's signature promises, 0 = most. */\n"
          << wrapDeclaration(
                 formatv("static const uint32_t {0}_ranks[] = {{{1}};", name, list(tables.ranks)))
          << "\n";
    if (tables.isRanked())
      out << "/* Of each rank the place behind its last variant. */\n"
          << wrapDeclaration(
                 formatv("static const uint32_t {0}_ends[] = {{{1}};", name, list(plan.ends)))
          << "\n";
    if (!plan.isEverywhere())
      out << "/* By target: the variants that there are, a bit each. */\n"
          << wrapDeclaration(formatv("static const uint64_t {0}_there[][{1}] = {{{2}};", name,
                                     words(), join(map_range(plan.there, cWords), ", ")))
          << "\n";
  }

  /// The factors that variants have different values of.
  std::vector<const GridFactor *> varying() const {
    std::vector<const GridFactor *> all;
    for (const GridFactor &factor : plan.factors)
      if (factor.varies())
        all.push_back(&factor);
    return all;
  }

  void writeCandidates() {
    put("/* By place: what a program instance costs (its tile's volume, and its faces weighted "
        "by " +
        std::to_string(kTrafficWeight) +
        "), and the\n * least such cost so far by what an instance covers; the variant; which goes "
        "before others of\n * equal cost; and the factors of its grid that differ. */\n"
        "static const struct candidate $_candidates[] = {\n");
    for (auto [place, variant] : enumerate(plan.variants)) {
      std::vector<std::string> factors;
      for (const GridFactor *factor : varying())
        factors.push_back(std::to_string(slotOf(*factor) + factor->valueOf[variant]));
      factors.resize(kMostVaryingFactors, std::to_string(kUnusedSlot));
      out << formatv("    {{{0}.0, {1}, {2}, {3}, {{{4}}},\n", tables.tileCosts[variant],
                     cDouble(plan.leastRates[place]), variant,
                     find(tables.order, variant) - tables.order.begin(), join(factors, ", "));
    }
    out << "};\n";
    if (tables.hasCosts && hasFactors())
      out << "/* By place: the most that an instance covers so far. */\n"
          << wrapDeclaration(formatv("static const double {0}_reach[] = {{{1}};", name,
                                     join(map_range(plan.reach, cDouble), ", ")))
          << "\n";
    if (!tables.hasCosts)
      return;
    out << "/* Processors of a common device of each target, where the runtime does not know. */\n"
        << formatv("static const uint32_t {0}_processors[] = {{", name);
    for (size_t i = 0; i < tables.targets.size(); ++i)
      out << (i ? ", " : "") << tables.targets[i].processors;
    out << "};\n";
  }

  //--- Factors of the grid ---
  std::string printed(const Expression &expression) {
    std::set<std::string> used;
    std::string value = expression.printC(
        [&](StringRef symbol) { return text.symbolValue(symbol, "&failed", used); }, "&failed",
        used);
    helpers.insert(used.begin(), used.end());
    return value;
  }

  /// Of a call's numbers those before the values of factors: what all variants have in common, 1,
  /// and what is to be covered.
  static constexpr unsigned kCommonSlot = 0, kUnusedSlot = 1, kWorkSlot = 2, kFirstSlot = 3;

  static unsigned slotOf(const GridFactor &factor) { return kFirstSlot + factor.first; }

  void writeFactors() {
    if (!hasFactors())
      return;
    put("/* The numbers that grids are products of. Returns whether all are positive and no grid "
        "is\n"
        " * beyond 2^53: others are computed in integers. */\n"
        "static int $_factors(const $_args *args, double *factors) {\n"
        "  int64_t n;\n  double common = 1.0, most = 1.0, work = 1.0;\n  int failed = 0;\n"
        "  (void)args;\n");
    for (const GridFactor &factor : plan.factors)
      if (std::optional<Expression> dividend = factor.dividend())
        writeQuotients(factor, *dividend);
      else
        writeValues(factor);
    out << formatv("  factors[{0}] = common;\n  factors[{1}] = 1.0;\n  factors[{2}] = common * "
                   "work;\n  return !failed && common * most <= 9007199254740992.0;\n}\n\n",
                   kCommonSlot, kUnusedSlot, kWorkSlot);
  }

  void writeQuotients(const GridFactor &factor, const Expression &dividend) {
    out << formatv("  n = {0};\n  failed |= n < 1 || n > INT32_MAX;\n", printed(dividend));
    if (factor.varies())
      out << "  most *= (double)n;\n  work *= (double)n;\n";
    for (auto [i, value] : enumerate(factor.values))
      out << formatv("  factors[{0}] = (double)((uint32_t)(n - 1) / {1}u + 1u);\n",
                     slotOf(factor) + i, value.nodes()[value.root().right].constant);
    if (!factor.varies())
      out << formatv("  common *= factors[{0}];\n", slotOf(factor));
  }

  void writeValues(const GridFactor &factor) {
    unsigned slot = slotOf(factor);
    for (auto [i, value] : enumerate(factor.values))
      out << formatv("  n = {0};\n  failed |= n < 1;\n  factors[{1}] = (double)n;\n",
                     printed(value), slot + i);
    if (!factor.varies()) {
      out << formatv("  common *= factors[{0}];\n", slot);
      return;
    }
    out << formatv(
        "  {{\n    double largest = factors[{0}];\n    int i;\n    for (i = {1}; i < {2}; "
        "++i)\n      largest = factors[i] > largest ? factors[i] : largest;\n"
        "    most *= largest;\n  }\n",
        slot, slot + 1, slot + factor.values.size());
  }

  void writeWaves() {
    if (!compares())
      return;
    helpers.insert("candidate");
    if (tables.isKeyed)
      helpers.insert("leaf_of");
    if (tables.hasCosts)
      helpers.insert("cheapest_of");
    put("/* Of a grid that was computed; below 0 where it cannot be. */\n"
        "static double $_waves(const void *args, uint32_t variant, uint32_t processors) {\n"
        "  int64_t grid[3];\n"
        "  if ($_grid((const $_args *)args, variant, grid) != KILN_SUCCESS)\n    return -1.0;\n"
        "  return waves_of((double)grid[0] * (double)grid[1] * (double)grid[2], processors);\n"
        "}\n\n");
  }

  //--- The choice ---
  /// Counts a call's shape.
  void writeSee() {
    if (!tables.isKeyed)
      return;
    put(formatv("static void $_see(const kiln_call *call, const $_args *args, int is_miss) {{\n"
                "  int64_t key[{0}];\n",
                tables.keyArguments.size())
            .str());
    if (hasConditions())
      put(formatv("  uint64_t held[{0}];\n  $_held(args, held);\n", tables.words()).str());
    putKey();
    put(formatv("  kiln_see_shape(call, key, {0}, {1}, is_miss);\n}\n\n",
                hasConditions() ? "held" : "NULL", hasConditions() ? tables.words() : 0)
            .str());
  }

  /// An integer argument in 64 signed bits; what is larger is as far away as can be.
  std::string keyValue(unsigned argument) const {
    std::string value = text.field(argument);
    if (entry.arguments[argument].type.element != ElementType::UInt64)
      return "(int64_t)" + value;
    return formatv("{0} > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t){0}", value).str();
  }

  void writeChoose() {
    put("/* The legal variant of least cost, and its grid. */\n"
        "static kiln_status $_choose(const kiln_call *call, const $_args *args, uint32_t *chosen,\n"
        "    int64_t grid[3]) {\n");
    if (!text.mayMiss() && !compares()) {
      out << formatv("  (void)call;\n  *chosen = {0};\n", plan.variants.front());
      put("  return $_grid(args, *chosen, grid);\n}\n\n");
      return;
    }
    out << formatv("  uint64_t legal[{0}];\n  uint32_t place{1};\n", words(),
                   text.mayMiss() ? "" : " = 0");
    putLegal();
    if (tables.isKeyed)
      put("  if (call->seen)\n    $_see(call, args, 0);\n");
    if (text.mayMiss())
      putFirst();
    if (compares() && text.mayMiss())
      helpers.insert("has_more");
    if (compares())
      put(formatv("  {0}place = $_compare(call, args, legal, place);\n",
                  text.mayMiss() ? formatv("if (has_more(legal, {0}, place))\n    ", words()).str()
                                 : "")
              .str());
    out << formatv("  *chosen = {0};\n", variantAt("place"));
    put("  return $_grid(args, *chosen, grid);\n}\n\n");
  }

  void putLegal() {
    if (hasConditions())
      put("  $_legal(args, legal);\n");
    for (size_t word = 0; word < words(); ++word)
      if (!plan.isEverywhere())
        put(formatv("  legal[{0}] {1}= $_there[call->target][{0}];\n", word,
                    hasConditions() ? "&" : "")
                .str());
      else if (!hasConditions())
        out << formatv("  legal[{0}] = UINT64_C({1:x});\n", word, plan.all()[word]);
  }

  void putFirst() {
    helpers.insert("first_of");
    out << formatv("  place = first_of(legal, {0});\n  if (place == NO_PLACE) {{\n", words());
    if (tables.isKeyed)
      put("    if (call->seen)\n      $_see(call, args, 1);\n");
    put("    return $_miss(call, args, UINT32_MAX);\n  }\n");
  }

  void writeCompare() {
    if (!compares())
      return;
    put("/* Which of the legal variants to take, of which `first` is the first. */\n"
        "static uint32_t $_compare(const kiln_call *call, const $_args *args, uint64_t *legal,\n"
        "    uint32_t first) {\n");
    std::vector<std::string> words = text.choiceWords();
    if (!words.empty())
      out << formatv("  const uint64_t words[] = {{\n      {0}};\n", join(words, ",\n      "));
    put("  struct choice choice = {$_candidates, NULL, $_waves, args, legal, 1};\n"
        "  uint32_t place = NO_PLACE;\n");
    if (hasFactors())
      out << formatv("  double factors[{0}];\n", kFirstSlot + plan.numFactorValues());
    if (!words.empty())
      put("  place = kiln_recall(call, words);\n  if (place != KILN_NO_CHOICE)\n    return "
          "place;\n");
    if (tables.hasCosts)
      put("  choice.processors = call->processors ? call->processors : "
          "$_processors[call->target];\n");
    if (hasFactors())
      put("  if ($_factors(args, factors))\n    choice.factors = factors;\n");
    if (tables.isKeyed)
      put("  if (call->tuned)\n    place = $_fastest(&choice, call, args, first);\n");
    if (tables.hasCosts)
      putCheapest();
    else
      out << "  if (place == NO_PLACE)\n    place = first;\n";
    if (!words.empty())
      out << "  kiln_remember(call, words, place);\n";
    out << "  return place;\n}\n\n";
  }

  void putCheapest() {
    out << "  if (place == NO_PLACE) {\n";
    if (plan.contenders != plan.all())
      for (auto [word, set] : enumerate(plan.contenders))
        out << formatv("    legal[{0}] &= UINT64_C({1:x});\n", word, set);
    std::string end = std::to_string(plan.variants.size());
    if (tables.isRanked())
      end = formatv("{0}_ends[{0}_ranks[{0}_candidates[first].variant]]", name).str();
    put(formatv("    place = cheapest_of(&choice, {0}, first, {1});\n  }\n",
                hasFactors() ? "$_reach" : "NULL", end)
            .str());
  }

  void writeFastest() {
    if (!tables.isKeyed)
      return;
    put(formatv(
            "/* The place of the fastest legal variant by what was measured; NO_PLACE: there is "
            "none. */\nstatic uint32_t $_fastest(const struct choice *choice, const kiln_call "
            "*call,\n    const $_args *args, uint32_t first) {{\n  int64_t key[{0}];\n",
            tables.keyArguments.size())
            .str());
    std::string row = "call->target";
    if (tables.hasTunedRanks())
      row = formatv("call->target * {0} + {1}_ranks[{1}_candidates[first].variant]",
                    tables.tunedRanks(), name)
                .str();
    out << formatv("  const uint32_t root = call->tuned->roots[{0}];\n", row);
    if (!tables.hasTunedRanks())
      out << "  (void)first;\n";
    out << "  if (root == NO_TREE)\n    return NO_PLACE;\n";
    putKey();
    put(formatv("  return fastest_of(choice, call->tuned, leaf_of(call->tuned->nodes, root, key), "
                "{0});\n}\n\n",
                plan.isIdentity() ? "NULL" : "$_places")
            .str());
  }

  void putKey() {
    for (auto [k, argument] : enumerate(tables.keyArguments))
      out << formatv("  key[{0}] = {1};\n", k, keyValue(argument));
  }

  std::string variantAt(StringRef place) const {
    if (compares())
      return formatv("{0}_candidates[{1}].variant", name, place).str();
    return plan.isIdentity() ? place.str() : formatv("{0}_order[{1}]", name, place).str();
  }
};

} // namespace

std::string writeChoice(const EntryText &text, std::set<std::string> &helpers) {
  return ChoiceWriter(text, helpers).write();
}

std::string named(StringRef code, StringRef entry) {
  std::string result;
  while (true) {
    auto [before, after] = code.split('$');
    result += before;
    if (before.size() == code.size())
      return result;
    result += entry;
    code = after;
  }
}

} // namespace kiln
