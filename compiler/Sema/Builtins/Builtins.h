// The functions that Kiln knows: Triton's language and libdevice, Python's builtins, and the parts
// of Python's library that host code beside kernels computes with. Builtins.def is the closed list.
#ifndef KILN_COMPILER_SEMA_BUILTINS_BUILTINS_H
#define KILN_COMPILER_SEMA_BUILTINS_BUILTINS_H

#include "compiler/Sema/Values/Value.h"

namespace kiln::sema {

class Evaluator;

/// Where a builtin lives. Modules map to libraries in Modules/KnownModules.cpp.
enum class Library : uint8_t {
  Language, // triton.language and triton.language.math
  Device,   // libdevice, under all its names
  Target,   // triton.language.target_info and the driver
  Triton,   // triton
  Python,   // builtins
  Math,     // math
  Other,    // by full path: "os.environ.get"
};

/// Where a builtin may be called.
enum class Place : uint8_t {
  Anywhere, // On compile-time values it needs no IR.
  Kernel,   // It builds IR.
};

/// One call of a builtin, its arguments bound to the builtin's parameters.
struct Call {
  const BuiltinInfo *info = nullptr;
  /// One per parameter, defaults filled in; a parameter without either does not exist.
  llvm::SmallVector<Value, 8> values;
  /// True where the argument was written.
  llvm::SmallVector<bool, 8> given;
  /// For `*name` in the signature.
  std::vector<Value> rest;
  /// For `**name` in the signature.
  std::vector<std::pair<std::string, Value>> keywords;
  /// The call in the source; null when there is none.
  const ast::CallExpr *expr = nullptr;

  const Value &operator[](size_t index) const { return values[index]; }
};

using BuiltinHandler = Value (*)(Evaluator &, Call &);

struct BuiltinParameter {
  llvm::StringRef name;
  /// In the reference's words; may be empty.
  llvm::StringRef type;
  /// As written, where hasDefault.
  llvm::StringRef defaultText;
  bool hasDefault = false;
  bool isVariadic = false, isKeywords = false;
  Value defaultValue;
};

struct BuiltinInfo {
  llvm::StringLiteral name;
  Library library;
  Place place;
  /// "x: tensor, axis: axis=None, *rest"
  llvm::StringLiteral signature;
  /// What it gives: a paragraph of the reference.
  llvm::StringLiteral text;
  /// Null for what Triton has and Kiln does not support yet.
  BuiltinHandler handler;

  /// The name and where it lives: "tl.exp", "libdevice.tanh", "triton.cdiv", "math.gcd", "len",
  /// "os.environ.get".
  std::string getQualifiedName() const;
  /// Parsed from `signature`.
  llvm::ArrayRef<BuiltinParameter> getParameters() const;
  /// "tl.sum(x, axis=None)", with types "tl.sum(x: tensor, axis: axis=None)".
  std::string describe(bool withTypes) const;
};

llvm::ArrayRef<BuiltinInfo> getBuiltins();

/// A heading of Builtins.def and the rows under it.
struct BuiltinFamily {
  llvm::StringRef title;
  llvm::ArrayRef<BuiltinInfo> builtins;
};
std::vector<BuiltinFamily> getBuiltinFamilies();
/// Null when there is none. Language falls back to Device and the reverse: `tl.math` was libdevice.
const BuiltinInfo *findBuiltin(Library library, llvm::StringRef name);
/// Names of a library, for suggestions.
std::vector<llvm::StringRef> getBuiltinNames(Library library);

// Handlers: builtin<ID>, one per row of Builtins.def.
#define KILN_BUILTIN(ID, LIBRARY, NAME, SIGNATURE, PLACE, TEXT)                                    \
  Value builtin##ID(Evaluator &, Call &);
#include "compiler/Sema/Builtins/Builtins.def"

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_BUILTINS_BUILTINS_H
