// A config's function as text that names it again in the kernel's module: the manifest records it,
// and the variant is built from it.

#include "compiler/Sema/Modules/ModuleScope.h"

namespace kiln::sema {
namespace {

bool isSameFunction(const Value &a, const Value &b) {
  if (a.is(ValueKind::Builtin) && b.is(ValueKind::Builtin))
    return a.as<BuiltinObject>().info == b.as<BuiltinObject>().info;
  return a.is(ValueKind::Function) && b.is(ValueKind::Function) &&
         a.as<FunctionObject>().definition &&
         a.as<FunctionObject>().definition == b.as<FunctionObject>().definition;
}

} // namespace

std::optional<std::string> ModuleScope::functionPath(const Value &function, ModuleState *module) {
  llvm::StringRef own = function.is(ValueKind::Builtin)
                            ? llvm::StringRef(function.as<BuiltinObject>().info->name)
                            : function.as<FunctionObject>().getName();
  if (!module)
    return own.str();
  auto names = [&](llvm::StringRef path) {
    Value value;
    unwinding().attempt([&] { value = functionNamed(path, module); });
    return isSameFunction(value, function);
  };
  if (names(own))
    return own.str();
  // Imported under another name, or with its module.
  const Environment bound = module->scope->names;
  for (const auto &[name, value] : bound) {
    if (isSameFunction(value, function))
      return name.str();
    std::string member = (name + "." + own).str();
    if (value.is(ValueKind::Module) && names(member))
      return member;
  }
  return fail(DiagKind::SemaInvalidArgument, "a config's function",
              "one that the kernel's module has a name for", "'" + own.str() + "'");
}

} // namespace kiln::sema
