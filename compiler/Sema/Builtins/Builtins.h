// The functions that Kiln knows: Triton's language and libdevice, Python's builtins, and the parts
// of Python's library that host code beside kernels computes with. Builtins.td is the closed list.
#ifndef KILN_COMPILER_SEMA_BUILTINS_BUILTINS_H
#define KILN_COMPILER_SEMA_BUILTINS_BUILTINS_H

#include "compiler/Sema/Values/Builtin.h"

namespace kiln::sema {

llvm::ArrayRef<BuiltinInfo> getBuiltins();
const BuiltinTable &getBuiltinTable();

/// A heading of the reference and the rows under it.
struct BuiltinFamily {
  llvm::StringRef title;
  llvm::ArrayRef<BuiltinInfo> builtins;
};
llvm::ArrayRef<BuiltinFamily> getBuiltinFamilies();

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_BUILTINS_BUILTINS_H
