// What is known of a function that Kiln knows: a row of Table/Builtins.td. The table of them is
// handed down to whoever looks names up, so that nothing below it depends on what the builtins do.
#ifndef KILN_COMPILER_SEMA_VALUES_BUILTIN_H
#define KILN_COMPILER_SEMA_VALUES_BUILTIN_H

#include "compiler/Sema/Values/Value.h"

#include "llvm/ADT/StringMap.h"

#include <variant>

namespace kiln::sema {

class Evaluator;
class PythonOperations;
class TensorBuilder;

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

/// What runs a call. The first parameter says what the builtin may touch: values that are known at
/// compile time; tensors, and the IR that computes them; or the code that calls it, names, control
/// flow and objects of Python included.
using BuiltinHandler =
    std::variant<std::monostate, Value (*)(PythonOperations &, Call &),
                 Value (*)(TensorBuilder &, Call &), Value (*)(Evaluator &, Call &)>;

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
  llvm::StringRef name;
  Library library;
  Place place;
  llvm::ArrayRef<BuiltinParameter> parameters;
  /// What it gives: a paragraph of the reference.
  llvm::StringRef text;
  /// Empty for what Triton has and Kiln does not support yet.
  BuiltinHandler handler;

  bool isSupported() const { return handler.index() != 0; }

  /// The name and where it lives: "tl.exp", "libdevice.tanh", "triton.cdiv", "math.gcd", "len",
  /// "os.environ.get".
  std::string getQualifiedName() const;
  llvm::ArrayRef<BuiltinParameter> getParameters() const { return parameters; }
  /// "tl.sum(x, axis=None)", with types "tl.sum(x: tensor, axis: axis=None)".
  std::string describe(bool withTypes) const;
};

/// Builtins by library and name.
class BuiltinTable {
public:
  /// `rows` outlive the table.
  explicit BuiltinTable(llvm::ArrayRef<BuiltinInfo> rows);

  llvm::ArrayRef<BuiltinInfo> getRows() const { return rows; }
  /// Null when there is none. Language falls back to Device and the reverse: `tl.math` was
  /// libdevice.
  const BuiltinInfo *find(Library library, llvm::StringRef name) const;
  /// One that there is, as a value.
  Value get(Library library, llvm::StringRef name) const;
  /// Names of a library, for suggestions.
  std::vector<llvm::StringRef> getNames(Library library) const;

private:
  llvm::ArrayRef<BuiltinInfo> rows;
  llvm::StringMap<std::vector<const BuiltinInfo *>> byName;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_VALUES_BUILTIN_H
