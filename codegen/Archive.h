//===- Archive.h - deterministic static archives ----------------*- C++ -*-===//
#ifndef KILN_CODEGEN_ARCHIVE_H
#define KILN_CODEGEN_ARCHIVE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

struct ArchiveMember {
  std::string name;
  std::string bytes;
};

/// A GNU-format archive with a symbol table; no times, owners or modes of the machine.
llvm::Expected<std::string> writeArchive(llvm::ArrayRef<ArchiveMember> members);

} // namespace kiln

#endif // KILN_CODEGEN_ARCHIVE_H
