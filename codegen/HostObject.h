//===- HostObject.h - CPU kernels as members of a library -------*- C++ -*-===//
#ifndef KILN_CODEGEN_HOSTOBJECT_H
#define KILN_CODEGEN_HOSTOBJECT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace kiln {

/// Makes a compiled CPU kernel fit to stand beside others: renames the function `symbol` to
/// `newSymbol`, gives that one hidden visibility and makes every other defined symbol local, so
/// that two variants of one kernel link into one program. What it calls of the runtime gets
/// `prefix` (of the emulator nothing does). Fails when `object` is not a relocatable
/// ELF object or lacks `symbol`.
llvm::Expected<std::string> prepareHostObject(llvm::StringRef object, llvm::StringRef symbol,
                                              llvm::StringRef newSymbol, llvm::StringRef prefix);

} // namespace kiln

#endif // KILN_CODEGEN_HOSTOBJECT_H
