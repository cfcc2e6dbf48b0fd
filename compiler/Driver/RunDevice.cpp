#include "compiler/Driver/RunDevice.h"
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
  EmulatedDevice(kiln_emulator *emulator, bool check, bool count)
      : emulator(emulator), check(check) {
    kiln_emulator_set_check(emulator, check);
    kiln_emulator_set_count(emulator, count);
  }
  ~EmulatedDevice() override { kiln_emulator_destroy(emulator); }

  kiln_stream stream() override { return kiln_emulator_stream(emulator); }
  llvm::Expected<uint64_t> place(const RunArray &array) override {
    if (check && array.bytes &&
        kiln_emulator_register(emulator, array.data.get(), array.bytes) != KILN_SUCCESS)
      return llvm::createStringError(kiln_last_error());
    return reinterpret_cast<uintptr_t>(array.data.get());
  }
  std::vector<std::string> reports() override {
    std::vector<std::string> all;
    for (uint32_t i = 0; i < kiln_emulator_num_reports(emulator); ++i)
      all.push_back(kiln_emulator_report(emulator, i));
    return all;
  }
  kiln_emulator *emulated() override { return emulator; }

private:
  kiln_emulator *emulator;
  bool check;
};

constexpr char cudaLibrary[] = "libcuda.so.1";

/// Device 0 and its primary context, by the names and types of cuda.h.
class CudaDevice final : public RunDevice {
public:
  static llvm::Expected<std::unique_ptr<RunDevice>> open() {
    auto device = std::make_unique<CudaDevice>();
    void *library = dlopen(cudaLibrary, RTLD_NOW);
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          library ? dlsym(library, name) : nullptr);
      return function != nullptr;
    };
    int (*init)(unsigned) = nullptr;
    int (*retainPrimary)(void **, int) = nullptr;
    int (*setCurrent)(void *) = nullptr;
    if (!find(init, "cuInit") || !find(retainPrimary, "cuDevicePrimaryCtxRetain") ||
        !find(setCurrent, "cuCtxSetCurrent") || !find(device->allocate, "cuMemAlloc_v2") ||
        !find(device->toDevice, "cuMemcpyHtoD_v2") || !find(device->toHost, "cuMemcpyDtoH_v2") ||
        !find(device->synchronize, "cuCtxSynchronize"))
      return llvm::createStringError("the driver lacks a function that is needed");
    void *context = nullptr;
    for (int status : {init(0), retainPrimary(&context, 0), setCurrent(context)})
      if (status)
        return failed("there is no device to use", status);
    return device;
  }

  kiln_stream stream() override { return kiln_cuda_stream(nullptr); }

  llvm::Expected<uint64_t> place(const RunArray &array) override {
    unsigned long long address = 0;
    if (int status = allocate(&address, std::max<size_t>(array.bytes, 1)))
      return failed("cuMemAlloc", status);
    if (int status = array.bytes ? toDevice(address, array.data.get(), array.bytes) : 0)
      return failed("cuMemcpyHtoD", status);
    placed.push_back({address, array});
    return address;
  }

  llvm::Error finish() override {
    if (int status = synchronize())
      return failed("the kernel", status);
    for (const auto &[address, array] : placed)
      if (int status = array.bytes ? toHost(array.data.get(), address, array.bytes) : 0)
        return failed("cuMemcpyDtoH", status);
    return llvm::Error::success();
  }

private:
  static llvm::Error failed(llvm::StringRef what, int status) {
    return llvm::createStringError(what + ": CUDA error " + llvm::Twine(status));
  }

  int (*allocate)(unsigned long long *, size_t) = nullptr;
  int (*toDevice)(unsigned long long, const void *, size_t) = nullptr;
  int (*toHost)(void *, unsigned long long, size_t) = nullptr;
  int (*synchronize)() = nullptr;
  /// The process ends soon: nothing is freed.
  std::vector<std::pair<unsigned long long, RunArray>> placed;
};

} // namespace

std::string RunDevice::whyNot(const TargetInfo &target) {
  if (target.emulated || target.backend == Backend::CPU)
    return "";
  if (target.backend == Backend::HIP)
    return "kiln run does not drive AMD GPUs; emu:" + target.arch + " runs the same code";
  return dlopen(cudaLibrary, RTLD_NOW) ? "" : std::string(dlerror());
}

llvm::Expected<std::unique_ptr<RunDevice>> RunDevice::open(const TargetInfo &target, bool check,
                                                           bool count) {
  if (target.emulated) {
    kiln_emulator *emulator = nullptr;
    if (kiln_emulator_create(target.arch.c_str(), nullptr, &emulator) != KILN_SUCCESS)
      return llvm::createStringError(kiln_last_error());
    return std::make_unique<EmulatedDevice>(emulator, check, count);
  }
  if (target.backend == Backend::CUDA)
    return CudaDevice::open();
  return std::make_unique<CpuDevice>();
}

} // namespace kiln
