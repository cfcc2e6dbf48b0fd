// A real NVIDIA GPU, through the driver that the machine has. Buffers are page-locked host memory,
// which the GPU reaches at the same addresses: slow, and just right for tests, whose bodies stay
// those of the CPU.

#include "tests/kernels/KernelTest.h"
#include <dlfcn.h>

namespace kiln::test {
namespace {

/// The few driver functions used here, by the names and types of cuda.h.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*retainPrimary)(void **context, int device) = nullptr;
  int (*setCurrent)(void *context) = nullptr;
  int (*hostAlloc)(void **memory, size_t bytes, unsigned flags) = nullptr;
  int (*hostFree)(void *memory) = nullptr;
  int (*synchronize)() = nullptr;
  bool ready = false;

  Driver() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
      return;
    auto find = [&](auto &function, const char *name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    void *context = nullptr;
    ready = find(init, "cuInit") && find(retainPrimary, "cuDevicePrimaryCtxRetain") &&
            find(setCurrent, "cuCtxSetCurrent") && find(hostAlloc, "cuMemHostAlloc") &&
            find(hostFree, "cuMemFreeHost") && find(synchronize, "cuCtxSynchronize") &&
            init(0) == 0 && retainPrimary(&context, 0) == 0 && setCurrent(context) == 0;
  }
};

Driver &driver() {
  static Driver instance;
  return instance;
}

class CudaExecutor : public Executor {
public:
  kiln_stream stream() override { return kiln_cuda_stream(nullptr); }
  void *allocate(size_t bytes) override {
    constexpr unsigned portableAndMapped = 1 | 2;
    void *memory = nullptr;
    return driver().hostAlloc(&memory, bytes, portableAndMapped) == 0 ? memory : nullptr;
  }
  void release(void *memory) override { driver().hostFree(memory); }
  bool synchronize() override { return driver().synchronize() == 0; }
};

std::unique_ptr<Executor> makeCuda() {
  return driver().ready ? std::make_unique<CudaExecutor>() : nullptr;
}

} // namespace

Executor *&currentExecutor() {
  static Executor *current = nullptr;
  return current;
}

const std::vector<ExecutorKind> &executors() {
  static const std::vector<ExecutorKind> kinds = {{"cuda", makeCuda}};
  return kinds;
}

} // namespace kiln::test
