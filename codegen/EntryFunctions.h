//===- EntryFunctions.h - what writes an entry point's functions -*- C++ -*-===//
//
// What the writers of the functions of one entry point share: what they write about, and where to.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_ENTRYFUNCTIONS_H
#define KILN_CODEGEN_ENTRYFUNCTIONS_H

#include "codegen/CWriter.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

class EntryFunctions {
protected:
  /// Adds to `helpers` the shared functions that the text calls.
  EntryFunctions(const EntryText &text, std::set<std::string> &helpers)
      : text(text), entry(*text.entry), tables(text.tables), plan(text.choice), name(text.name),
        helpers(helpers), out(result) {}

  bool hasConditions() const { return !tables.conditions.empty(); }
  size_t numVariants() const { return entry.variants.size(); }
  /// Replaces $ by the entry's name.
  void put(llvm::StringRef code) { out << named(code, name); }

  const EntryText &text;
  const EntryModel &entry;
  const DispatchTables &tables;
  const ChoicePlan &plan;
  const std::string &name;
  std::set<std::string> &helpers;
  std::string result;
  llvm::raw_string_ostream out;
};

} // namespace kiln

#endif
