//===- OutputSet.h - the files of one command, in any folders ---*- C++ -*-===//
//
// A transaction for each folder that a command writes into. They become visible one folder after
// the other, once every byte of every file is on the disk.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_OUTPUTSET_H
#define KILN_CODEGEN_OUTPUTSET_H

#include "codegen/OutputTransaction.h"
#include <map>

namespace kiln {

class OutputSet {
public:
  /// Opens the folder of a path. Before the work: a folder that cannot be written to should not
  /// cost a build.
  llvm::Error open(llvm::StringRef path);

  /// Writes and syncs one of the paths that were opened; it is not visible yet.
  llvm::Error add(llvm::StringRef path, std::string bytes);

  /// Makes all files visible.
  llvm::Error commit();

private:
  /// By folder, as written in the paths.
  std::map<std::string, OutputTransaction> transactions;
};

/// open, add and commit of one file.
llvm::Error writeOutput(llvm::StringRef path, std::string bytes);

} // namespace kiln

#endif // KILN_CODEGEN_OUTPUTSET_H
