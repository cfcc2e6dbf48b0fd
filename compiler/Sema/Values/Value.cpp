#include "compiler/Sema/Values/Value.h"

#include "compiler/Sema/Values/Builtin.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <set>

namespace kiln::sema {

llvm::StringRef getKindName(ValueKind kind) {
  static constexpr llvm::StringLiteral names[] = {
      "error",         "undefined",  "None",  "bool",     "int",
      "float",         "str",        "...",   "dtype",    "tensor",
      "block pointer", "descriptor", "tuple", "list",     "set",
      "dict",          "slice",      "range", "function", "function",
      "method",        "module",     "class", "object",   "unevaluated value"};
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
  return {ValueKind::Tensor, make<TensorObject>([&](auto &object) {
            object.tensor = {ir, std::move(type)};
          })};
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

void InstanceObject::set(llvm::StringRef name, Value value) {
  for (auto &field : fields)
    if (field.first == name) {
      field.second = std::move(value);
      return;
    }
  fields.emplace_back(name.str(), std::move(value));
}

const Value *ClassObject::find(llvm::StringRef member) const {
  for (const std::shared_ptr<ClassObject> &cls : order)
    if (auto found = cls->members.find(member); found != cls->members.end())
      return &found->second;
  return nullptr;
}

bool ClassObject::derivesFrom(const ClassObject &other) const {
  return llvm::any_of(order, [&](const auto &cls) { return cls.get() == &other; });
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

//===----------------------------------------------------------------------===//
// Two states of one object
//===----------------------------------------------------------------------===//

/// A name that only one of the two has is kept: were it not there, the program would not read it.
static void mergeNames(Environment &names, const Environment &other, Object::Combine combine) {
  for (const auto &[name, value] : other)
    if (auto found = names.find(name); found != names.end())
      found->second = combine(found->second, value, name);
    else
      names[name] = value;
}

void SequenceObject::merge(const Object &object, Combine combine,
                           const std::shared_ptr<OpaqueObject> &why) {
  const auto &other = static_cast<const SequenceObject &>(object);
  if (elements.size() != other.elements.size()) {
    lost = why;
    return;
  }
  for (auto [mine, its] : llvm::zip(elements, other.elements))
    mine = combine(mine, its, "");
}

void DictObject::merge(const Object &object, Combine combine,
                       const std::shared_ptr<OpaqueObject> &why) {
  const auto &other = static_cast<const DictObject &>(object);
  bool hasSameKeys = items.size() == other.items.size() &&
                     llvm::all_of(llvm::zip(items, other.items), [](auto pair) {
                       return isIdentical(std::get<0>(pair).first, std::get<1>(pair).first);
                     });
  if (!hasSameKeys) {
    lost = why;
    return;
  }
  for (auto [mine, its] : llvm::zip(items, other.items))
    mine.second = combine(mine.second, its.second, "");
}

void Scope::merge(const Object &other, Combine combine, const std::shared_ptr<OpaqueObject> &) {
  mergeNames(names, static_cast<const Scope &>(other).names, combine);
}

void FunctionObject::merge(const Object &other, Combine combine,
                           const std::shared_ptr<OpaqueObject> &) {
  mergeNames(attributes, static_cast<const FunctionObject &>(other).attributes, combine);
}

void ClassObject::merge(const Object &other, Combine combine,
                        const std::shared_ptr<OpaqueObject> &) {
  mergeNames(members, static_cast<const ClassObject &>(other).members, combine);
}

void InstanceObject::merge(const Object &other, Combine combine,
                           const std::shared_ptr<OpaqueObject> &) {
  for (const auto &[name, value] : static_cast<const InstanceObject &>(other).fields) {
    const Value *mine = find(name);
    set(name, mine ? combine(*mine, value, name) : value);
  }
}

Value known(const Value &value) {
  if (!value.getObject() || !value.getObject()->lost)
    return value;
  return {ValueKind::Opaque, value.getObject()->lost};
}

static std::shared_ptr<OpaqueObject> findUnknown(const Value &value,
                                                 std::set<const Object *> &visited) {
  if (value.isOpaque())
    return value.share<OpaqueObject>();
  const std::shared_ptr<Object> &object = value.getObject();
  if (!object || !visited.insert(object.get()).second)
    return nullptr;
  if (object->lost)
    return object->lost;
  std::vector<Value> parts;
  if (value.isSequence())
    parts = value.getElements();
  else if (value.is(ValueKind::Dict))
    for (const auto &[key, item] : value.as<DictObject>().items) {
      parts.push_back(key);
      parts.push_back(item);
    }
  else if (value.is(ValueKind::Instance))
    for (const auto &field : value.as<InstanceObject>().fields)
      parts.push_back(field.second);
  for (const Value &part : parts)
    if (auto found = findUnknown(part, visited))
      return found;
  return nullptr;
}

std::shared_ptr<OpaqueObject> findUnknown(const Value &value) {
  std::set<const Object *> visited;
  return findUnknown(value, visited);
}

} // namespace kiln::sema
