// Whether values are equal, or the same.

#include "compiler/Sema/Values/Nesting.h"
#include "compiler/Sema/Values/Value.h"

namespace kiln::sema {

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
