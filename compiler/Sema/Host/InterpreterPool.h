// Host interpreters that have executed a module, kept for the module's next kernel.
//
// A source with a thousand kernels would otherwise be executed a thousand times. One serves one
// evaluation at a time, and only where it finds what a new one would (HostInterpreter::release).

#ifndef KILN_COMPILER_SEMA_HOST_INTERPRETERPOOL_H
#define KILN_COMPILER_SEMA_HOST_INTERPRETERPOOL_H

#include "compiler/Sema/Host/Interpreter.h"

#include <list>
#include <mutex>

namespace kiln::sema {

class InterpreterPool final : public ModuleAttachment {
public:
  static InterpreterPool &of(ModuleLoader &loader);
  explicit InterpreterPool(ModuleLoader &loader) : loader(loader) {}

  /// One for evaluations that are alike by `key`: the module and all that its code can ask.
  std::unique_ptr<HostInterpreter> take(const std::string &key);
  void put(std::string key, std::unique_ptr<HostInterpreter> interpreter);

private:
  /// A module's values may be large; a build goes from source to source.
  static constexpr size_t maxKept = 16;

  ModuleLoader &loader;
  std::mutex mutex;
  /// The latest first.
  std::list<std::pair<std::string, std::unique_ptr<HostInterpreter>>> kept;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_HOST_INTERPRETERPOOL_H
