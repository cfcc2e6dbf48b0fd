// Attributes of the source's classes and instances, of functions and of modules.

#include "compiler/Sema/Host/Interpreter.h"
#include "compiler/Sema/Tensors/Attributes.h"

namespace kiln::sema {
namespace {

/// "property", "classmethod" or "staticmethod" of what a class body made with them; "" of others.
llvm::StringRef descriptorKind(const Value &member) {
  if (!member.is(ValueKind::Instance) || !member.as<InstanceObject>().cls.isNone())
    return "";
  llvm::StringRef kind = member.as<InstanceObject>().typeName;
  return kind == "property" || kind == "classmethod" || kind == "staticmethod" ? kind : "";
}

} // namespace

/// A member of a class as `self`, an instance of it or none, sees it.
static Value asSeen(HostInterpreter &host, const Value &member, const Value &self, const Value &cls,
                    llvm::StringRef name) {
  llvm::StringRef kind = descriptorKind(member);
  if (kind == "staticmethod")
    return member.as<InstanceObject>().fields.front().second;
  if (kind == "classmethod")
    return bindMethod(cls, member.as<InstanceObject>().fields.front().second, name);
  if (kind == "property")
    return self.isError()
               ? member
               : host.call(member.as<InstanceObject>().fields.front().second, {self}, {});
  return member.is(ValueKind::Function) && !self.isError() ? bindMethod(self, member, name)
                                                           : member;
}

static std::optional<Value> enumAttribute(const Value &base, llvm::StringRef name) {
  if (base.is(ValueKind::Instance)) {
    const auto &instance = base.as<InstanceObject>();
    if (name == "name" || name == "value")
      return *instance.find(name == "name" ? "_name_" : "_value_");
    return std::nullopt;
  }
  if (name != "__members__")
    return std::nullopt;
  auto dict = std::make_shared<DictObject>();
  for (const Value &member : base.as<ClassObject>().enumerators)
    dict->items.emplace_back(*member.as<InstanceObject>().find("_name_"), member);
  return Value(ValueKind::Dict, dict);
}

Value HostInterpreter::getAttribute(const Value &base, llvm::StringRef name) {
  std::optional<Value> found;
  switch (base.getKind()) {
  case ValueKind::Opaque: {
    auto object = std::make_shared<OpaqueObject>(base.as<OpaqueObject>());
    if (!object->cause)
      object->path += (name.starts_with("[") ? "" : ".") + name.str();
    return {ValueKind::Opaque, object};
  }
  case ValueKind::Class:
    return classAttribute(base, name);
  case ValueKind::Instance:
    found = instanceAttribute(base, name);
    break;
  case ValueKind::Function:
    found = functionAttribute(base.as<FunctionObject>(), name);
    break;
  case ValueKind::Builtin:
    if (name != "__name__")
      return unknown(base.as<BuiltinObject>().info->getQualifiedName() + "." + name);
    break;
  case ValueKind::BoundMethod:
    if (name == "__self__")
      return base.as<BoundMethodObject>().self;
    if (name == "__func__")
      return base.as<BoundMethodObject>().function;
    if (name == "__name__")
      return Value::string(base.as<BoundMethodObject>().name);
    break;
  case ValueKind::Tuple:
    found = tupleAttribute(base, name);
    break;
  default:
    break;
  }
  return found ? *found : core->getAttribute(base, name);
}

Value HostInterpreter::classAttribute(const Value &base, llvm::StringRef name) {
  const auto &cls = base.as<ClassObject>();
  if (cls.isEnum)
    if (std::optional<Value> value = enumAttribute(base, name))
      return *value;
  if (const Value *member = cls.find(name))
    return asSeen(*this, *member, Value(), base, name);
  if (name == "__name__" || name == "__qualname__")
    return Value::string(cls.name);
  if (name == "__bases__")
    return Value::tuple(cls.bases);
  if (name == "__mro__") {
    std::vector<Value> order;
    for (const auto &parent : cls.order)
      order.push_back(Value(ValueKind::Class, parent));
    return Value::tuple(order);
  }
  if (name == "__doc__" || name == "__module__" || name == "__dict__" ||
      name == "__annotations__" || name == "__subclasses__" || cls.hasUnknownBase)
    return unknown(cls.name + "." + name);
  return core->error(DiagKind::SemaUnknownAttribute, describe(base), name);
}

static Value madeInstance(llvm::StringRef typeName) {
  auto object = std::make_shared<InstanceObject>();
  object->cls = Value::none();
  object->typeName = typeName.str();
  return {ValueKind::Instance, object};
}

/// Of `super()`: a member of the classes behind that of the method.
Value HostInterpreter::superAttribute(const InstanceObject &super, llvm::StringRef name) {
  const Value &self = *super.find("self");
  Value selfClass = self.is(ValueKind::Instance) ? self.as<InstanceObject>().cls : self;
  const auto *from = &super.find("from")->as<ClassObject>();
  bool behind = false;
  for (const auto &parent : selfClass.as<ClassObject>().order) {
    if (behind)
      if (auto found = parent->members.find(name); found != parent->members.end())
        return asSeen(*this, found->second, self, selfClass, name);
    behind |= parent.get() == from;
  }
  if (name == "__new__")
    return madeInstance("object.__new__");
  return unknown(name.starts_with("__init") ? "super()" : "super()." + name);
}

/// Empty for what all instances have.
std::optional<Value> HostInterpreter::instanceAttribute(const Value &base, llvm::StringRef name) {
  const auto &instance = base.as<InstanceObject>();
  if (instance.typeName == "super" && instance.cls.isNone())
    return superAttribute(instance, name);
  if (descriptorKind(base) == "property" && name == "setter") {
    Value setter = madeInstance("property.setter");
    setter.as<InstanceObject>().set("property", base);
    return setter;
  }
  if (!instance.cls.is(ValueKind::Class))
    return std::nullopt;
  const auto &cls = instance.cls.as<ClassObject>();
  const Value *member = cls.find(name);
  if (member && descriptorKind(*member) == "property")
    return asSeen(*this, *member, base, instance.cls, name);
  if (const Value *field = instance.find(name))
    return *field;
  if (cls.isEnum)
    if (std::optional<Value> value = enumAttribute(base, name))
      return *value;
  if (member)
    return asSeen(*this, *member, base, instance.cls, name);
  if (name == "__class__")
    return instance.cls;
  if (name == "__dict__") {
    auto dict = std::make_shared<DictObject>();
    for (const auto &[field, value] : instance.fields)
      dict->items.emplace_back(Value::string(field), value);
    return Value(ValueKind::Dict, dict);
  }
  if (cls.find("__getattr__"))
    return *special(base, "__getattr__", {Value::string(name)});
  if (cls.hasUnknownBase)
    return unknown(instance.typeName + "." + name);
  return core->error(DiagKind::SemaUnknownAttribute, describe(base), name);
}

/// Empty for what all functions have.
std::optional<Value> HostInterpreter::functionAttribute(const FunctionObject &function,
                                                        llvm::StringRef name) {
  if (auto found = function.attributes.find(name); found != function.attributes.end())
    return found->second;
  if (name == "__name__" || name == "__qualname__" || name == "fn" || name == "__wrapped__")
    return std::nullopt;
  bool isUnknown =
      function.mode == FunctionMode::Kernel || name.starts_with("__") || name.starts_with("cache_");
  return isUnknown ? std::optional(unknown(function.getName() + "." + name)) : std::nullopt;
}

/// Of named tuples; empty for what all tuples have, and for their elements.
std::optional<Value> HostInterpreter::tupleAttribute(const Value &base, llvm::StringRef name) {
  const Value &cls = base.as<SequenceObject>().cls;
  const auto &fields = base.as<SequenceObject>().fields;
  if (fields.empty())
    return std::nullopt;
  if (name == "_fields") {
    std::vector<Value> names;
    for (const std::string &field : fields)
      names.push_back(Value::string(field));
    return Value::tuple(std::move(names));
  }
  if (name == "_asdict" || name == "_replace" || name == "_make")
    return bindMethod(base, Value::none(), name);
  if (cls.is(ValueKind::Class) && !llvm::is_contained(fields, name))
    if (const Value *member = cls.as<ClassObject>().find(name))
      return asSeen(*this, *member, base, cls, name);
  return std::nullopt;
}

bool HostInterpreter::hasNoAttribute(const Value &base, llvm::StringRef name) {
  core->error(DiagKind::SemaUnknownAttribute, describe(base), name);
  return false;
}

bool HostInterpreter::setIn(Environment &names, const Value &base, llvm::StringRef name,
                            const Value &value) {
  if (!value.isError()) {
    names[intern(name)] = value;
    return true;
  }
  auto found = names.find(name);
  if (found == names.end())
    return hasNoAttribute(base, name);
  names.erase(found);
  return true;
}

bool HostInterpreter::setInInstance(const Value &base, llvm::StringRef name, const Value &value) {
  bool isDeleted = value.isError();
  auto &instance = base.as<InstanceObject>();
  if (instance.cls.is(ValueKind::Class)) {
    const auto &cls = instance.cls.as<ClassObject>();
    if (cls.isFrozen && cls.isDataclass)
      return raise("AttributeError", "cannot assign to field '" + name + "'"), false;
    const Value *member = cls.find(name);
    if (member && descriptorKind(*member) == "property") {
      const Value *setter = member->as<InstanceObject>().find("setter");
      if (!setter)
        return raise("AttributeError", "property '" + name + "' has no setter"), false;
      settle(call(*setter, {base, value}, {}));
      return !core->failed();
    }
    if (cls.find("__setattr__") && !isDeleted) {
      special(base, "__setattr__", {Value::string(name), value});
      return !core->failed();
    }
  }
  if (!isDeleted) {
    instance.set(name, value);
    return true;
  }
  size_t before = instance.fields.size();
  llvm::erase_if(instance.fields, [&](const auto &field) { return field.first == name; });
  return instance.fields.size() != before || hasNoAttribute(base, name);
}

/// `base.name = value`; an Error value deletes the attribute.
bool HostInterpreter::setAttribute(const Value &base, llvm::StringRef name, const Value &value) {
  willChange(base);
  switch (base.getKind()) {
  case ValueKind::Opaque:
  case ValueKind::Builtin:
  case ValueKind::BoundMethod:
    return true;
  case ValueKind::Instance:
    return setInInstance(base, name, value);
  case ValueKind::Class:
    return setIn(base.as<ClassObject>().members, base, name, value);
  case ValueKind::Function:
    return setIn(base.as<FunctionObject>().attributes, base, name, value);
  case ValueKind::Module: {
    ModuleState *state = base.as<ModuleObject>().state;
    if (!state)
      return true;
    journal.willWrite(state->scope);
    return setIn(state->scope->names, base, name, value);
  }
  default:
    return hasNoAttribute(base, name);
  }
}

} // namespace kiln::sema
