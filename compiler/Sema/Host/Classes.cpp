// Classes of the source: their bodies, enumerations, dataclasses and named tuples, and instances.

#include "compiler/Sema/Host/Interpreter.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {
namespace {

/// The order in which attributes are looked up: Python's C3. Empty when there is none.
std::vector<std::shared_ptr<ClassObject>> linearize(llvm::ArrayRef<Value> bases) {
  using Line = std::vector<std::shared_ptr<ClassObject>>;
  std::vector<Line> lines;
  Line own, result;
  for (const Value &base : bases)
    if (base.is(ValueKind::Class)) {
      lines.push_back(base.as<ClassObject>().order);
      own.push_back(base.share<ClassObject>());
    }
  lines.push_back(own);
  while (true) {
    llvm::erase_if(lines, [](const Line &line) { return line.empty(); });
    if (lines.empty())
      return result;
    auto isFree = [&](const std::shared_ptr<ClassObject> &cls) {
      return llvm::none_of(lines, [&](const Line &line) {
        return std::find(line.begin() + 1, line.end(), cls) != line.end();
      });
    };
    auto next = llvm::find_if(lines, [&](const Line &line) { return isFree(line.front()); });
    if (next == lines.end())
      return {};
    std::shared_ptr<ClassObject> cls = next->front();
    result.push_back(cls);
    for (Line &line : lines)
      if (line.front() == cls)
        line.erase(line.begin());
  }
}

/// What a base that is no class of the source means for the class.
void addBase(ClassObject &cls, const Value &base) {
  llvm::StringRef path;
  if (base.isOpaque())
    path = base.as<OpaqueObject>().path;
  else if (base.is(ValueKind::Builtin))
    path = base.as<BuiltinObject>().info->name;
  path.consume_front("enum.");
  path.consume_front("typing.");
  path = path.split('[').first;
  if (path == "Enum" || path == "Flag") {
    cls.isPlainEnum = !cls.isEnum;
    cls.isEnum = true;
  } else if (path == "IntEnum" || path == "IntFlag" || path == "StrEnum")
    cls.isEnum = true;
  else if (path == "NamedTuple")
    cls.isNamedTuple = true;
  else if (path == "int" || path == "str" || path == "float")
    // `class A(str, Enum)`: an Enum behind it makes it one.
    cls.hasUnknownBase = true;
  else
    cls.hasUnknownBase |= path != "Generic" && path != "Protocol" && path != "abc.ABC" &&
                          path != "object" && path != "ABC";
}

/// What a class is because of those that it derives from.
void inherit(ClassObject &object, llvm::ArrayRef<Value> bases) {
  bool hasMixin = false;
  for (const Value &base : bases) {
    hasMixin |= base.is(ValueKind::Builtin);
    if (!base.is(ValueKind::Class)) {
      addBase(object, base);
      continue;
    }
    const auto &parent = base.as<ClassObject>();
    object.isEnum |= parent.isEnum;
    object.isPlainEnum |= parent.isPlainEnum;
    object.isNamedTuple |= parent.isNamedTuple;
    object.isDataclass |= parent.isDataclass;
    object.isAggregate |= parent.isAggregate;
    object.hasUnknownBase |= parent.hasUnknownBase;
  }
  if (object.isEnum) {
    object.isPlainEnum &= !hasMixin;
    object.hasUnknownBase = false;
  }
}

/// Annotations of the classes that it derives from come first.
void gatherAnnotations(const std::shared_ptr<ClassObject> &object) {
  std::vector<std::pair<llvm::StringRef, const ast::Expr *>> own;
  std::swap(own, object->annotated);
  for (const auto &parent : llvm::reverse(object->order))
    for (const auto &field : parent.get() == object.get() ? own : parent->annotated) {
      auto known = llvm::find_if(object->annotated,
                                 [&](const auto &other) { return other.first == field.first; });
      if (known == object->annotated.end())
        object->annotated.push_back(field);
    }
}

} // namespace

Value HostInterpreter::makeClass(const ast::ClassDef &definition, std::vector<Value> bases,
                                 const std::shared_ptr<Scope> &scope) {
  auto object = std::make_shared<ClassObject>();
  object->name = definition.name.name.str();
  object->definition = &definition;
  object->module = current->module;
  inherit(*object, bases);
  object->bases = bases;
  object->order = linearize(bases);
  object->order.insert(object->order.begin(), object);
  Value cls(ValueKind::Class, object);

  Activation activation;
  activation.scope = scope;
  activation.module = current->module;
  activation.cls = object;
  {
    HostCall entered(*this, activation, definition.name.name);
    Exit exit = execute(definition.body);
    if (exit == Exit::Raised)
      return Value();
  }
  object->members = scope->names;
  gatherAnnotations(object);
  if (object->isEnum)
    makeEnumerators(cls);
  for (const auto &parent : llvm::ArrayRef(object->order).drop_front())
    if (auto hook = parent->members.find("__init_subclass__"); hook != parent->members.end()) {
      Value function = hook->second;
      if (function.is(ValueKind::Instance)) // classmethod
        function = function.as<InstanceObject>().fields.front().second;
      settle(call(function, {cls}, {}));
      break;
    }
  return core->failed() ? Value() : cls;
}

void HostInterpreter::makeEnumerators(const Value &cls) {
  auto &object = cls.as<ClassObject>();
  Int nextAuto = 1;
  for (auto &[name, value] : object.members) {
    bool isMember = !name.starts_with("_") && !value.is(ValueKind::Function) &&
                    !(value.is(ValueKind::Instance) && value.as<InstanceObject>().cls.isNone() &&
                      value.as<InstanceObject>().typeName != "enum.auto");
    if (!isMember)
      continue;
    if (value.is(ValueKind::Instance) && value.as<InstanceObject>().typeName == "enum.auto")
      value = Value::integer(nextAuto);
    if (value.isIntegral())
      nextAuto = value.getInt() + 1;
    // A second name of a value is an alias of the first.
    auto same = llvm::find_if(object.enumerators, [&, &value = value](const Value &other) {
      return isEqual(*other.as<InstanceObject>().find("_value_"), value).value_or(false);
    });
    if (same != object.enumerators.end()) {
      value = *same;
      continue;
    }
    auto member = std::make_shared<InstanceObject>();
    member->cls = cls;
    member->typeName = object.name;
    member->set("_name_", Value::string(name));
    member->set("_value_", value);
    value = Value(ValueKind::Instance, member);
    object.enumerators.push_back(value);
  }
  const Value *init = object.find("__init__");
  for (const Value &member : object.enumerators) {
    if (!init)
      break;
    Value content = *member.as<InstanceObject>().find("_value_");
    std::vector<Value> args{member};
    if (content.is(ValueKind::Tuple))
      llvm::append_range(args, content.getElements());
    else
      args.push_back(content);
    settle(call(*init, args, {}));
    if (core->failed())
      return;
  }
}

Value HostInterpreter::callFields(const Value &cls, std::vector<Value> args, Keywords keywords) {
  const auto &object = cls.as<ClassObject>();
  auto instance = std::make_shared<InstanceObject>();
  auto tuple = std::make_shared<SequenceObject>();
  instance->cls = tuple->cls = cls;
  instance->typeName = object.name;
  size_t next = 0;
  std::vector<bool> used(keywords.size());
  for (const auto &[name, annotation] : object.annotated) {
    std::optional<Value> value;
    if (next < args.size())
      value = args[next++];
    for (size_t i = 0; i < keywords.size(); ++i)
      if (keywords[i].first == name) {
        value = keywords[i].second;
        used[i] = true;
      }
    const Value *given = value ? nullptr : object.find(name);
    if (given && given->is(ValueKind::Instance) &&
        given->as<InstanceObject>().typeName == "dataclasses.field") {
      const auto &field = given->as<InstanceObject>();
      if (const Value *factory = field.find("default_factory")) {
        value = settle(call(*factory, {}, {}));
        if (core->failed())
          return Value();
      } else if (const Value *plain = field.find("default"))
        value = *plain;
    } else if (given)
      value = *given;
    if (!value)
      return core->error(DiagKind::SemaArguments, object.name,
                         "needs a value for '" + name.str() + "'");
    instance->fields.emplace_back(name.str(), *value);
    tuple->fields.push_back(name.str());
    tuple->elements.push_back(*value);
  }
  if (next < args.size())
    return core->error(DiagKind::SemaArguments, object.name,
                       "takes " + std::to_string(next) + " arguments, got " +
                           std::to_string(args.size()));
  for (size_t i = 0; i < keywords.size(); ++i)
    if (!used[i])
      return core->error(DiagKind::SemaArguments, object.name,
                         "has no parameter '" + keywords[i].first + "'");
  if (object.isNamedTuple)
    return {ValueKind::Tuple, tuple};
  Value result(ValueKind::Instance, instance);
  if (object.find("__post_init__"))
    special(result, "__post_init__", {});
  return core->failed() ? Value() : result;
}

Value HostInterpreter::instantiate(const Value &cls, std::vector<Value> args, Keywords keywords) {
  const auto &object = cls.as<ClassObject>();
  if (!object.definition || llvm::any_of(object.order, [](const auto &parent) {
        return parent->name == "BaseException" && !parent->definition;
      })) {
    Value exception = makeException(cls, args);
    if (object.find("__init__"))
      special(exception, "__init__", args);
    return core->failed() ? Value() : exception;
  }
  if (object.isEnum) {
    for (const Value &member : object.enumerators)
      if (args.size() == 1 &&
          (member.sharesObject(args[0]) ||
           isEqual(*member.as<InstanceObject>().find("_value_"), args[0]).value_or(false)))
        return member;
    if (args.size() == 1 && args[0].isOpaque())
      return args[0];
    return raise("ValueError", "not a valid " + object.name);
  }
  if (const Value *make = object.find("__new__"); make && make->is(ValueKind::Function)) {
    args.insert(args.begin(), cls);
    Value made = settle(call(*make, args, keywords));
    if (core->failed() || !made.is(ValueKind::Instance))
      return made;
    args.front() = made;
    if (const Value *init = object.find("__init__"))
      settle(call(*init, std::move(args), std::move(keywords)));
    return core->failed() ? Value() : made;
  }
  if (const Value *init = object.find("__init__")) {
    auto instance = std::make_shared<InstanceObject>();
    instance->cls = cls;
    instance->typeName = object.name;
    Value self(ValueKind::Instance, instance);
    args.insert(args.begin(), self);
    settle(call(*init, std::move(args), std::move(keywords)));
    return core->failed() ? Value() : self;
  }
  if (object.hasUnknownBase)
    return callUnknown(unknown(object.name), args, keywords);
  if (object.isDataclass || object.isNamedTuple || object.isAggregate)
    return callFields(cls, std::move(args), std::move(keywords));
  if (!args.empty() || !keywords.empty())
    return core->error(DiagKind::SemaArguments, object.name, "takes no arguments");
  auto instance = std::make_shared<InstanceObject>();
  instance->cls = cls;
  instance->typeName = object.name;
  return {ValueKind::Instance, instance};
}

Value HostInterpreter::makeSuper(llvm::ArrayRef<Value> args) {
  if (!current)
    return core->error(DiagKind::SemaUnsupportedSyntax, "super() here");
  std::shared_ptr<ClassObject> from =
      current->function ? current->function->owner : std::shared_ptr<ClassObject>();
  Value self = current->self;
  if (args.size() == 2 && args[0].is(ValueKind::Class)) {
    from = args[0].share<ClassObject>();
    self = args[1];
  }
  if (!from || self.isError())
    return raise("RuntimeError", "super(): no arguments");
  auto object = std::make_shared<InstanceObject>();
  object->cls = Value::none();
  object->typeName = "super";
  object->set("self", self);
  object->set("from", Value(ValueKind::Class, from));
  return {ValueKind::Instance, object};
}

} // namespace kiln::sema
