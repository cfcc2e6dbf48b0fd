//===- LoadedObject.h - A host object in this process --------------------------===//

#ifndef KILN_TESTS_COMPILER_TARGET_CPU_LOADEDOBJECT_H
#define KILN_TESTS_COMPILER_TARGET_CPU_LOADEDOBJECT_H

#include "compiler/Target/DeviceBinary.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

namespace kiln::testing {

/// Links a kernel's object into this process and calls it with the CPU kernel ABI. The object sees
/// libm and the C library, no more.
class LoadedObject {
public:
  using Kernel = void(void *const *, const uint32_t *, const uint32_t *, void *);

  explicit LoadedObject(const DeviceBinary &binary) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    llvm::cantFail(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
        llvm::StringRef(binary.bytes.data(), binary.bytes.size()))));
    kernel = llvm::cantFail(jit->lookup(binary.symbol)).toPtr<Kernel>();
  }

  Kernel *entry() const { return kernel; }
  void run(std::vector<void *> params, void *arena = nullptr) {
    const uint32_t id[3] = {0, 0, 0}, num[3] = {1, 1, 1};
    kernel(params.data(), id, num, arena);
  }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Kernel *kernel = nullptr;
};

} // namespace kiln::testing

#endif // KILN_TESTS_COMPILER_TARGET_CPU_LOADEDOBJECT_H
