//===- OutputTransaction.h - all outputs or none ----------------*- C++ -*-===//
//
// A build that fails must leave the previous library as it was, and one that succeeds must never
// show a new header beside an old archive for longer than a few renames. Files are written into a
// temporary folder beside their destination (same file system, so that a rename is atomic), synced,
// then renamed one by one; a rename that fails puts the earlier ones back.
//
// A build that is killed leaves its temporary folder behind. Each holds a lock on its own while it
// lives, so the next build can tell, and removes the dead ones.
//
// Refused: renaming the output folder itself, which would delete what else stands in it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_OUTPUTTRANSACTION_H
#define KILN_CODEGEN_OUTPUTTRANSACTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace kiln {

struct OutputFile {
  /// A plain file name, relative to the output folder.
  std::string name;
  std::string bytes;
};

class OutputTransaction {
public:
  /// Opens a transaction in `folder`, which is created with its parents where it is missing. Does
  /// this before a long build, so that a read-only folder is an error at its start.
  static llvm::Expected<OutputTransaction> begin(llvm::StringRef folder);

  OutputTransaction(OutputTransaction &&other) noexcept;
  OutputTransaction &operator=(OutputTransaction &&) = delete;
  /// Removes what was not committed, and the folders that begin() created where they are empty.
  ~OutputTransaction();

  /// Writes and syncs one file of the transaction; it is not visible yet. Errors name the final
  /// path and the reason (a full disk, a permission).
  llvm::Error add(const OutputFile &file);
  /// Makes all files visible. On an error none of them is, and files of the same names that stood
  /// there before are as they were.
  llvm::Error commit();

private:
  OutputTransaction() = default;
  void removeStaging();

  std::string folder;
  /// The temporary folder inside `folder`; "" after commit.
  std::string staging;
  /// Open and locked while the transaction lives; -1 = none.
  int stagingLock = -1;
  /// A forked child has a copy of this object, which must not clean up.
  int owner = 0;
  std::vector<std::string> names;
  /// Folders that begin() made, innermost first.
  std::vector<std::string> created;
};

/// begin, add each, commit.
llvm::Error writeOutputs(llvm::StringRef folder, llvm::ArrayRef<OutputFile> files);

} // namespace kiln

#endif // KILN_CODEGEN_OUTPUTTRANSACTION_H
