// The values that the partial evaluator computes with: Python's, known at compile time, and
// tensors, which exist only as IR.
//
// A Value is small and copied freely; what does not fit inside is a shared, immutable object.
// Lists, sets, dicts, iterators, classes and instances are the exception, as in Python: copies of
// the Value share one mutable object.
//
// Refused: one class per Python type with virtual operators. Nearly every operation looks at two
// operands at once, so a switch over kinds in one place per operation reads better.
#ifndef KILN_COMPILER_SEMA_VALUES_VALUE_H
#define KILN_COMPILER_SEMA_VALUES_VALUE_H

#include "compiler/Basic/Diagnostics.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Sema/Values/DType.h"
#include "compiler/Syntax/AST.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kiln::sema {

class Value;
struct BuiltinInfo;
struct ModuleState;

/// Names of one function call, or of one object, in the order of their first binding.
using Environment = llvm::MapVector<llvm::StringRef, Value>;
/// Arguments of a call by keyword.
using Keywords = std::vector<std::pair<std::string, Value>>;

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
  Descriptor,
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
  Iterator,
  Opaque, // Not known: something of a module that is not evaluated, such as torch.
};

/// "int", "tensor", as messages name them.
llvm::StringRef getKindName(ValueKind kind);

struct OpaqueObject;

struct Object {
  virtual ~Object() = default;
  /// A copy of a mutable object's contents, to put back later; null for what cannot change.
  virtual std::shared_ptr<Object> save() const { return nullptr; }
  virtual void restore(const Object &) {}
  /// Of two values of one name, what is known of either; of others the name is empty.
  using Combine =
      llvm::function_ref<class Value(const class Value &, const class Value &, llvm::StringRef)>;
  /// Keeps of the contents what `other`, of the same kind, agrees on.
  virtual void merge(const Object &, Combine, const std::shared_ptr<OpaqueObject> &why) {
    lost = why;
  }

  /// Why the contents of a mutable object are not known any more; null while they are.
  std::shared_ptr<OpaqueObject> lost;
};

template <typename T> class MutableObject : public Object {
public:
  std::shared_ptr<Object> save() const override {
    return std::make_shared<T>(static_cast<const T &>(*this));
  }
  void restore(const Object &saved) override {
    static_cast<T &>(*this) = static_cast<const T &>(saved);
  }

private:
  MutableObject() = default;
  friend T;
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
  template <typename T> std::shared_ptr<T> share() const {
    return std::static_pointer_cast<T>(object);
  }
  const std::shared_ptr<Object> &getObject() const { return object; }
  /// Whether Triton would have an object of tl.constexpr in its place. What it holds is the value
  /// itself here: only whether a kernel may use a name of its module depends on it.
  bool isConstexpr() const { return constexprMark; }
  Value asConstexpr(bool isOne = true) const {
    Value marked = *this;
    marked.constexprMark = isOne;
    return marked;
  }
  /// True when both hold the very same object.
  bool sharesObject(const Value &other) const { return object && object == other.object; }

private:
  explicit Value(ValueKind kind) : kind(kind) {}

  ValueKind kind = ValueKind::Error;
  bool constexprMark = false;
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
struct SequenceObject : MutableObject<SequenceObject> {
  void merge(const Object &other, Combine combine,
             const std::shared_ptr<OpaqueObject> &why) override;
  std::vector<Value> elements;
  /// Of a named tuple: as many names as elements, and its class, if it has one; empty otherwise.
  std::vector<std::string> fields;
  Value cls;
  /// Of a set: a frozenset.
  bool isFrozen = false;
};
struct DictObject : MutableObject<DictObject> {
  void merge(const Object &other, Combine combine,
             const std::shared_ptr<OpaqueObject> &why) override;
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

/// Names of one call of a Python function, of a class body, a comprehension or a module. The
/// functions that are defined there share it.
struct Scope : MutableObject<Scope> {
  void merge(const Object &other, Combine combine,
             const std::shared_ptr<OpaqueObject> &why) override;
  enum Kind : uint8_t { Module, Class, Function, Comprehension };
  Kind kind = Function;
  Environment names;
  /// What its code sees beyond it, short of the module.
  std::shared_ptr<Scope> parent;
  /// Of a function: what its body says about names.
  const struct FunctionNames *declared = nullptr;
};

/// One decorator of a function, evaluated where the function was defined.
struct Decoration {
  const ast::Expr *expr = nullptr;
  /// What stands before the arguments, if any.
  Value callee;
  std::vector<Value> args;
  std::vector<std::pair<std::string, Value>> keywords;
};

struct FunctionObject : MutableObject<FunctionObject> {
  void merge(const Object &other, Combine combine,
             const std::shared_ptr<OpaqueObject> &why) override;
  /// One of the two.
  const ast::FunctionDef *definition = nullptr;
  const ast::LambdaExpr *lambda = nullptr;
  ModuleState *module = nullptr;
  FunctionMode mode = FunctionMode::Python;
  /// A decorator that is not known to be `jit` made it a kernel's: called from Python it is Python.
  bool isModeGuessed = false;
  /// Names of the enclosing function of device code, for lambdas and nested functions.
  std::shared_ptr<Environment> closure;
  /// What encloses it in Python; null at module level.
  std::shared_ptr<Scope> scope;
  /// One for each parameter, evaluated where the function was defined; Error where there is none.
  std::vector<Value> defaults;
  std::vector<Decoration> decorations;
  /// A decorator that is not known: neither is what calls from Python give.
  std::shared_ptr<OpaqueObject> wrapper;
  Environment attributes;
  /// The class whose body defines it.
  std::shared_ptr<struct ClassObject> owner;

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
struct ClassObject : MutableObject<ClassObject> {
  void merge(const Object &other, Combine combine,
             const std::shared_ptr<OpaqueObject> &why) override;
  std::string name;
  /// Null for the classes of Python's exceptions.
  const ast::ClassDef *definition = nullptr;
  ModuleState *module = nullptr;
  std::vector<Value> bases;
  /// This class and those it derives from, in the order of look-up.
  std::vector<std::shared_ptr<ClassObject>> order;
  /// Some base is a class that is not at hand.
  bool hasUnknownBase = false;
  Environment members;
  /// Names that the body annotates, in order.
  std::vector<std::pair<llvm::StringRef, const ast::Expr *>> annotated;
  /// Of an enumeration: its members, in order. Those of one that derives from int or str count as
  /// their values.
  bool isEnum = false, isPlainEnum = false;
  std::vector<Value> enumerators;
  /// One of Triton's, whose instances hold tensors.
  bool isAggregate = false;
  bool isNamedTuple = false, isDataclass = false, comparesFields = false, isFrozen = false;

  /// A member of it or of the classes it derives from; null when there is none.
  const Value *find(llvm::StringRef member) const;
  bool derivesFrom(const ClassObject &other) const;
};
struct InstanceObject : MutableObject<InstanceObject> {
  void merge(const Object &other, Combine combine,
             const std::shared_ptr<OpaqueObject> &why) override;
  /// A class, or None for Kiln's own kinds.
  Value cls;
  std::string typeName;
  std::vector<std::pair<std::string, Value>> fields;

  const Value *find(llvm::StringRef name) const;
  void set(llvm::StringRef name, Value value);
};
/// What goes through the elements of something once.
struct IteratorObject : MutableObject<IteratorObject> {
  enum Kind : uint8_t {
    Items,     // `items`, from `next` on
    List,      // the list sources[0], as it is then, from `next` on
    Zip,       // tuples of the sources' elements
    Map,       // function(*elements of the sources)
    Filter,    // elements of sources[0] for which function holds
    Enumerate, // (next, element of sources[0])
    Generator, // what the body of a generator yields: `items` once it has run
  };
  Kind kind = Items;
  std::vector<Value> items;
  Int next = 0;
  /// Iterators, of Zip to Enumerate.
  std::vector<Value> sources;
  Value function;
  bool isDone = false;
  /// Of a generator that has not run yet: appends what it yields.
  std::function<void(std::vector<Value> &)> run;
};
struct OpaqueObject : Object {
  std::string path;
  /// Whatever it is, it is not None.
  bool isSomething = false;
  /// The error that left it without a value, if one did.
  std::shared_ptr<const Diagnostic> cause;
  /// Where it came from, and the names that took it on, in order.
  struct Step {
    SourceRange range;
    std::string name;
  };
  std::vector<Step> steps;
  /// Functions that whatever it is may call.
  std::vector<Value> holds;
  /// An import that was put off: `from ..module import name` (no name for the module itself) in
  /// the importer.
  struct Late {
    ModuleState *importer = nullptr;
    unsigned level = 0;
    llvm::StringRef module, name;
  };
  Late late;
};
struct UndefinedObject : Object {
  std::string reason;
};

/// A block pointer, Triton's `make_block_ptr`. All numbers are 64-bit scalars.
struct BlockPointerObject : Object {
  Tensor base;
  std::vector<Tensor> shape, strides, offsets;
  llvm::SmallVector<int64_t, 4> blockShape;
};

/// A tensor descriptor, Triton's `make_tensor_descriptor`.
struct DescriptorObject : Object {
  mlir::TypedValue<tile::DescriptorType> ir;
  /// The base's type.
  DType pointer;

  TensorType blockType() const {
    llvm::ArrayRef<int64_t> shape = ir.getType().getShape();
    return {pointer.getPointee(), llvm::SmallVector<int64_t, 4>(shape)};
  }
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

/// The value, or an opaque one where it is an object whose contents are not known any more.
Value known(const Value &value);
/// What is not known in the value, however deep; null when all is.
std::shared_ptr<OpaqueObject> findUnknown(const Value &value);

/// Python's `==` on compile-time values; empty when a tensor or an opaque value takes part.
std::optional<bool> isEqual(const Value &a, const Value &b);
/// Same value and same kind: nothing is to be merged.
bool isIdentical(const Value &a, const Value &b);
/// The value with instances of its own: assignments to their fields do not reach the original's.
Value detached(const Value &value);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_VALUES_VALUE_H
