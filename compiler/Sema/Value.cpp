#include "compiler/Sema/Value.h"

#include "compiler/Sema/Builtins.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace kiln::sema {

llvm::StringRef getKindName(ValueKind kind) {
  static constexpr llvm::StringLiteral names[] = {
      "error",    "undefined", "None",   "bool",   "int",           "float",
      "str",      "...",       "dtype",  "tensor", "block pointer", "tuple",
      "list",     "set",       "dict",   "slice",  "range",         "function",
      "function", "method",    "module", "class",  "object",        "unevaluated value"};
  return names[static_cast<size_t>(kind)];
}

template <typename T, typename Fill> static std::shared_ptr<T> make(Fill fill) {
  auto object = std::make_shared<T>();
  fill(*object);
  return object;
}

Value Value::boolean(bool value) {
  Value result(ValueKind::Bool);
  result.int128 = value;
  return result;
}
Value Value::integer(Int value) {
  Value result(ValueKind::Int);
  result.int128 = value;
  return result;
}
Value Value::real(double value) {
  Value result(ValueKind::Float);
  result.float64 = value;
  return result;
}
Value Value::string(const llvm::Twine &text) {
  return {ValueKind::String, make<StringObject>([&](auto &object) { object.text = text.str(); })};
}
Value Value::undefined(const llvm::Twine &reason) {
  return {ValueKind::Undefined,
          make<UndefinedObject>([&](auto &object) { object.reason = reason.str(); })};
}
Value Value::type(TensorType type) {
  return {ValueKind::Type, make<TypeObject>([&](auto &object) { object.type = std::move(type); })};
}
Value Value::tensor(mlir::Value ir, TensorType type) {
  if (!ir)
    return {};
  return {ValueKind::Tensor,
          make<TensorObject>([&](auto &object) { object.tensor = {ir, std::move(type)}; })};
}
Value Value::tuple(std::vector<Value> elements) {
  return {ValueKind::Tuple,
          make<SequenceObject>([&](auto &object) { object.elements = std::move(elements); })};
}
Value Value::list(std::vector<Value> elements) {
  return {ValueKind::List,
          make<SequenceObject>([&](auto &object) { object.elements = std::move(elements); })};
}
Value Value::opaque(const llvm::Twine &path) {
  return {ValueKind::Opaque, make<OpaqueObject>([&](auto &object) { object.path = path.str(); })};
}
Value Value::builtin(const BuiltinInfo &info) {
  return {ValueKind::Builtin, make<BuiltinObject>([&](auto &object) { object.info = &info; })};
}

llvm::StringRef Value::getString() const { return as<StringObject>().text; }
const TensorType &Value::getType() const { return as<TypeObject>().type; }
Tensor Value::getTensor() const { return as<TensorObject>().tensor; }
std::vector<Value> &Value::getElements() const { return as<SequenceObject>().elements; }

const Value *InstanceObject::find(llvm::StringRef name) const {
  for (const auto &field : fields)
    if (field.first == name)
      return &field.second;
  return nullptr;
}

static std::string floatRepr(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // The shortest text that reads back as the same number.
  for (int digits = 1; digits <= 17; ++digits) {
    std::string text;
    char buffer[40];
    snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (std::strtod(buffer, nullptr) == value) {
      text = buffer;
      if (text.find_first_of(".en") == std::string::npos)
        text += ".0";
      return text;
    }
  }
  return "0.0";
}

static std::string join(const std::vector<Value> &elements) {
  std::string text;
  for (const Value &element : elements)
    text += (text.empty() ? "" : ", ") + repr(element);
  return text;
}

static std::string dictRepr(const DictObject &dict) {
  std::string text = "{";
  for (const auto &[key, value] : dict.items)
    text += (text.size() > 1 ? ", " : "") + repr(key) + ": " + repr(value);
  return text + "}";
}

static std::string functionRepr(const Value &value) {
  if (value.is(ValueKind::Function))
    return "function '" + value.as<FunctionObject>().getName().str() + "'";
  if (value.is(ValueKind::Builtin))
    return "function '" + value.as<BuiltinObject>().info->name.str() + "'";
  return "method '" + value.as<BoundMethodObject>().name + "'";
}

std::string repr(const Value &value) {
  switch (value.getKind()) {
  case ValueKind::Bool:
    return value.getBool() ? "True" : "False";
  case ValueKind::Int:
    return toString(value.getInt());
  case ValueKind::Float:
    return floatRepr(value.getReal());
  case ValueKind::String:
    return "'" + value.getString().str() + "'";
  case ValueKind::Type:
    return value.getType().str();
  case ValueKind::Tensor:
    return "tensor " + value.getTensor().type.str();
  case ValueKind::Tuple:
    return "(" + join(value.getElements()) + (value.getElements().size() == 1 ? ",)" : ")");
  case ValueKind::List:
    return "[" + join(value.getElements()) + "]";
  case ValueKind::Set:
    return "{" + join(value.getElements()) + "}";
  case ValueKind::Dict:
    return dictRepr(value.as<DictObject>());
  case ValueKind::Function:
  case ValueKind::Builtin:
  case ValueKind::BoundMethod:
    return functionRepr(value);
  case ValueKind::Module:
    return "module '" + value.as<ModuleObject>().path + "'";
  case ValueKind::Class:
    return "class '" + value.as<ClassObject>().definition->name.name.str() + "'";
  case ValueKind::Instance:
    return value.as<InstanceObject>().typeName;
  case ValueKind::Opaque:
    return "'" + value.as<OpaqueObject>().path + "'";
  case ValueKind::BlockPointer: {
    const auto &pointer = value.as<BlockPointerObject>();
    return "block pointer to " +
           TensorType(pointer.base.dtype().getPointee(), pointer.blockShape).str();
  }
  default:
    return getKindName(value.getKind()).str();
  }
}

static Value typeInstance(llvm::StringRef typeName, llvm::StringRef field, Value value) {
  auto object = std::make_shared<InstanceObject>();
  object->cls = Value::none();
  object->typeName = typeName.str();
  object->fields.emplace_back(field.str(), std::move(value));
  return {ValueKind::Instance, object};
}

Value constexprType(const Value &value) { return typeInstance("constexpr_type", "value", value); }
Value tupleType(std::vector<Value> types) {
  return typeInstance("tuple_type", "types", Value::tuple(std::move(types)));
}

std::string str(const Value &value) {
  return value.isString() ? value.getString().str() : repr(value);
}

std::string describe(const Value &value) {
  if (value.is(ValueKind::Int) || value.is(ValueKind::Float))
    return getKindName(value.getKind()).str() + " " + repr(value);
  return repr(value);
}

static std::optional<bool> isEqualSequence(const std::vector<Value> &a,
                                           const std::vector<Value> &b) {
  if (a.size() != b.size())
    return false;
  for (auto [left, right] : llvm::zip(a, b)) {
    std::optional<bool> equal = isEqual(left, right);
    if (!equal || !*equal)
      return equal;
  }
  return true;
}

/// Instances of classes of the source are equal to themselves only.
static bool isEqualType(const InstanceObject &a, const InstanceObject &b) {
  return a.cls.isNone() && b.cls.isNone() && a.typeName == b.typeName &&
         llvm::equal(a.fields, b.fields, [](const auto &x, const auto &y) {
           return x.first == y.first && isEqual(x.second, y.second).value_or(false);
         });
}

static bool isEqualObject(const Value &a, const Value &b) {
  switch (a.getKind()) {
  case ValueKind::None:
  case ValueKind::Ellipsis:
    return true;
  case ValueKind::String:
    return a.getString() == b.getString();
  case ValueKind::Type:
    return a.getType() == b.getType();
  case ValueKind::Function:
    return a.as<FunctionObject>().definition == b.as<FunctionObject>().definition &&
           a.as<FunctionObject>().lambda == b.as<FunctionObject>().lambda;
  case ValueKind::Builtin:
    return a.as<BuiltinObject>().info == b.as<BuiltinObject>().info;
  case ValueKind::Module:
    return a.as<ModuleObject>().state == b.as<ModuleObject>().state &&
           a.as<ModuleObject>().path == b.as<ModuleObject>().path;
  case ValueKind::Class:
    return a.as<ClassObject>().definition == b.as<ClassObject>().definition;
  case ValueKind::Instance:
    return a.sharesObject(b) || isEqualType(a.as<InstanceObject>(), b.as<InstanceObject>());
  default:
    return a.sharesObject(b);
  }
}

std::optional<bool> isEqual(const Value &a, const Value &b) {
  if (a.isTensor() || b.isTensor() || a.isOpaque() || b.isOpaque())
    return std::nullopt;
  if (a.isNumber() && b.isNumber()) {
    if (a.isIntegral() && b.isIntegral())
      return a.getInt() == b.getInt();
    return a.getReal() == b.getReal();
  }
  if (a.getKind() != b.getKind())
    return false;
  if (a.isSequence())
    return isEqualSequence(a.getElements(), b.getElements());
  if (a.is(ValueKind::Dict)) {
    const auto &left = a.as<DictObject>().items, &right = b.as<DictObject>().items;
    if (left.size() != right.size())
      return false;
    for (auto [x, y] : llvm::zip(left, right))
      if (!isEqual(x.first, y.first).value_or(false) ||
          !isEqual(x.second, y.second).value_or(false))
        return false;
    return true;
  }
  return isEqualObject(a, b);
}

static bool isIdenticalSequence(const std::vector<Value> &a, const std::vector<Value> &b) {
  if (a.size() != b.size())
    return false;
  for (auto [left, right] : llvm::zip(a, b))
    if (!isIdentical(left, right))
      return false;
  return true;
}

static bool isIdenticalInstance(const InstanceObject &a, const InstanceObject &b) {
  if (a.typeName != b.typeName || a.fields.size() != b.fields.size())
    return false;
  for (auto [left, right] : llvm::zip(a.fields, b.fields))
    if (left.first != right.first || !isIdentical(left.second, right.second))
      return false;
  return true;
}

bool isIdentical(const Value &a, const Value &b) {
  if (a.getKind() != b.getKind())
    return false;
  if (a.sharesObject(b))
    return true;
  switch (a.getKind()) {
  case ValueKind::Error:
    return true;
  case ValueKind::Undefined:
    return false;
  case ValueKind::Bool:
  case ValueKind::Int:
    return a.getInt() == b.getInt();
  case ValueKind::Float:
    return a.getReal() == b.getReal() || (std::isnan(a.getReal()) && std::isnan(b.getReal()));
  case ValueKind::Tensor:
    return a.getTensor().ir == b.getTensor().ir && a.getTensor().type == b.getTensor().type;
  case ValueKind::Tuple:
    return isIdenticalSequence(a.getElements(), b.getElements());
  case ValueKind::List:
  case ValueKind::Set:
  case ValueKind::Dict:
  case ValueKind::BlockPointer:
    return false;
  case ValueKind::Instance:
    return isIdenticalInstance(a.as<InstanceObject>(), b.as<InstanceObject>());
  case ValueKind::Opaque:
    return a.as<OpaqueObject>().path == b.as<OpaqueObject>().path;
  default:
    return isEqualObject(a, b);
  }
}

Value detached(const Value &value) {
  if (value.is(ValueKind::Instance)) {
    auto object = std::make_shared<InstanceObject>(value.as<InstanceObject>());
    for (auto &field : object->fields)
      field.second = detached(field.second);
    return {ValueKind::Instance, object};
  }
  if (!value.is(ValueKind::Tuple))
    return value;
  auto object = std::make_shared<SequenceObject>(value.as<SequenceObject>());
  for (Value &element : object->elements)
    element = detached(element);
  return {ValueKind::Tuple, object};
}

} // namespace kiln::sema
