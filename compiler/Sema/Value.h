// The values that the partial evaluator computes with: Python's, known at compile time, and
// tensors, which exist only as IR.
//
// A Value is small and copied freely; what does not fit inside is a shared, immutable object. Lists
// and dicts are the exception, as in Python: copies of the Value share one mutable object.
//
// Refused: one class per Python type with virtual operators. Nearly every operation looks at two
// operands at once, so a switch over kinds in one place per operation reads better.
#ifndef KILN_COMPILER_SEMA_VALUE_H
#define KILN_COMPILER_SEMA_VALUE_H

#include "compiler/Sema/DType.h"
#include "compiler/Syntax/AST.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"

#include <memory>
#include <string>
#include <vector>

namespace kiln::sema {

class Value;
struct BuiltinInfo;
struct ModuleState;

/// Names of one function call, or of one object, in the order of their first binding.
using Environment = llvm::MapVector<llvm::StringRef, Value>;

enum class ValueKind : uint8_t {
  Error,     // An error has been reported; everything computed from it is Error too.
  Undefined, // Bound on some paths only; reading it is an error that says why.
  None,
  Bool,
  Int,
  Float,
  String,
  Ellipsis,
  Type, // An element type, a pointer type or a block type.
  Tensor,
  BlockPointer,
  Tuple,
  List,
  Set,
  Dict,
  Slice,
  Range,
  Function,
  Builtin,
  BoundMethod,
  Module,
  Class,
  Instance,
  Opaque, // Something of a module that is not evaluated, such as torch.
};

/// "int", "tensor", as messages name them.
llvm::StringRef getKindName(ValueKind kind);

struct Object {
  virtual ~Object() = default;
};

/// IR of a known Triton type.
struct Tensor {
  mlir::Value ir;
  TensorType type;

  explicit operator bool() const { return bool(ir); }
  DType dtype() const { return type.dtype; }
  bool isBlock() const { return type.isBlock(); }
};

class Value {
public:
  Value() = default;
  static Value none() { return Value(ValueKind::None); }
  static Value ellipsis() { return Value(ValueKind::Ellipsis); }
  static Value boolean(bool value);
  static Value integer(Int value);
  static Value real(double value);
  static Value string(const llvm::Twine &text);
  static Value undefined(const llvm::Twine &reason);
  static Value type(TensorType type);
  static Value tensor(mlir::Value ir, TensorType type);
  static Value tensor(Tensor tensor) { return Value::tensor(tensor.ir, std::move(tensor.type)); }
  static Value tuple(std::vector<Value> elements);
  static Value list(std::vector<Value> elements);
  static Value opaque(const llvm::Twine &path);
  static Value builtin(const BuiltinInfo &info);
  Value(ValueKind kind, std::shared_ptr<Object> object) : kind(kind), object(std::move(object)) {}

  ValueKind getKind() const { return kind; }
  bool is(ValueKind other) const { return kind == other; }
  bool isError() const { return is(ValueKind::Error); }
  bool isNone() const { return is(ValueKind::None); }
  bool isTensor() const { return is(ValueKind::Tensor); }
  bool isString() const { return is(ValueKind::String); }
  bool isOpaque() const { return is(ValueKind::Opaque); }
  /// bool, int or float.
  bool isNumber() const {
    return is(ValueKind::Bool) || is(ValueKind::Int) || is(ValueKind::Float);
  }
  /// bool or int.
  bool isIntegral() const { return is(ValueKind::Bool) || is(ValueKind::Int); }
  /// tuple, list or set.
  bool isSequence() const {
    return is(ValueKind::Tuple) || is(ValueKind::List) || is(ValueKind::Set);
  }

  bool getBool() const { return int128 != 0; }
  /// Of a bool or an int.
  Int getInt() const { return int128; }
  /// Of any number.
  double getReal() const { return is(ValueKind::Float) ? float64 : static_cast<double>(int128); }
  llvm::StringRef getString() const;
  const TensorType &getType() const;
  Tensor getTensor() const;
  std::vector<Value> &getElements() const;
  template <typename T> T &as() const { return *static_cast<T *>(object.get()); }
  /// True when both hold the very same object.
  bool sharesObject(const Value &other) const { return object && object == other.object; }

private:
  explicit Value(ValueKind kind) : kind(kind) {}

  ValueKind kind = ValueKind::Error;
  double float64 = 0;
  Int int128 = 0;
  std::shared_ptr<Object> object;
};

struct StringObject : Object {
  std::string text;
};
struct TypeObject : Object {
  TensorType type;
};
struct TensorObject : Object {
  Tensor tensor;
};
struct SequenceObject : Object {
  std::vector<Value> elements;
  /// Of a named tuple: as many names as elements; empty otherwise.
  std::vector<std::string> fields;
};
struct DictObject : Object {
  std::vector<std::pair<Value, Value>> items;
};
struct SliceObject : Object {
  Value lower, upper, step;
};
struct RangeObject : Object {
  Int start = 0, stop = 0, step = 1;
};

/// Whose rules a function body follows.
enum class FunctionMode : uint8_t {
  Kernel, // Triton's: assigned numbers become tensors, run-time conditions become IR.
  Python, // Python's: everything is known at compile time.
};

struct FunctionObject : Object {
  /// One of the two.
  const ast::FunctionDef *definition = nullptr;
  const ast::LambdaExpr *lambda = nullptr;
  ModuleState *module = nullptr;
  FunctionMode mode = FunctionMode::Python;
  /// A decorator that is not known to be `jit` made it a kernel's: called from Python it is Python.
  bool isModeGuessed = false;
  /// Names of the enclosing function, for lambdas and nested functions.
  std::shared_ptr<Environment> closure;

  llvm::StringRef getName() const {
    return definition ? definition->name.name : llvm::StringRef("<lambda>");
  }
  ast::ParameterList getParameters() const {
    return definition ? definition->parameters : lambda->parameters;
  }
};
struct BuiltinObject : Object {
  const BuiltinInfo *info = nullptr;
};
/// `function` with its first argument, or the method `name` of a Python value.
struct BoundMethodObject : Object {
  Value self;
  Value function;
  std::string name;
};
struct ModuleObject : Object {
  /// Of a module read from a file.
  ModuleState *state = nullptr;
  /// Of a module that Kiln knows: "triton.language.math". Of a namespace package: its folders.
  std::string path;
  std::vector<std::string> folders;
};
struct ClassObject : Object {
  const ast::ClassDef *definition = nullptr;
  ModuleState *module = nullptr;
};
struct InstanceObject : Object {
  /// A class, or None for Kiln's own kinds.
  Value cls;
  std::string typeName;
  std::vector<std::pair<std::string, Value>> fields;

  const Value *find(llvm::StringRef name) const;
};
struct OpaqueObject : Object {
  std::string path;
};
struct UndefinedObject : Object {
  std::string reason;
};

/// A block pointer, Triton's `make_block_ptr`, or a tensor descriptor. All numbers are 64-bit
/// scalars.
struct BlockPointerObject : Object {
  Tensor base;
  std::vector<Tensor> shape, strides, offsets;
  llvm::SmallVector<int64_t, 4> blockShape;
  /// A tensor descriptor: offsets come with each access, and every axis is checked.
  bool isDescriptor = false;
  /// Of a descriptor: elements outside load as NaN instead of zero.
  bool padsWithNan = false;
};

/// What `x.type` is for a compile-time value and for a tuple.
Value constexprType(const Value &value);
Value tupleType(std::vector<Value> types);

/// Python's repr(), for messages and f-strings: `'relu'`, `(1, 2)`, `fp16`, `fp32[16]`.
std::string repr(const Value &value);
/// Python's str().
std::string str(const Value &value);
/// What a message calls the value: "int 3", "fp32[16]", "None".
std::string describe(const Value &value);

/// Python's `==` on compile-time values; empty when a tensor or an opaque value takes part.
std::optional<bool> isEqual(const Value &a, const Value &b);
/// Same value and same kind: nothing is to be merged.
bool isIdentical(const Value &a, const Value &b);
/// The value with instances of its own: assignments to their fields do not reach the original's.
Value detached(const Value &value);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_VALUE_H
