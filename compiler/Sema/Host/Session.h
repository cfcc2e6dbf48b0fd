// One evaluation: an evaluator of device code, and an interpreter of the Python beside it, which
// may have executed the module before.
#ifndef KILN_COMPILER_SEMA_HOST_SESSION_H
#define KILN_COMPILER_SEMA_HOST_SESSION_H

#include "compiler/Sema/Host/Interpreter.h"

namespace kiln::sema {

class Session {
public:
  /// All references must outlive it.
  Session(ModuleLoader &loader, const LoadedModule &module, const BuiltinTable &builtins,
          TensorTarget target, const NamedConstants &defines, DiagnosticEngine &diags);
  ~Session();

  Evaluator &getEvaluator() { return evaluator; }
  HostInterpreter &getHost() { return *host; }

private:
  ModuleLoader &loader;
  std::string hostKey;
  std::unique_ptr<HostInterpreter> host;
  Evaluator evaluator;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_HOST_SESSION_H
