#include "compiler/Sema/Modules/ModuleState.h"

namespace kiln::sema {

const Value *findEnclosing(const std::shared_ptr<Scope> &scope, llvm::StringRef name) {
  for (const Scope *at = scope.get(); at; at = at->parent.get()) {
    if (at->kind == Scope::Class)
      continue;
    if (at->declared && at->declared->globals.contains(name))
      return nullptr;
    if (auto found = at->names.find(name); found != at->names.end())
      return &found->second;
  }
  return nullptr;
}

} // namespace kiln::sema
