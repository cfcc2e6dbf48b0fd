//===- LoadedObject.h - A host object in this process --------------------------===//

#ifndef KILN_TESTS_COMPILER_TARGET_CPU_LOADEDOBJECT_H
#define KILN_TESTS_COMPILER_TARGET_CPU_LOADEDOBJECT_H

#include "compiler/Target/DeviceBinary.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln::testing {

/// Code for this machine, or for another processor of LLVM's names, best optimised.
std::unique_ptr<llvm::TargetMachine> hostMachine(llvm::StringRef processor = "");

/// Links a kernel's object into this process and calls it with the CPU kernel ABI. The object sees
/// libm and the C library, no more.
class LoadedObject {
public:
  using Kernel = void(void *const *, const uint32_t *, const uint32_t *, void *);

  explicit LoadedObject(const DeviceBinary &binary);
  /// What `machine` makes of a module that is for it.
  LoadedObject(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef symbol);
  LoadedObject(LoadedObject &&) noexcept;
  ~LoadedObject();

  Kernel *entry() const { return kernel; }
  /// Where a function has parameters of its own.
  template <typename Function> Function *as() const { return reinterpret_cast<Function *>(kernel); }
  void run(std::vector<void *> params, void *arena = nullptr) {
    const uint32_t id[3] = {0, 0, 0}, num[3] = {1, 1, 1};
    kernel(params.data(), id, num, arena);
  }

private:
  /// LLVM's JIT linker, whose header takes a compiler longer than all that tests include otherwise.
  struct Linker;
  void load(llvm::StringRef bytes, llvm::StringRef symbol);

  std::unique_ptr<Linker> linker;
  Kernel *kernel = nullptr;
};

} // namespace kiln::testing

#endif // KILN_TESTS_COMPILER_TARGET_CPU_LOADEDOBJECT_H
