#include "compiler/Sema/Builtins/Builtins.h"

#include "compiler/Sema/Table/Handlers.h"

namespace kiln::sema {

llvm::ArrayRef<BuiltinInfo> getBuiltins() {
  static const BuiltinParameter parameters[] = {
#define KILN_BUILTIN_PARAMETERS
#include "compiler/Sema/Table/Rows.cpp.inc"
  };
  static const BuiltinInfo rows[] = {
#define KILN_BUILTIN_ROWS
#include "compiler/Sema/Table/Rows.cpp.inc"
  };
  return rows;
}

const BuiltinTable &getBuiltinTable() {
  static const BuiltinTable table(getBuiltins());
  return table;
}

llvm::ArrayRef<BuiltinFamily> getBuiltinFamilies() {
  static const BuiltinFamily families[] = {
#define KILN_BUILTIN_FAMILIES
#include "compiler/Sema/Table/Rows.cpp.inc"
  };
  return families;
}

} // namespace kiln::sema
