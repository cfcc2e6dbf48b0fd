//===- CChoice.cpp - the choice of a variant in generated C ---------------===//
//
// f_factors, f_waves, f_search and f_choose of an entry point `f`, and the tables that they
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

  /// Where the factors of a variant's grid are among a call's numbers.
  std::vector<unsigned> factorSlots(unsigned variant) const {
    std::vector<unsigned> slots;
    for (const GridFactor &factor : plan.factors)
      if (factor.varies())
        slots.push_back(slotOf(factor) + factor.valueOf[variant]);
    if (plan.hasCommon() || slots.empty())
      slots.push_back(kCommonSlot);
    return slots;
  }

  void writeCandidates() {
    put("/* By place: the least cost so far by what an instance covers; what an instance costs\n"
        " * (its tile's volume, and its faces weighted by " +
        std::to_string(kTrafficWeight) +
        "); which goes before others of equal cost,\n * 32 bits above the place; the variant; and "
        "the factors of its grid. */\n"
        "static const struct candidate $_candidates[] = {\n");
    for (auto [place, variant] : enumerate(plan.variants)) {
      uint64_t precedence = find(tables.order, variant) - tables.order.begin();
      out << formatv("    {{{0}, {1}, UINT64_C({2:x}), {3}, {{{4}}},\n",
                     cDouble(plan.leastRates[place]), tables.tileCosts[variant],
                     precedence << 32 | place, variant, list(factorSlots(variant)));
    }
    out << "};\n";
    if (tables.hasCosts && hasFactors())
      out << "/* By rank and the size of the work: where to begin. */\n"
          << wrapDeclaration(formatv("static const uint16_t {0}_starts[][{1}] = {{{{{2}}};", name,
                                     plan.starts.front().size(),
                                     join(map_range(plan.starts, list), "}, {")))
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

  /// Of a call's numbers those before the values of factors: 1, for candidates that have fewer than
  /// others, and what all variants have in common.
  static constexpr unsigned kOneSlot = 0, kCommonSlot = 1, kFirstSlot = 2;

  static unsigned slotOf(const GridFactor &factor) { return kFirstSlot + factor.first; }

  void writeFactors() {
    if (!hasFactors())
      return;
    put("/* The numbers that grids are products of, and what is to be covered. Returns whether all "
        "are\n * positive and no grid is beyond 2^30: others are computed as for a launch. */\n"
        "static int $_factors(const $_args *args, uint64_t *factors, double *work) {\n"
        "  int64_t n;\n  double common = 1.0, most = 1.0, covered = 1.0;\n"
        "  int failed = 0;\n  (void)args;\n");
    for (const GridFactor &factor : plan.factors)
      if (std::optional<Expression> dividend = factor.dividend())
        writeQuotients(factor, *dividend);
      else
        writeValues(factor);
    out << formatv("  *work = common * covered;\n  factors[{0}] = 1;\n"
                   "  if (failed || common * most > 1073741824.0)\n    return 0;\n"
                   "  factors[{1}] = (uint64_t)common;\n  return 1;\n}\n\n",
                   kOneSlot, kCommonSlot);
  }

  void writeQuotients(const GridFactor &factor, const Expression &dividend) {
    auto divisorOf = [](const Expression &quotient) {
      return quotient.nodes()[quotient.root().right].constant;
    };
    out << formatv("  n = {0};\n  failed |= n < 1 || n > INT32_MAX;\n", printed(dividend));
    for (auto [i, value] : enumerate(factor.values))
      out << formatv("  factors[{0}] = (uint32_t)(n - 1) / {1}u + 1u;\n", slotOf(factor) + i,
                     divisorOf(value));
    if (!factor.varies()) {
      putCommon(factor);
      return;
    }
    auto least = min_element(factor.values, [&](const Expression &a, const Expression &b) {
      return divisorOf(a) < divisorOf(b);
    });
    out << formatv("  covered *= (double)n;\n  most *= (double)factors[{0}];\n",
                   slotOf(factor) + (least - factor.values.begin()));
  }

  void writeValues(const GridFactor &factor) {
    unsigned slot = slotOf(factor);
    for (auto [i, value] : enumerate(factor.values))
      out << formatv("  n = {0};\n  failed |= n < 1;\n  factors[{1}] = (uint64_t)n;\n",
                     printed(value), slot + i);
    if (!factor.varies()) {
      putCommon(factor);
      return;
    }
    out << formatv(
        "  {{\n    uint64_t largest = factors[{0}];\n    int i;\n    for (i = {1}; i < {2}; "
        "++i)\n      largest = factors[i] > largest ? factors[i] : largest;\n"
        "    most *= (double)largest;\n  }\n",
        slot, slot + 1, slot + factor.values.size());
  }

  void putCommon(const GridFactor &factor) {
    out << formatv("  common *= (double)factors[{0}];\n", slotOf(factor));
  }

  void writeWaves() {
    if (!compares())
      return;
    helpers.insert("candidate");
    if (tables.isKeyed)
      helpers.insert({"leaf_of", "fastest_by_grids"});
    if (tables.isKeyed && hasFactors())
      helpers.insert("fastest_of");
    if (tables.hasCosts)
      helpers.insert("cheapest_by_grids");
    if (tables.hasCosts && hasFactors())
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
    out << formatv("  uint64_t legal[{0}];\n", words());
    if (text.mayMiss())
      out << "  uint32_t place;\n";
    putLegal();
    if (tables.isKeyed)
      put("  if (call->seen)\n    $_see(call, args, 0);\n");
    if (!text.mayMiss()) {
      put("  return $_compare(call, args, legal, 0, chosen, grid);\n}\n\n");
      return;
    }
    putFirst();
    if (compares()) {
      helpers.insert("has_more");
      put(formatv(
              "  if (has_more(legal, {0}, place))\n    return $_compare(call, args, legal, place, "
              "chosen, grid);\n",
              words())
              .str());
    }
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
    std::vector<std::string> words = text.choiceWords();
    put(formatv(
            "/* Takes one of the legal variants, of which `first` is the first: looks for it. */\n"
            "static kiln_status $_search(const kiln_call *call, const $_args *args, uint64_t "
            "*legal,\n    uint32_t first, {0}uint32_t *chosen, int64_t grid[3]) {{\n",
            words.empty() ? "" : "const uint64_t *words, uint64_t hash, ")
            .str());
    put("  struct choice choice = {$_candidates, NULL, $_waves, args, legal, 1, "
        "kiln_divisor_of(1)};\n  uint32_t place = NO_PLACE;\n");
    if (hasFactors())
      out << formatv("  uint64_t factors[{0}];\n  double work;\n",
                     kFirstSlot + plan.numFactorValues());
    if (tables.hasCosts)
      put("  choice.processors = call->processors;\n  choice.by_processors = call->waves;\n"
          "  if (choice.processors == 0) {\n"
          "    choice.processors = $_processors[call->target];\n"
          "    choice.by_processors = kiln_divisor_of(choice.processors);\n  }\n");
    if (hasFactors())
      put("  if (choice.by_processors.factor != 0 && $_factors(args, factors, &work))\n"
          "    choice.factors = factors;\n");
    if (tables.isKeyed)
      put("  if (call->tuned)\n    place = $_fastest(&choice, call, args, first);\n");
    if (tables.hasCosts)
      putCheapest();
    else
      out << "  if (place == NO_PLACE)\n    place = first;\n";
    if (!words.empty())
      out << "  kiln_remember(call, words, hash, place);\n";
    put("  *chosen = $_candidates[place].variant;\n");
    putGridOfFactors();
    put("  return $_grid(args, *chosen, grid);\n}\n\n");
    writeRecall(words);
  }

  /// Looks for it among the choices that are kept first.
  void writeRecall(ArrayRef<std::string> words) {
    put("/* The same, unless the choice for such a call is known. */\n"
        "static kiln_status $_compare(const kiln_call *call, const $_args *args, uint64_t *legal,\n"
        "    uint32_t first, uint32_t *chosen, int64_t grid[3]) {\n");
    if (words.empty()) {
      put("  return $_search(call, args, legal, first, chosen, grid);\n}\n\n");
      return;
    }
    std::string sum;
    uint64_t factor = 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < words.size(); ++i, factor += 0xd1342543de82ef96)
      sum += formatv("{0}words[{1}] * UINT64_C({2:x})", i ? " +\n      " : "", i, factor | 1).str();
    out << formatv("  const uint64_t words[] = {{\n      {0}};\n  const uint64_t hash = {1};\n",
                   join(words, ",\n      "), sum);
    put("  const uint32_t place = kiln_recall(call, words, hash);\n"
        "  if (place == KILN_NO_CHOICE)\n"
        "    return $_search(call, args, legal, first, words, hash, chosen, grid);\n"
        "  *chosen = $_candidates[place].variant;\n  return $_grid(args, *chosen, grid);\n}\n\n");
  }

  /// The grid of `place`, where it is a product of the call's factors.
  void putGridOfFactors() {
    if (!hasFactors())
      return;
    std::string products[3];
    unsigned varying = 0;
    for (const GridFactor &factor : plan.factors) {
      std::string slot = factor.varies() ? formatv("its->factors[{0}]", varying++).str()
                                         : std::to_string(slotOf(factor));
      std::string &product = products[factor.dimension];
      product += (product.empty() ? "factors[" : " * factors[") + slot + "]";
    }
    out << "  if (choice.factors != NULL) {\n";
    if (varying)
      put("    const struct candidate *its = &$_candidates[place];\n");
    for (auto [dimension, product] : enumerate(products))
      out << formatv("    grid[{0}] = (int64_t)({1});\n", dimension,
                     product.empty() ? "1" : product);
    out << "    return KILN_SUCCESS;\n  }\n";
  }

  void putCheapest() {
    out << "  if (place == NO_PLACE) {\n";
    if (plan.contenders != plan.all())
      for (auto [word, set] : enumerate(plan.contenders))
        out << formatv("    legal[{0}] &= UINT64_C({1:x});\n", word, set);
    std::string rank = "0", end = std::to_string(plan.variants.size());
    if (tables.isRanked()) {
      put("    const uint32_t rank = $_ranks[$_candidates[first].variant];\n");
      rank = "rank";
      end = "$_ends[rank]";
    }
    std::string byGrids = "cheapest_by_grids(&choice, first, " + end + ")";
    if (hasFactors())
      put(formatv("    if (choice.factors)\n      place = cheapest_of(&choice, work,\n"
                  "          start_of($_starts[{0}], {1}, {2}, work, choice.processors), first, "
                  "{3});\n    else\n  ",
                  rank, plan.leastSize, plan.starts.front().size() - 1, end)
              .str());
    put("    place = " + byGrids + ";\n  }\n");
  }

  void writeFastest() {
    if (!tables.isKeyed)
      return;
    put("/* By variant: its place, and the factors of its grid. */\n"
        "static const struct timed $_timed[] = {\n");
    for (unsigned variant = 0; variant < numVariants(); ++variant)
      out << formatv("    {{{0}, {{{1}}},\n", plan.places[variant], list(factorSlots(variant)));
    out << "};\n";
    put(formatv(
            "/* The place of the fastest legal variant by what was measured; NO_PLACE: there is "
            "none. */\nstatic uint32_t $_fastest(const struct choice *choice, const kiln_call "
            "*call,\n    const $_args *args, uint32_t first) {{\n  int64_t key[{0}];\n  uint32_t "
            "leaf;\n",
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
    out << "  leaf = leaf_of(call->tuned->nodes, root, key);\n";
    if (hasFactors())
      put("  if (choice->factors != NULL)\n"
          "    return fastest_of(choice, call->tuned, leaf, $_timed);\n");
    put("  return fastest_by_grids(choice, call->tuned, leaf, $_timed);\n}\n\n");
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
