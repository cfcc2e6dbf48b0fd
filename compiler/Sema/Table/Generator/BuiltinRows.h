// The rows of the table of builtins (BuiltinBase.td), read from TableGen's records and checked.

#ifndef KILN_COMPILER_SEMA_TABLE_GENERATOR_BUILTINROWS_H
#define KILN_COMPILER_SEMA_TABLE_GENERATOR_BUILTINROWS_H

#include "llvm/TableGen/Record.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln::tblgen {

struct ParameterRow {
  enum Kind : uint8_t { Plain, Variadic, Keywords };

  std::string name;
  std::string type; ///< in the reference's words; may be empty
  Kind kind = Plain;
  std::optional<std::string> defaultText; ///< as Python would write it
};

struct BuiltinRow {
  const llvm::Record *record = nullptr;
  std::string library, name, family;
  std::string place, context, handler;
  std::vector<ParameterRow> parameters;
  std::string documentation;
  std::string operation; ///< empty where the handler is written by hand
  bool isFast = false;
  /// Triton has it, and Kiln does not yet: nothing but the library, name and family is said.
  bool isSupported = true;
};

/// All rows, in the order of the files. Mistakes are reported at their records; then there are
/// none.
std::optional<std::vector<BuiltinRow>> readBuiltins(const llvm::RecordKeeper &records);

} // namespace kiln::tblgen

#endif
