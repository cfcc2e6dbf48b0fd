#include "compiler/Sema/Host/InterpreterPool.h"

namespace kiln::sema {

InterpreterPool &InterpreterPool::of(ModuleLoader &loader) {
  return static_cast<InterpreterPool &>(loader.getAttachment(
      [](ModuleLoader &loader) { return std::make_unique<InterpreterPool>(loader); }));
}

std::unique_ptr<HostInterpreter> InterpreterPool::take(const std::string &key) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = llvm::find_if(kept, [&](const auto &entry) { return entry.first == key; });
  if (found == kept.end())
    return std::make_unique<HostInterpreter>(loader);
  std::unique_ptr<HostInterpreter> interpreter = std::move(found->second);
  kept.erase(found);
  return interpreter;
}

void InterpreterPool::put(std::string key, std::unique_ptr<HostInterpreter> interpreter) {
  std::lock_guard<std::mutex> lock(mutex);
  kept.emplace_front(std::move(key), std::move(interpreter));
  if (kept.size() > maxKept)
    kept.pop_back();
}

} // namespace kiln::sema
