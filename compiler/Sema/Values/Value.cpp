#include "compiler/Sema/Values/Value.h"

#include "compiler/Sema/Builtins/Builtins.h"

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

/// The shortest text that reads back as the same number, with an exponent where Python writes one.
static std::string floatRepr(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[40];
  for (int digits = 0; digits < 17; ++digits) {
    snprintf(buffer, sizeof buffer, "%.*e", digits, value);
    if (std::strtod(buffer, nullptr) == value)
      break;
  }
  auto [mantissa, power] = llvm::StringRef(buffer).split('e');
  int exponent = std::atoi(power.str().c_str());
  std::string sign = mantissa.consume_front("-") ? "-" : "", digits = mantissa.take_front().str();
  digits += mantissa.drop_front(std::min<size_t>(mantissa.size(), 2));
  if (exponent < -4 || exponent >= 16) {
    std::string text = sign + digits.substr(0, 1) + (digits.size() > 1 ? "." : "") +
                       digits.substr(1) + (exponent < 0 ? "e-" : "e+");
    return text + (std::abs(exponent) < 10 ? "0" : "") + std::to_string(std::abs(exponent));
  }
  if (exponent < 0)
    return sign + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  size_t whole = size_t(exponent) + 1;
  if (digits.size() <= whole)
    return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

/// In the quotes and with the escapes that Python chooses.
static std::string stringRepr(llvm::StringRef text) {
  char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  std::string result(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\')
      result += {'\\', c};
    else if (c == '\n' || c == '\t' || c == '\r')
      result += {'\\', c == '\n' ? 'n' : c == '\t' ? 't' : 'r'};
    else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      result += "\\x" + llvm::utohexstr(static_cast<unsigned char>(c), /*LowerCase=*/true, 2);
    else
      result += c;
  }
  return result + quote;
}

static std::string join(const std::vector<Value> &elements) {
  std::string text;
  for (const Value &element : elements)
    text += (text.empty() ? "" : ", ") + repr(element);
  return text;
}

static std::string recordRepr(const SequenceObject &record) {
  std::string text = record.cls.as<ClassObject>().name + "(";
  for (auto [field, element] : llvm::zip(record.fields, record.elements))
    text += (llvm::StringRef(text).ends_with("(") ? "" : ", ") + field + "=" + repr(element);
  return text + ")";
}

static std::string instanceRepr(const InstanceObject &instance) {
  if (!instance.cls.is(ValueKind::Class))
    return instance.typeName;
  const auto &cls = instance.cls.as<ClassObject>();
  const Value *name = instance.find("_name_"), *content = instance.find("_value_");
  if (cls.isEnum && name && content)
    return "<" + cls.name + "." + str(*name) + ": " + repr(*content) + ">";
  const Value *args = cls.definition ? nullptr : instance.find("args");
  if (args)
    return cls.name + (args->getElements().size() == 1
                           ? "(" + repr(args->getElements().front()) + ")"
                           : repr(*args));
  if (!cls.isDataclass)
    return instance.typeName;
  std::string text;
  for (const auto &[field, value] : instance.fields)
    text += (text.empty() ? "" : ", ") + field + "=" + repr(value);
  return cls.name + "(" + text + ")";
}

static std::string dictRepr(const DictObject &dict) {
  std::string text = "{";
  for (const auto &[key, value] : dict.items)
    text += (text.size() > 1 ? ", " : "") + repr(key) + ": " + repr(value);
  return text + "}";
}

/// As it is written: "10:", "::2".
static std::string sliceRepr(const SliceObject &slice) {
  auto part = [](const Value &value) { return value.isNone() ? "" : repr(value); };
  return part(slice.lower) + ":" + part(slice.upper) +
         (slice.step.isNone() ? "" : ":" + part(slice.step));
}

static std::string functionRepr(const Value &value) {
  if (value.is(ValueKind::Function))
    return "function '" + value.as<FunctionObject>().getName().str() + "'";
  if (value.is(ValueKind::Builtin))
    return "function '" + value.as<BuiltinObject>().info->name.str() + "'";
  return "method '" + value.as<BoundMethodObject>().name + "'";
}

namespace {
/// Counts calls of itself: containers can hold themselves.
struct Nesting {
  explicit Nesting(unsigned &depth) : depth(depth) { ++depth; }
  ~Nesting() { --depth; }
  bool isTooDeep() const { return depth > 100; }
  unsigned &depth;
};
} // namespace

std::string repr(const Value &value) {
  static thread_local unsigned depth = 0;
  Nesting nesting(depth);
  if (nesting.isTooDeep())
    return "...";
  switch (value.getKind()) {
  case ValueKind::Bool:
    return value.getBool() ? "True" : "False";
  case ValueKind::Int:
    return toString(value.getInt());
  case ValueKind::Float:
    return floatRepr(value.getReal());
  case ValueKind::String:
    return stringRepr(value.getString());
  case ValueKind::Type:
    return value.getType().str();
  case ValueKind::Tensor:
    return "tensor " + value.getTensor().type.str();
  case ValueKind::Tuple:
    if (value.as<SequenceObject>().cls.is(ValueKind::Class))
      return recordRepr(value.as<SequenceObject>());
    return "(" + join(value.getElements()) + (value.getElements().size() == 1 ? ",)" : ")");
  case ValueKind::List:
    return "[" + join(value.getElements()) + "]";
  case ValueKind::Set: {
    std::string text = value.getElements().empty() ? "" : "{" + join(value.getElements()) + "}";
    if (value.as<SequenceObject>().isFrozen)
      return "frozenset(" + text + ")";
    return text.empty() ? "set()" : text;
  }
  case ValueKind::Dict:
    return dictRepr(value.as<DictObject>());
  case ValueKind::Function:
  case ValueKind::Builtin:
  case ValueKind::BoundMethod:
    return functionRepr(value);
  case ValueKind::Module:
    return "module '" + value.as<ModuleObject>().path + "'";
  case ValueKind::Class:
    return "class '" + value.as<ClassObject>().name + "'";
  case ValueKind::Slice:
    return sliceRepr(value.as<SliceObject>());
  case ValueKind::Instance:
    return instanceRepr(value.as<InstanceObject>());
  case ValueKind::Opaque:
    return "'" + value.as<OpaqueObject>().path + "'";
  case ValueKind::BlockPointer: {
    const auto &pointer = value.as<BlockPointerObject>();
    return "block pointer to " +
           TensorType(pointer.base.dtype().getPointee(), pointer.blockShape).str();
  }
  case ValueKind::Descriptor:
    return "descriptor of " + value.as<DescriptorObject>().blockType().str();
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
  if (value.is(ValueKind::Instance) && value.as<InstanceObject>().cls.is(ValueKind::Class)) {
    const auto &instance = value.as<InstanceObject>();
    const auto &cls = instance.cls.as<ClassObject>();
    if (const Value *content = instance.find("_value_"); cls.isEnum && content)
      return cls.isPlainEnum ? cls.name + "." + str(*instance.find("_name_")) : str(*content);
    if (const Value *args = instance.find("args"); args && args->is(ValueKind::Tuple))
      return args->getElements().empty()       ? ""
             : args->getElements().size() == 1 ? str(args->getElements().front())
                                               : repr(*args);
  }
  return value.isString() ? value.getString().str() : repr(value);
}

std::string describe(const Value &value) {
  if (value.is(ValueKind::Int) || value.is(ValueKind::Float))
    return getKindName(value.getKind()).str() + " " + repr(value);
  if (value.is(ValueKind::Slice))
    return "the slice '" + repr(value) + "'";
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
           a.as<FunctionObject>().lambda == b.as<FunctionObject>().lambda &&
           a.as<FunctionObject>().scope == b.as<FunctionObject>().scope;
  case ValueKind::Builtin:
    return a.as<BuiltinObject>().info == b.as<BuiltinObject>().info;
  case ValueKind::Module:
    return a.as<ModuleObject>().state == b.as<ModuleObject>().state &&
           a.as<ModuleObject>().path == b.as<ModuleObject>().path;
  case ValueKind::Class:
    return a.sharesObject(b);
  case ValueKind::Instance:
    return a.sharesObject(b) || isEqualType(a.as<InstanceObject>(), b.as<InstanceObject>());
  default:
    return a.sharesObject(b);
  }
}

std::optional<bool> isEqual(const Value &a, const Value &b) {
  static thread_local unsigned depth = 0;
  Nesting nesting(depth);
  if (nesting.isTooDeep())
    return std::nullopt;
  if (a.isTensor() || b.isTensor() || a.isOpaque() || b.isOpaque())
    return std::nullopt;
  if ((a.getObject() && a.getObject()->lost) || (b.getObject() && b.getObject()->lost))
    return std::nullopt;
  if (a.isNumber() && b.isNumber()) {
    if (a.isIntegral() && b.isIntegral())
      return a.getInt() == b.getInt();
    return a.getReal() == b.getReal();
  }
  if (a.getKind() != b.getKind())
    return false;
  if (a.is(ValueKind::Set))
    return a.getElements().size() == b.getElements().size() &&
           llvm::all_of(a.getElements(), [&](const Value &one) {
             return llvm::any_of(b.getElements(), [&](const Value &other) {
               return isEqual(one, other).value_or(false);
             });
           });
  if (a.isSequence())
    return isEqualSequence(a.getElements(), b.getElements());
  if (a.is(ValueKind::Dict)) {
    const auto &left = a.as<DictObject>().items, &right = b.as<DictObject>().items;
    return left.size() == right.size() && llvm::all_of(left, [&](const auto &one) {
             return llvm::any_of(right, [&](const auto &other) {
               return isEqual(one.first, other.first).value_or(false) &&
                      isEqual(one.second, other.second).value_or(false);
             });
           });
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
  case ValueKind::Descriptor:
    return a.as<DescriptorObject>().ir == b.as<DescriptorObject>().ir;
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
