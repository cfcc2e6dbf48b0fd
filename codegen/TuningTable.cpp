//===- TuningTable.cpp - decision trees for a library at run time ---------===//
#include "codegen/TuningTable.h"
#include "codegen/DispatchTables.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

std::string dispatchHash(const LibraryModel &model) {
  constexpr size_t digits = 16;
  std::string text = "library " + model.name + "\n";
  for (const EntryModel &entry : model.entries) {
    text += "entry " + entry.name + "\n";
    for (unsigned argument : callerArguments(entry))
      text += "takes " + entry.arguments[argument].name + ": " + callerType(entry, argument) + "\n";
    for (const std::string &key : entry.dispatchKey)
      text += "key " + key + "\n";
  }
  return sha256Of(text).substr(0, digits);
}

static void writeTree(raw_ostream &out, const EntryModel &entry, const DispatchTables &tables,
                      const TunedTree &tuned) {
  out << "tree";
  for (auto [variant, rank] : enumerate(tables.ranks))
    if (rank == tuned.rank)
      out << " " << variantId(entry, entry.variants[variant]);
  out << "\n";
  for (const DecisionTree::Node &node : tuned.tree.nodes) {
    if (!node.isLeaf()) {
      out << entry.dispatchKey[node.key] << " " << node.bound << "\n";
      continue;
    }
    out << ":";
    for (const VariantCost &one : node.variants)
      out << " " << variantId(entry, entry.variants[one.variant]) << " " << one.cost;
    out << "\n";
  }
}

static void writeTarget(raw_ostream &out, const LibraryModel &model, const EntryModel &entry,
                        const DispatchTables &tables, const MeasuredTarget &measured) {
  std::vector<TunedTree> trees = tunedTrees(entry, tables, measured, [](unsigned) { return true; });
  if (trees.empty())
    return;
  out << "target " << runtimeTargetName(model.targets[measured.target]) << "\n";
  for (const TunedTree &tree : trees)
    writeTree(out, entry, tables, tree);
}

static std::string entryTable(const LibraryModel &model, const EntryModel &entry) {
  DispatchTables tables = buildDispatchTables(model, entry);
  std::string text;
  raw_string_ostream out(text);
  for (unsigned target = 0; tables.isKeyed && target < model.targets.size(); ++target)
    for (const MeasuredTarget &measured : entry.measured)
      if (measured.target == target)
        writeTarget(out, model, entry, tables, measured);
  if (text.empty())
    return "";
  std::string header = "entry " + entry.name;
  for (const std::string &key : entry.dispatchKey)
    header += " " + key;
  return header + "\n" + text;
}

std::string writeTuningTable(const LibraryModel &model) {
  std::string tables;
  for (const EntryModel &entry : model.entries)
    tables += entryTable(model, entry);
  if (tables.empty())
    return "";
  return "kiln table 1\nlibrary " + model.name + " " + dispatchHash(model) + "\n" + tables +
         "end\n";
}

} // namespace kiln
