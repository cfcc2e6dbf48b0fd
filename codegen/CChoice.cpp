//===- CChoice.cpp - the choice of a variant in generated C ---------------===//
//
// f_order, f_ranks, f_nearest and f_choose of an entry point `f` (CFunctions.cpp lists what calls
// them); DispatchTables.h says how a variant is chosen.
//
//===----------------------------------------------------------------------===//
#include "codegen/CWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

namespace {

class ChoiceWriter {
public:
  ChoiceWriter(const EntryText &text, std::set<std::string> &helpers)
      : text(text), entry(*text.entry), tables(text.tables), name(text.name), helpers(helpers),
        out(result) {}

  std::string write() {
    writeOrder();
    writeNearest();
    writeChoose();
    return result;
  }

private:
  const EntryText &text;
  const EntryModel &entry;
  const DispatchTables &tables;
  const std::string &name;
  std::set<std::string> &helpers;
  std::string result;
  raw_string_ostream out;

  bool hasConditions() const { return !tables.conditions.empty(); }
  size_t words() const { return tables.words(); }
  size_t numVariants() const { return entry.variants.size(); }
  void put(StringRef code) { out << named(code, name); }

  void writeOrder() {
    if (!tables.isListedOrder()) {
      put("/* Variants that rely on more are tried first. */\n"
          "static const uint32_t $_order[] = {");
      for (size_t i = 0; i < tables.order.size(); ++i)
        out << (i ? ", " : "") << tables.order[i];
      out << "};\n\n";
    }
    if (tables.isRanked() || tables.hasTunedRanks()) {
      put("/* How much each variant's signature promises, 0 = most. */\n"
          "static const uint32_t $_ranks[] = {");
      for (size_t i = 0; i < tables.ranks.size(); ++i)
        out << (i ? ", " : "") << tables.ranks[i];
      out << "};\n\n";
    }
  }

  /// "for (...) {" over the variants in order, named `variant`.
  void openVariantLoop() {
    if (tables.isListedOrder())
      out << formatv("  for (variant = 0; variant < {0}; ++variant) {{\n", numVariants());
    else
      put(formatv("  for (i = 0; i < {0}; ++i) {{\n    const uint32_t variant = $_order[i];\n",
                  numVariants())
              .str());
  }

  /// A C condition that holds where `variant` cannot run.
  std::string isIllegal(StringRef variant) const {
    return formatv("{0}_binaries[{1} * {2} + call->target].symbol == NULL{3}", name, variant,
                   tables.targets.size(),
                   hasConditions() ? formatv(" || {0}_lacks({1}, held)", name, variant).str() : "")
        .str();
  }

  /// The best rank of the legal variants, which says what shapes count.
  void writeLegalRank() {
    openVariantLoop();
    put(formatv("    if ({0})\n      continue;\n    rank = $_ranks[variant];\n    break;\n  }\n",
                isIllegal("variant"))
            .str());
  }

  /// What f_nearest hands to f_compare, by these names.
  std::string sharedParameters(bool isDeclaration) const {
    std::string text = isDeclaration ? "const kiln_call *call, const int64_t *key" : "call, key";
    if (hasConditions())
      text += isDeclaration ? ", const uint64_t *held" : ", held";
    if (tables.hasTunedRanks())
      text += isDeclaration ? ", uint32_t rank" : ", rank";
    return text;
  }

  /// Shapes are sorted by their first key, so that the search ends where that alone is too far.
  void writeCompare() {
    put(formatv(
            "/* Takes a measured shape that is nearer than *nearest, or as near and earlier in the "
            "table. 0:\n * those behind it are too far. */\n"
            "static int $_compare({0},\n    uint32_t shape, int is_earlier, uint64_t *nearest, "
            "uint32_t *chosen) {{\n"
            "  const uint16_t *variants = $_tuned_variants + $_tuned_places[shape];\n"
            "  uint64_t distance = 0;\n  uint32_t k;\n"
            "  for (k = 0; k < {1}; ++k) {{\n"
            "    const int64_t measured = $_tuned_keys[shape][k];\n"
            "    distance += (uint64_t)(measured < key[k] ? key[k] - measured : measured - "
            "key[k]);\n"
            "    if (distance > *nearest)\n      return k != 0;\n"
            "  }\n"
            "  if (distance == *nearest && !is_earlier)\n    return 1;\n"
            "{2}"
            "  while (*variants != END_OF_LIST && ({3}))\n    ++variants;\n"
            "  if (*variants != END_OF_LIST) {{\n    *nearest = distance;\n    *chosen = "
            "*variants;\n  }\n"
            "  return 1;\n}\n\n",
            sharedParameters(true), tables.keyArguments.size(),
            tables.hasTunedRanks()
                ? formatv("  if ({0}_tuned_ranks[shape] > rank)\n    return 1;\n", name).str()
                : "",
            isIllegal("*variants"))
            .str());
  }

  void writeNearest() {
    if (!tables.isTuned())
      return;
    helpers.insert("logarithm_of");
    writeCompare();
    size_t keys = tables.keyArguments.size();
    put("/* The fastest legal variant at the nearest shape that was measured; 0: there is none. "
        "*/\n"
        "static int $_nearest(const kiln_call *call, const $_args *args,\n    ");
    out << (hasConditions() ? "const uint64_t *held, " : "") << "uint32_t *chosen) {\n";
    put(formatv("  const uint32_t first = $_tuned_begin[call->target], end = "
                "$_tuned_begin[call->target + 1];\n"
                "  int64_t key[{0}];\n  uint64_t nearest = UINT64_MAX;\n"
                "  uint32_t low = first, high = end, shape;\n",
                keys)
            .str());
    if (tables.hasTunedRanks()) {
      out << "  uint32_t rank = UINT32_MAX;\n"
          << (tables.isListedOrder() ? "  uint32_t variant;\n" : "  uint32_t i;\n");
      writeLegalRank();
    }
    for (size_t k = 0; k < keys; ++k)
      out << formatv("  key[{0}] = logarithm_of({1});\n", k, keyValue(tables.keyArguments[k]));
    put(formatv("  while (low < high) {{\n"
                "    const uint32_t middle = low + (high - low) / 2;\n"
                "    if ($_tuned_keys[middle][0] < key[0])\n      low = middle + 1;\n"
                "    else\n      high = middle;\n  }\n"
                "  for (shape = low; shape < end; ++shape)\n"
                "    if (!$_compare({0}, shape, 0, &nearest, chosen))\n      break;\n"
                "  for (shape = low; shape > first; --shape)\n"
                "    if (!$_compare({0}, shape - 1, 1, &nearest, chosen))\n      break;\n"
                "  return nearest != UINT64_MAX;\n}\n\n",
                sharedParameters(false))
            .str());
  }

  /// An integer argument in 64 signed bits; what is larger is as far away as can be.
  std::string keyValue(unsigned argument) const {
    if (entry.arguments[argument].type.element != ElementType::UInt64)
      return "(int64_t)args->" + text.argumentNames[argument];
    return formatv("{0} > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t){0}",
                   "args->" + text.argumentNames[argument])
        .str();
  }

  void writeChoose() {
    put("/* The legal variant of least cost, and its grid. */\n"
        "static kiln_status $_choose(const kiln_call *call, const $_args *args, uint32_t *chosen,\n"
        "    int64_t grid[3]) {\n");
    if (hasConditions())
      out << formatv("  uint64_t held[{0}];\n", words());
    out << (tables.isListedOrder() ? "  uint32_t variant;\n" : "  uint32_t i;\n");
    if (tables.hasCosts)
      put("  uint32_t processors = call->processors;\n"
          "  double best = -1.0;\n"
          "  if (processors == 0)\n    processors = $_processors[call->target];\n");
    if (hasConditions())
      put("  $_held(args, held);\n");
    if (tables.isTuned())
      put(formatv("  if ($_nearest(call, args, {0}chosen))\n    return $_grid(args, *chosen, "
                  "grid);\n",
                  hasConditions() ? "held, " : "")
              .str());
    openVariantLoop();
    if (tables.hasCosts)
      out << "    int64_t its_grid[3];\n    double cost;\n    kiln_status status;\n";
    put(formatv("    if ({0})\n      continue;\n", isIllegal("variant")).str());
    if (tables.hasCosts)
      writeCostedChoice();
    else
      put("    *chosen = variant;\n    return $_grid(args, variant, grid);\n");
    out << "  }\n";
    if (tables.hasCosts)
      out << "  if (best >= 0.0)\n    return KILN_SUCCESS;\n";
    put("  return $_miss(call, args, UINT32_MAX);\n}\n\n");
  }

  void writeCostedChoice() {
    helpers.insert("waves_of");
    if (tables.isRanked())
      put("    if (best >= 0.0 && $_ranks[variant] != $_ranks[*chosen])\n      break;\n");
    put("    status = $_grid(args, variant, its_grid);\n"
        "    if (status != KILN_SUCCESS)\n      return status;\n"
        "    cost = waves_of(its_grid, processors) * $_tile_costs[variant];\n"
        "    if (best < 0.0 || cost < best) {\n"
        "      best = cost;\n"
        "      *chosen = variant;\n"
        "      grid[0] = its_grid[0];\n"
        "      grid[1] = its_grid[1];\n"
        "      grid[2] = its_grid[2];\n"
        "    }\n");
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
