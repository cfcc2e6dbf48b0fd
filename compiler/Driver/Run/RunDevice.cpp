#include "compiler/Driver/Run/RunDevice.h"
#include "runtime/hip_messages.h"
#include <dlfcn.h>

namespace kiln {
namespace {

class CpuDevice final : public RunDevice {
public:
  kiln_stream stream() override { return kiln_cpu_stream(nullptr); }
  llvm::Expected<uint64_t> place(const RunArray &array) override {
    return reinterpret_cast<uintptr_t>(array.data.get());
  }
};

class EmulatedDevice final : public RunDevice {
public:
  EmulatedDevice(const RuntimeFunctions &runtime, kiln_emulator *emulator, bool check, bool count)
      : runtime(runtime), emulator(emulator), check(check) {
    runtime.kiln_emulator_set_check(emulator, check);
    runtime.kiln_emulator_set_count(emulator, count);
  }
  ~EmulatedDevice() override { runtime.kiln_emulator_destroy(emulator); }

  kiln_stream stream() override { return runtime.kiln_emulator_stream(emulator); }
  llvm::Expected<uint64_t> place(const RunArray &array) override {
    if (check && array.bytes &&
        runtime.kiln_emulator_register(emulator, array.data.get(), array.bytes) != KILN_SUCCESS)
      return llvm::createStringError(runtime.kiln_last_error());
    return reinterpret_cast<uintptr_t>(array.data.get());
  }
  std::vector<std::string> reports() override {
    std::vector<std::string> all;
    for (uint32_t i = 0; i < runtime.kiln_emulator_num_reports(emulator); ++i)
      all.push_back(runtime.kiln_emulator_report(emulator, i));
    return all;
  }
  kiln_emulator *emulated() override { return emulator; }

private:
  RuntimeFunctions runtime;
  kiln_emulator *emulator;
  bool check;
};

/// A GPU's driver, and arrays in its memory.
class GpuDevice : public RunDevice {
public:
  llvm::Expected<uint64_t> place(const RunArray &array) override {
    uint64_t address = 0;
    if (int status = allocate(address, std::max<size_t>(array.bytes, 1)))
      return failed("allocating " + llvm::Twine(array.bytes) + " bytes of device memory", status);
    if (int status = array.bytes ? toDevice(address, array.data.get(), array.bytes) : 0)
      return failed("copying an argument to the device", status);
    placed.push_back({address, array});
    return address;
  }

  llvm::Error finish() override {
    if (int status = synchronize())
      return failed("the kernel", status);
    for (const auto &[address, array] : placed)
      if (int status = array.bytes ? toHost(array.data.get(), address, array.bytes) : 0)
        return failed("copying an argument back from the device", status);
    return llvm::Error::success();
  }

protected:
  virtual int allocate(uint64_t &address, size_t bytes) = 0;
  virtual int toDevice(uint64_t address, const void *from, size_t bytes) = 0;
  virtual int toHost(void *to, uint64_t address, size_t bytes) = 0;
  virtual int synchronize() = 0;
  /// "CUDA error 700 (an illegal memory access was encountered)"
  virtual std::string textOf(int status) const = 0;

  llvm::Error failed(const llvm::Twine &what, int status) const {
    return llvm::createStringError(what + ": " + textOf(status));
  }

  template <typename Function> bool find(void *library, Function &function, const char *name) {
    function = reinterpret_cast<Function>(library ? dlsym(library, name) : nullptr);
    return function != nullptr;
  }

private:
  /// The process ends soon: nothing is freed.
  std::vector<std::pair<uint64_t, RunArray>> placed;
};

/// The first of these libraries that there is; null, with dlerror() set.
void *openFirst(llvm::ArrayRef<const char *> names) {
  for (const char *name : names)
    if (void *library = dlopen(name, RTLD_NOW))
      return library;
  return nullptr;
}

llvm::Error lacksFunctions() {
  return llvm::createStringError("the driver lacks a function that is needed");
}

constexpr const char *cudaLibraries[] = {"libcuda.so.1"};
/// As runtime/hip_driver.c looks for them.
constexpr const char *hipLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                        "libamdhip64.so"};

/// Device 0 and its primary context, by the names and types of cuda.h.
class CudaDevice final : public GpuDevice {
public:
  static llvm::Expected<std::unique_ptr<RunDevice>> open() {
    auto device = std::make_unique<CudaDevice>();
    void *library = openFirst(cudaLibraries), *context = nullptr;
    int (*init)(unsigned) = nullptr;
    int (*retainPrimary)(void **, int) = nullptr;
    int (*setCurrent)(void *) = nullptr;
    if (!device->find(library, init, "cuInit") ||
        !device->find(library, retainPrimary, "cuDevicePrimaryCtxRetain") ||
        !device->find(library, setCurrent, "cuCtxSetCurrent") ||
        !device->find(library, device->errorText, "cuGetErrorString") ||
        !device->find(library, device->malloc, "cuMemAlloc_v2") ||
        !device->find(library, device->copyToDevice, "cuMemcpyHtoD_v2") ||
        !device->find(library, device->copyToHost, "cuMemcpyDtoH_v2") ||
        !device->find(library, device->wait, "cuCtxSynchronize"))
      return lacksFunctions();
    int status = init(0);
    if (!status)
      status = retainPrimary(&context, 0);
    if (!status)
      status = setCurrent(context);
    if (status)
      return device->failed("there is no device to use", status);
    return device;
  }

  kiln_stream stream() override { return kiln_cuda_stream(nullptr); }

private:
  int allocate(uint64_t &address, size_t bytes) override {
    unsigned long long made = 0;
    int status = malloc(&made, bytes);
    address = made;
    return status;
  }
  int toDevice(uint64_t address, const void *from, size_t bytes) override {
    return copyToDevice(address, from, bytes);
  }
  int toHost(void *to, uint64_t address, size_t bytes) override {
    return copyToHost(to, address, bytes);
  }
  int synchronize() override { return wait(); }
  std::string textOf(int status) const override {
    const char *text = nullptr;
    errorText(status, &text);
    return "CUDA error " + std::to_string(status) + " (" + (text ? text : "unknown") + ")";
  }

  int (*malloc)(unsigned long long *, size_t) = nullptr;
  int (*copyToDevice)(unsigned long long, const void *, size_t) = nullptr;
  int (*copyToHost)(void *, unsigned long long, size_t) = nullptr;
  int (*wait)() = nullptr;
  int (*errorText)(int, const char **) = nullptr;
};

/// Device 0, by the names and types of HIP's API reference.
class HipDevice final : public GpuDevice {
public:
  static llvm::Expected<std::unique_ptr<RunDevice>> open() {
    auto device = std::make_unique<HipDevice>();
    void *library = openFirst(hipLibraries);
    int (*setDevice)(int) = nullptr;
    if (!device->find(library, setDevice, "hipSetDevice") ||
        !device->find(library, device->errorText, "hipGetErrorString") ||
        !device->find(library, device->malloc, "hipMalloc") ||
        !device->find(library, device->copy, "hipMemcpy") ||
        !device->find(library, device->wait, "hipDeviceSynchronize"))
      return lacksFunctions();
    if (int status = setDevice(0))
      return device->failed("there is no device to use", status);
    return device;
  }

  kiln_stream stream() override { return kiln_hip_stream(nullptr); }
  std::vector<std::string> reports() override {
    char text[512];
    return kiln_hip_messages_failure(text, sizeof text) ? std::vector<std::string>{text}
                                                        : std::vector<std::string>();
  }

private:
  /// hipMemcpyKind.
  enum { HostToDevice = 1, DeviceToHost = 2 };

  int allocate(uint64_t &address, size_t bytes) override {
    void *made = nullptr;
    int status = malloc(&made, bytes);
    address = reinterpret_cast<uintptr_t>(made);
    return status;
  }
  int toDevice(uint64_t address, const void *from, size_t bytes) override {
    return copy(reinterpret_cast<void *>(address), from, bytes, HostToDevice);
  }
  int toHost(void *to, uint64_t address, size_t bytes) override {
    return copy(to, reinterpret_cast<const void *>(address), bytes, DeviceToHost);
  }
  int synchronize() override { return wait(); }
  std::string textOf(int status) const override {
    const char *text = errorText(status);
    return "HIP error " + std::to_string(status) + " (" + (text ? text : "unknown") + ")";
  }

  int (*malloc)(void **, size_t) = nullptr;
  int (*copy)(void *, const void *, size_t, int) = nullptr;
  int (*wait)() = nullptr;
  const char *(*errorText)(int) = nullptr;
};

} // namespace

std::string RunDevice::whyNot(const TargetInfo &target) {
  if (target.emulated || target.backend == Backend::CPU)
    return "";
  bool isHip = target.backend == Backend::HIP;
  if (isHip ? openFirst(hipLibraries) : openFirst(cudaLibraries))
    return "";
  return "there is no driver here (" + std::string(dlerror()) + "); emu:" + target.arch +
         " runs the same code";
}

llvm::Expected<std::unique_ptr<RunDevice>>
RunDevice::open(const TargetInfo &target, bool check, bool count, const RuntimeFunctions &runtime) {
  if (target.emulated) {
    kiln_emulator *emulator = nullptr;
    if (runtime.kiln_emulator_create(target.arch.c_str(), nullptr, &emulator) != KILN_SUCCESS)
      return llvm::createStringError(runtime.kiln_last_error());
    return std::make_unique<EmulatedDevice>(runtime, emulator, check, count);
  }
  if (target.backend == Backend::CUDA)
    return CudaDevice::open();
  if (target.backend == Backend::HIP)
    return HipDevice::open();
  return std::make_unique<CpuDevice>();
}

llvm::Error launchOn(RunDevice &device, const kiln_entry &entry, unsigned variant,
                     const std::array<int64_t, 3> &grid, std::vector<void *> parameters) {
  kiln_call call;
  kiln_status status = kiln_begin(&entry, device.stream(), &call);
  if (status == KILN_SUCCESS)
    status = kiln_run(&call, variant, grid.data(), parameters.data());
  if (status != KILN_SUCCESS)
    return llvm::createStringError(kiln_last_error());
  return device.finish();
}

} // namespace kiln
