//===- LinkShared.h - A relocatable object to a shared one ----------*- C++ -*-===//

#ifndef KILN_COMPILER_TARGET_LINKSHARED_H
#define KILN_COMPILER_TARGET_LINKSHARED_H

#include "compiler/Target/Process.h"

namespace kiln {

/// Links `object`, a relocatable ELF object, with lld and its option `option`. The shared object is
/// the file `linkedName` of the folder. `temporaryRoot` as in EmitOptions.
llvm::Expected<TemporaryFolder> linkShared(llvm::StringRef object, const char *option,
                                           llvm::StringRef temporaryRoot);
inline constexpr char linkedName[] = "kernel.so";

} // namespace kiln

#endif // KILN_COMPILER_TARGET_LINKSHARED_H
