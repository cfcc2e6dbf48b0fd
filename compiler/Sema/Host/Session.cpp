#include "compiler/Sema/Host/Session.h"

#include "compiler/Sema/Host/InterpreterPool.h"

namespace kiln::sema {

/// The module and everything that code at module level can ask.
static std::string keyOf(const LoadedModule &module, const TargetAnswers &target,
                         const NamedConstants &defines) {
  std::string key;
  llvm::raw_string_ostream out(key);
  out << static_cast<const void *>(&module) << ' ' << target.backend << ' ' << target.arch << ' '
      << target.archName << ' ' << target.warpSize << ' ' << target.takesAssembly << ' '
      << target.scaledProducts << ' ' << target.scaledConversions;
  for (const auto &[name, value] : defines)
    out << '\n' << name << '=' << value.str();
  return key;
}

Session::Session(ModuleLoader &loader, const LoadedModule &module, const BuiltinTable &builtins,
                 TensorTarget target, const NamedConstants &defines, DiagnosticEngine &diags)
    : loader(loader), hostKey(keyOf(module, target.answers, defines)),
      host(InterpreterPool::of(loader).take(hostKey)),
      evaluator(loader.getSources(), builtins, *host, std::move(target), defines, diags) {
  host->serve(evaluator);
}

Session::~Session() {
  if (host->release())
    InterpreterPool::of(loader).put(std::move(hostKey), std::move(host));
}

} // namespace kiln::sema
