//===- CWriter.h - the text of a generated library --------------*- C++ -*-===//
//
// Writes what a person would have written by hand around the runtime's records: static const
// tables and small functions. C99, C11 and C++ without warnings; no static initialisers, no heap,
// no locks, no strings on the way to a launch.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_CWRITER_H
#define KILN_CODEGEN_CWRITER_H

#include "codegen/ChoicePlan.h"
#include "codegen/ImageFrames.h"
#include "codegen/Pack.h"

namespace kiln {

/// A binary, and what the generated source calls it.
struct NamedBinary {
  /// Null: there is none.
  const DeviceBinary *binary = nullptr;
  /// Of the image or of the host function. Equal ones share the first one's.
  std::string symbol;
  bool isFirstOfItsSymbol = false;
  /// Of an image that is stored with others: the symbol of what it is in (ImageFrames.h), and
  /// where.
  std::string frame;
  uint64_t frameOffset = 0;
};

/// A generated entry point with everything that its text needs.
struct EntryText {
  const EntryModel *entry = nullptr;
  /// What the generated source calls it: with the library's prefix.
  std::string name;
  DispatchTables tables;
  ChoicePlan choice;
  /// C names of the arguments, unique among themselves and against the functions' own names.
  std::vector<std::string> argumentNames;
  /// For each variant and row of `tables.targets`: its binary, and that one's fallback.
  std::vector<std::vector<NamedBinary>> binaries, fallbacks;

  /// "int32_t M, void *a" with a leading ", " where there is one; the caller's grid first.
  std::string parameters() const;
  bool hasCallersGrid() const { return entry->grid.empty(); }
  /// Whether no variant may be there for a call.
  bool mayMiss() const { return !tables.conditions.empty() || !choice.isEverywhere(); }
  /// Room for the most parameters; C has no arrays of length zero.
  size_t maxParameters() const {
    size_t most = 1;
    for (const std::vector<unsigned> &list : tables.parameterLists)
      most = std::max(most, list.size());
    return most;
  }

  /// What an argument is in C. `access` is "args->", or "args." in the public functions, which hold
  /// the struct itself.
  std::string field(unsigned argument, llvm::StringRef access = "args->") const;
  /// What an expression reads, as a C expression of type int64_t.
  std::string symbolValue(llvm::StringRef symbol, llvm::StringRef failed,
                          std::set<std::string> &used) const;
  /// The declaration of `values` and their number, as the runtime's messages take them.
  std::pair<std::string, std::string> valuesOf(llvm::ArrayRef<unsigned> arguments) const;
  /// What a call's choice among several legal variants depends on beside its place, as C
  /// expressions of type uint64_t over `call`, `args` and `legal`. Empty where that is more than is
  /// kept.
  std::vector<std::string> choiceWords() const;
  /// Of an argument that grids read: what it may be rounded up to a multiple of for the choice to
  /// stay the same.
  uint64_t comparedUnit(unsigned argument) const;
  /// A C condition: whether a set of variants has the one that `variant`, a C expression, numbers.
  std::string isIn(llvm::StringRef set, llvm::StringRef variant) const;
};

/// There is none where an entry point is named as the library.
bool hasLibraryPrepare(const LibraryModel &model);

/// `<library>.h`.
std::string writeHeader(const LibraryModel &model, const std::vector<EntryText> &entries);

/// `<library>.c`.
std::string writeSource(const LibraryModel &model, const std::vector<EntryText> &entries,
                        const std::vector<ImageFrame> &frames, const std::vector<Pack> &packs);

/// The static tables of one entry point, and its functions: the two halves of writeSource.
std::string writeTables(const LibraryModel &model, const EntryText &text);
/// The bytes of those tables, without the texts that they point to.
uint64_t tableBytes(const EntryText &text);
std::string writeFunctions(const LibraryModel &model, const EntryText &text,
                           std::set<std::string> &helpers);

/// Whether calls of the entry point can be compared (kiln_comparison): the elements of all its
/// arrays are known.
bool isComparable(const EntryModel &entry);
/// Of the tables and of the functions those for that, where it is comparable; else nothing.
std::string writeComparisonTable(const EntryText &text);
std::string writeComparison(const EntryText &text, std::set<std::string> &helpers);
/// The arrays that a comparison is of: indices into EntryModel::arguments.
std::vector<unsigned> comparedArrays(const EntryModel &entry);

/// Of the functions those that look at conditions, and those that choose a variant. The tables that
/// they alone read stand before them.
std::string writeConditions(const EntryText &text, std::set<std::string> &helpers);
std::string writeChoice(const EntryText &text, std::set<std::string> &helpers);
/// The functions that `used` names, with what they stand on: those of expressions, and of choices
/// among variants whose grids differ in at most so many factors.
std::string sharedFunctions(const std::set<std::string> &used, size_t numFactors);

/// `code` with the entry's name for each $.
std::string named(llvm::StringRef code, llvm::StringRef entry);
/// The kiln_param_kind of an argument.
std::string cParamKind(const ArgumentType &type);
/// `text` as the contents of a C string literal, without trigraphs.
std::string cString(llvm::StringRef text);
/// Breaks a declaration at commas into lines of at most 100 columns, indented by four.
std::string wrapDeclaration(const std::string &line);
/// A C integer constant.
std::string cInteger(int64_t value);
/// `value`, of an argument of that type, compared with `bound` by the operator `op`.
std::string cComparison(const ArgumentType &type, const std::string &value, llvm::StringRef op,
                        int64_t bound);
/// The initialiser of an array of words.
std::string cWords(llvm::ArrayRef<uint64_t> words);
/// `text` fit for a C comment: one line, printable, no comment ends.
std::string cComment(llvm::StringRef text);

} // namespace kiln

#endif // KILN_CODEGEN_CWRITER_H
