// Operators of host code: of the source's own classes, of containers in place, and of what is not
// known. Everything else is the Evaluator's.

#include "compiler/Sema/Host/Interpreter.h"

namespace kiln::sema {
namespace {

llvm::StringRef methodOf(ast::BinaryOp op) {
  using ast::BinaryOp;
  switch (op) {
  case BinaryOp::Add:
    return "add";
  case BinaryOp::Sub:
    return "sub";
  case BinaryOp::Mul:
    return "mul";
  case BinaryOp::Div:
    return "truediv";
  case BinaryOp::FloorDiv:
    return "floordiv";
  case BinaryOp::Mod:
    return "mod";
  case BinaryOp::Pow:
    return "pow";
  case BinaryOp::BitAnd:
    return "and";
  case BinaryOp::BitOr:
    return "or";
  case BinaryOp::BitXor:
    return "xor";
  case BinaryOp::ShiftLeft:
    return "lshift";
  case BinaryOp::ShiftRight:
    return "rshift";
  default:
    return "matmul";
  }
}

llvm::StringRef methodOf(ast::CompareOp op) {
  using ast::CompareOp;
  switch (op) {
  case CompareOp::Equal:
    return "__eq__";
  case CompareOp::NotEqual:
    return "__ne__";
  case CompareOp::Less:
    return "__lt__";
  case CompareOp::LessEqual:
    return "__le__";
  case CompareOp::Greater:
    return "__gt__";
  case CompareOp::GreaterEqual:
    return "__ge__";
  default:
    return "";
  }
}

ast::CompareOp mirrored(ast::CompareOp op) {
  using ast::CompareOp;
  switch (op) {
  case CompareOp::Less:
    return CompareOp::Greater;
  case CompareOp::LessEqual:
    return CompareOp::GreaterEqual;
  case CompareOp::Greater:
    return CompareOp::Less;
  case CompareOp::GreaterEqual:
    return CompareOp::LessEqual;
  default:
    return op;
  }
}

bool isObject(const Value &value) {
  return value.is(ValueKind::Instance) && value.as<InstanceObject>().cls.is(ValueKind::Class);
}

/// Members of enumerations that derive from int or str are what they are worth.
Value worth(const Value &value) {
  if (!isObject(value))
    return value;
  const auto &instance = value.as<InstanceObject>();
  const auto &cls = instance.cls.as<ClassObject>();
  const Value *content = instance.find("_value_");
  return cls.isEnum && !cls.isPlainEnum && content ? *content : value;
}

} // namespace

std::optional<Value> HostInterpreter::special(const Value &object, llvm::StringRef method,
                                              std::vector<Value> args) {
  if (!isObject(object) || !object.as<InstanceObject>().cls.as<ClassObject>().find(method))
    return std::nullopt;
  Value bound = getAttribute(object, method);
  return core->failed() ? Value() : settle(call(bound, std::move(args), {}));
}

static bool isNotImplemented(const Value &value) {
  return value.isOpaque() && value.as<OpaqueObject>().path == "NotImplemented";
}

Value HostInterpreter::binary(ast::BinaryOp op, const Value &givenLeft, const Value &givenRight) {
  Value left = worth(givenLeft), right = worth(givenRight);
  std::string name = methodOf(op).str();
  if (std::optional<Value> result = special(left, "__" + name + "__", {right}))
    if (core->failed() || !isNotImplemented(*result))
      return *result;
  if (std::optional<Value> result = special(right, "__r" + name + "__", {left}))
    if (core->failed() || !isNotImplemented(*result))
      return *result;
  if (left.isTensor() || right.isTensor())
    return core->error(DiagKind::SemaNotJit, "an operator");
  if (left.isOpaque() || right.isOpaque())
    return left.isOpaque() ? left : right;
  if (left.isString() && op == ast::BinaryOp::Mod)
    if (std::shared_ptr<OpaqueObject> why = findUnknown(right))
      return {ValueKind::Opaque, why};
  return core->tensors().binary(op, left, right);
}

/// `left op= right`: lists, sets and dicts change; everything else makes a new value.
Value HostInterpreter::binaryInPlace(ast::BinaryOp op, const Value &left, const Value &right) {
  using ast::BinaryOp;
  std::string name = methodOf(op).str();
  if (std::optional<Value> result = special(left, "__i" + name + "__", {right}))
    return *result;
  bool isListUpdate = left.is(ValueKind::List) && (op == BinaryOp::Add || op == BinaryOp::Mul);
  bool isSetUpdate = left.is(ValueKind::Set) && !left.as<SequenceObject>().isFrozen;
  bool isDictUpdate = left.is(ValueKind::Dict) && op == BinaryOp::BitOr;
  if (!isListUpdate && !isSetUpdate && !isDictUpdate)
    return binary(op, left, right);
  willChange(left);
  if (right.isOpaque()) {
    left.getObject()->lost = right.share<OpaqueObject>();
    return left;
  }
  Value operand = right;
  if (isListUpdate && op == BinaryOp::Add) {
    std::optional<std::vector<Value>> items = iterate(right);
    if (!items)
      return Value();
    operand = Value::list(std::move(*items));
  }
  Value result = core->tensors().binary(op, left, operand);
  if (core->failed())
    return Value();
  if (isDictUpdate)
    left.as<DictObject>().items = result.as<DictObject>().items;
  else
    left.getElements() = result.getElements();
  return left;
}

Value HostInterpreter::unary(ast::UnaryOp op, const Value &given) {
  Value operand = worth(given);
  if (op == ast::UnaryOp::Not) {
    Value why;
    std::optional<bool> answer = truth(operand, &why);
    return core->failed() ? Value() : answer ? Value::boolean(!*answer) : why;
  }
  llvm::StringRef name = op == ast::UnaryOp::Minus    ? "__neg__"
                         : op == ast::UnaryOp::Invert ? "__invert__"
                                                      : "__pos__";
  if (std::optional<Value> result = special(operand, name, {}))
    return *result;
  if (operand.isTensor())
    return core->error(DiagKind::SemaNotJit, "an operator");
  return core->tensors().unary(op, operand);
}

/// What the source's classes say about a comparison; Error where they say nothing.
Value HostInterpreter::compareObjects(ast::CompareOp op, const Value &left, const Value &right) {
  using ast::CompareOp;
  for (bool swapped : {false, true}) {
    const Value &self = swapped ? right : left, &other = swapped ? left : right;
    std::optional<Value> result = special(self, methodOf(swapped ? mirrored(op) : op), {other});
    if (core->failed() || (result && !isNotImplemented(*result)))
      return result.value_or(Value());
  }
  if (op == CompareOp::NotEqual) {
    Value equal = compareObjects(CompareOp::Equal, left, right);
    return core->failed() || equal.isError() ? equal : unary(ast::UnaryOp::Not, equal);
  }
  if (!isObject(left) || !isObject(right))
    return Value();
  const auto &a = left.as<InstanceObject>(), &b = right.as<InstanceObject>();
  const auto &cls = a.cls.as<ClassObject>();
  if (!cls.isDataclass || !a.cls.sharesObject(b.cls) ||
      (op != CompareOp::Equal && !cls.comparesFields))
    return Value();
  std::vector<Value> fieldsA, fieldsB;
  for (const auto &field : a.fields)
    fieldsA.push_back(field.second);
  for (const auto &field : b.fields)
    fieldsB.push_back(field.second);
  return compare(op, Value::tuple(fieldsA), Value::tuple(fieldsB));
}

/// `is`, `is not`.
Value HostInterpreter::compareIdentity(ast::CompareOp op, const Value &left, const Value &right) {
  const Value &opaque = left.isOpaque() ? left : right;
  bool isSame = left.sharesObject(right);
  if (opaque.isOpaque() && !isSame) {
    const Value &other = left.isOpaque() ? right : left;
    if (!(opaque.as<OpaqueObject>().isSomething && other.isNone()))
      return opaque;
  }
  bool hasIdentity = left.getObject() && left.getKind() == right.getKind() &&
                     (left.isSequence() || left.is(ValueKind::Dict) ||
                      left.is(ValueKind::Instance) || left.is(ValueKind::Iterator));
  if (hasIdentity)
    return Value::boolean(isSame == (op == ast::CompareOp::Is));
  return core->tensors().compare(op, left, right);
}

/// `in`, `not in`.
Value HostInterpreter::compareMember(ast::CompareOp op, const Value &left, const Value &right) {
  bool isWanted = op == ast::CompareOp::In;
  if (std::optional<Value> result = special(right, "__contains__", {left})) {
    Value why;
    std::optional<bool> answer = core->failed() ? std::nullopt : truth(*result, &why);
    return core->failed() ? Value() : answer ? Value::boolean(*answer == isWanted) : why;
  }
  if (right.isOpaque())
    return right;
  if (std::shared_ptr<OpaqueObject> why = findUnknown(left))
    return {ValueKind::Opaque, why};
  if (right.isString() || right.is(ValueKind::Module))
    return core->tensors().compare(op, left, right);
  std::optional<std::vector<Value>> items = iterate(right);
  Value doubt;
  for (const Value &item : items.value_or(std::vector<Value>())) {
    Value equal = item.sharesObject(left) ? Value::boolean(true)
                                          : settle(compare(ast::CompareOp::Equal, item, left));
    Value why;
    std::optional<bool> answer = core->failed() ? std::nullopt : truth(equal, &why);
    if (core->failed())
      return Value();
    if (!answer)
      doubt = why;
    else if (*answer)
      return Value::boolean(isWanted);
  }
  if (!items || doubt.isOpaque())
    return items ? doubt : Value();
  return Value::boolean(!isWanted);
}

Value HostInterpreter::compare(ast::CompareOp op, const Value &givenLeft, const Value &givenRight) {
  using ast::CompareOp;
  if (op == CompareOp::Is || op == CompareOp::IsNot)
    return compareIdentity(op, givenLeft, givenRight);
  if (op == CompareOp::In || op == CompareOp::NotIn)
    return compareMember(op, givenLeft, givenRight);
  Value result = compareObjects(op, givenLeft, givenRight);
  if (core->failed() || !result.isError())
    return result;
  Value left = worth(givenLeft), right = worth(givenRight);
  if (left.isTensor() || right.isTensor())
    return core->error(DiagKind::SemaNotJit, "a comparison");
  for (const Value &operand : {left, right})
    if (std::shared_ptr<OpaqueObject> why = findUnknown(operand))
      return {ValueKind::Opaque, why};
  return core->tensors().compare(op, left, right);
}

std::optional<bool> HostInterpreter::truth(const Value &given, Value *unknown) {
  Value value = known(worth(given));
  if (value.isOpaque()) {
    *unknown = value;
    return std::nullopt;
  }
  for (llvm::StringRef method : {"__bool__", "__len__"})
    if (std::optional<Value> answer = special(value, method, {}))
      return core->failed() ? std::nullopt : truth(*answer, unknown);
  if (value.is(ValueKind::Range))
    return core->call(core->tensors().builtins().get(Library::Python, "len"), {value}, {})
               .getInt() != 0;
  return core->tensors().truth(value);
}

Value HostInterpreter::subscript(const Value &base, const Value &index) {
  if (base.isOpaque()) {
    auto path = base.as<OpaqueObject>().path + "[...]";
    auto object = std::make_shared<OpaqueObject>(base.as<OpaqueObject>());
    object->path = object->cause ? object->path : path;
    return {ValueKind::Opaque, object};
  }
  if (base.is(ValueKind::Class) && base.as<ClassObject>().isEnum && index.isString()) {
    for (const Value &member : base.as<ClassObject>().enumerators)
      if (str(*member.as<InstanceObject>().find("_name_")) == index.getString())
        return member;
    return raise("KeyError", repr(index));
  }
  if (std::optional<Value> item = special(base, "__getitem__", {index}))
    return *item;
  if (base.isSequence() || base.is(ValueKind::Dict) || base.isString() || base.is(ValueKind::Range))
    if (std::shared_ptr<OpaqueObject> why = findUnknown(index))
      return {ValueKind::Opaque, why};
  if (base.is(ValueKind::Dict) &&
      !core->unwinding().step(base.as<DictObject>().items.size() / searchedPerStep))
    return Value();
  return core->subscript(base, worth(index));
}

} // namespace kiln::sema
