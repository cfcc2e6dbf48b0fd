// A real NVIDIA GPU, through the driver that the machine has. Buffers are page-locked host memory,
// which the GPU reaches at the same addresses: slow, and just right for tests, whose bodies stay
// those of the CPU. Each test runs twice: the second time its launches are captured in a CUDA
// graph, which runs in their place (the first time has loaded the code, which a capture does not
// allow).

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
  int (*streamCreate)(void **stream, unsigned flags) = nullptr;
  int (*streamDestroy)(void *stream) = nullptr;
  int (*streamSynchronize)(void *stream) = nullptr;
  int (*beginCapture)(void *stream, int mode) = nullptr;
  int (*endCapture)(void *stream, void **graph) = nullptr;
  int (*instantiate)(void **exec, void *graph, unsigned long long flags) = nullptr;
  int (*graphLaunch)(void *exec, void *stream) = nullptr;
  int (*execDestroy)(void *exec) = nullptr;
  int (*graphDestroy)(void *graph) = nullptr;
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
    ready =
        find(init, "cuInit") && find(retainPrimary, "cuDevicePrimaryCtxRetain") &&
        find(setCurrent, "cuCtxSetCurrent") && find(hostAlloc, "cuMemHostAlloc") &&
        find(hostFree, "cuMemFreeHost") && find(synchronize, "cuCtxSynchronize") &&
        find(streamCreate, "cuStreamCreate") && find(streamDestroy, "cuStreamDestroy_v2") &&
        find(streamSynchronize, "cuStreamSynchronize") &&
        find(beginCapture, "cuStreamBeginCapture_v2") && find(endCapture, "cuStreamEndCapture") &&
        find(instantiate, "cuGraphInstantiateWithFlags") && find(graphLaunch, "cuGraphLaunch") &&
        find(execDestroy, "cuGraphExecDestroy") && find(graphDestroy, "cuGraphDestroy") &&
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

class GraphExecutor : public CudaExecutor {
public:
  GraphExecutor() { driver().streamCreate(&own, 0); }
  ~GraphExecutor() override { driver().streamDestroy(own); }
  kiln_stream stream() override {
    constexpr int globalMode = 0;
    isCapturing = isCapturing || driver().beginCapture(own, globalMode) == 0;
    return kiln_cuda_stream(own);
  }
  bool synchronize() override {
    if (!isCapturing)
      return CudaExecutor::synchronize();
    isCapturing = false;
    void *graph = nullptr, *exec = nullptr;
    bool ran = driver().endCapture(own, &graph) == 0 &&
               driver().instantiate(&exec, graph, 0) == 0 && driver().graphLaunch(exec, own) == 0 &&
               driver().streamSynchronize(own) == 0;
    if (exec)
      driver().execDestroy(exec);
    if (graph)
      driver().graphDestroy(graph);
    return ran;
  }

private:
  void *own = nullptr;
  bool isCapturing = false;
};

template <typename T> std::unique_ptr<Executor> make() {
  return driver().ready ? std::make_unique<T>() : nullptr;
}

} // namespace

Executor *&currentExecutor() {
  static Executor *current = nullptr;
  return current;
}

const std::vector<ExecutorKind> &executors() {
  static const std::vector<ExecutorKind> kinds = {{"cuda", make<CudaExecutor>},
                                                  {"graph", make<GraphExecutor>}};
  return kinds;
}

} // namespace kiln::test
