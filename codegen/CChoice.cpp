//===- CChoice.cpp - the choice of a variant in generated C ---------------===//
//
// f_order, f_ranks, f_fastest and f_choose of an entry point `f` (CFunctions.cpp lists what calls
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
    writeTuned();
    writeSee();
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
    if (tables.isRanked() && !tables.hasTunedRanks()) { // those are in a table
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

  /// The best rank of the legal variants, which says which tree counts.
  void writeLegalRank() {
    openVariantLoop();
    put(formatv("    if ({0})\n      continue;\n    rank = $_ranks[variant];\n    break;\n  }\n",
                isIllegal("variant"))
            .str());
  }

  void writeTuned() {
    if (!tables.isKeyed)
      return;
    helpers.insert("leaf_of");
    helpers.insert("waves_of");
    put("/* The fastest legal variant by what was measured; 0: there is none. One whose grid "
        "cannot "
        "be\n * computed is taken, so that it is reported. */\n"
        "static int $_fastest(const kiln_call *call, const $_args *args,\n    ");
    out << (hasConditions() ? "const uint64_t *held, " : "")
        << "uint32_t processors, uint32_t *chosen) {\n";
    put(formatv("  const kiln_tuned_trees *tuned = call->tuned;\n"
                "  int64_t key[{0}];\n  uint32_t place;\n  double best = -1.0;\n",
                tables.keyArguments.size())
            .str());
    std::string row = "call->target";
    if (tables.hasTunedRanks()) {
      row = formatv("call->target * {0} + rank", tables.tunedRanks()).str();
      out << formatv("  uint32_t rank = {0};\n", tables.tunedRanks())
          << (tables.isListedOrder() ? "  uint32_t variant;\n" : "  uint32_t i;\n");
      writeLegalRank();
      out << formatv("  if (rank == {0})\n    return 0;\n", tables.tunedRanks());
    }
    put(formatv("  if (tuned->roots[{0}] == NO_TREE)\n    return 0;\n", row).str());
    for (auto [k, argument] : enumerate(tables.keyArguments))
      out << formatv("  key[{0}] = {1};\n", k, keyValue(argument));
    put(formatv(
            "  place = leaf_of(tuned->nodes, tuned->roots[{0}], key);\n"
            "  for (; tuned->variants[place] != END_OF_LIST; ++place) {{\n"
            "    const uint32_t its_variant = tuned->variants[place];\n"
            "    int64_t grid[3];\n    double cost;\n"
            "    if ({1})\n      continue;\n"
            "    if (best < 0.0)\n      *chosen = its_variant;\n"
            "    if (best < 0.0 && tuned->variants[place + 1] == END_OF_LIST)\n      return 1;\n"
            "    if ($_grid(args, its_variant, grid) != KILN_SUCCESS) {{\n"
            "      *chosen = its_variant;\n      return 1;\n    }\n"
            "    cost = waves_of(grid, processors) * tuned->costs[place];\n"
            "    if (best < 0.0 || cost < best) {{\n"
            "      best = cost;\n      *chosen = its_variant;\n    }\n  }\n"
            "  return best >= 0.0;\n}\n\n",
            row, isIllegal("its_variant"))
            .str());
  }

  /// Counts a call's shape.
  void writeSee() {
    if (!tables.isKeyed)
      return;
    std::vector<std::string> values;
    for (unsigned argument : tables.keyArguments)
      values.push_back(keyValue(argument));
    put(formatv("static void $_see(const kiln_call *call, const $_args *args, {0}int is_miss) {{\n"
                "  int64_t key[{1}];\n",
                hasConditions() ? "const uint64_t *held, " : "", values.size())
            .str());
    for (const auto &[k, value] : enumerate(values))
      out << formatv("  key[{0}] = {1};\n", k, value);
    put(formatv("  kiln_see_shape(call, key, {0}, {1}, is_miss);\n}\n\n",
                hasConditions() ? "held" : "NULL", hasConditions() ? words() : 0)
            .str());
  }

  /// Where calls are counted.
  void putSee(bool isMiss) {
    if (tables.isKeyed)
      put(formatv("  if (call->seen)\n    $_see(call, args, {0}{1});\n",
                  hasConditions() ? "held, " : "", isMiss ? 1 : 0)
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
    putSee(false);
    if (tables.isKeyed)
      put(formatv("  if (call->tuned && $_fastest(call, args, {0}{1}, chosen))\n    return "
                  "$_grid(args, "
                  "*chosen, grid);\n",
                  hasConditions() ? "held, " : "", tables.hasCosts ? "processors" : "1")
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
    putSee(true);
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
