// A libamdhip64 that executes the machine code of the kernels that it is given. The functions are
// those that the runtime asks for; signatures after the HIP API reference. A stream is the address
// of its device's ordinal, and a launch is over when the call returns.
#include "tests/amdgcn/MachineHip.h"
#include "tests/amdgcn/Launch.h"
#include "llvm/BinaryFormat/ELF.h"
#include <cstring>
#include <mutex>

using namespace kiln::amdgcn;

namespace {

enum {
  InvalidValue = 1,
  InvalidDevice = 101,
  InvalidImage = 200,
  NotFound = 500,
  LaunchFailed = 719
};

/// As many as a small GPU has: persistent kernels launch that many workgroups.
constexpr int processorsOfDevice = 4;
constexpr int numDevices = int(std::size(deviceProcessors));

struct Function {
  const CodeObject *code;
  const LoadedKernel *kernel;
};

struct Machine {
  std::mutex mutex;
  Allocations allocations;
  std::vector<std::unique_ptr<CodeObject>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  std::string report, taken;
  uint32_t launches = 0;
  bool ordersWorkgroups = false;
};

Machine &machine() {
  static Machine one;
  return one;
}

thread_local int currentDevice = 0;

int failWith(int result, const std::string &text) {
  machine().report = text;
  return result;
}

/// HIP is given no size: the section headers are the last of an HSACO.
size_t imageSize(const void *data) {
  llvm::ELF::Elf64_Ehdr header;
  std::memcpy(&header, data, sizeof header);
  return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

std::vector<uint8_t> packArguments(const LoadedKernel &kernel, void **parameters) {
  std::vector<uint8_t> bytes(kernel.descriptor.kernargBytes);
  for (size_t i = 0; i != kernel.info.parameters.size(); ++i) {
    const kiln::KernelParameter &parameter = kernel.info.parameters[i];
    if (parameter.offset + parameter.size > bytes.size())
      throw Fault("a parameter lies behind the kernel's arguments");
    std::memcpy(bytes.data() + parameter.offset, parameters[i], parameter.size);
  }
  if (kernel.info.hiddenParameters)
    throw Fault("hidden arguments are not known here");
  return bytes;
}

int writeProperties(void *properties, int device, size_t processorsOffset, size_t nameOffset) {
  if (device < 0 || device >= numDevices)
    return InvalidDevice;
  char *out = static_cast<char *>(properties);
  std::memcpy(out + processorsOffset, &processorsOfDevice, sizeof(int));
  std::memset(out + nameOffset, 0, 256);
  std::strcpy(out + nameOffset, deviceProcessors[device]);
  return 0;
}

} // namespace

extern "C" {

void kilnMachineRegister(void *memory, size_t bytes) {
  std::lock_guard<std::mutex> lock(machine().mutex);
  machine().allocations.add(memory, bytes);
}

void kilnMachineUnregister(void *memory) {
  std::lock_guard<std::mutex> lock(machine().mutex);
  machine().allocations.remove(memory);
}

void kilnMachineOrderWorkgroups() {
  std::lock_guard<std::mutex> lock(machine().mutex);
  machine().ordersWorkgroups = true;
}

const char *kilnMachineTakeReport() {
  std::lock_guard<std::mutex> lock(machine().mutex);
  machine().taken = std::move(machine().report);
  machine().report.clear();
  return machine().taken.c_str();
}

const char *hipGetErrorName(int) { return "hipErrorMachine"; }
const char *hipGetErrorString(int) { return machine().report.c_str(); }

int hipGetDeviceCount(int *count) {
  *count = numDevices;
  return 0;
}

int hipGetDevice(int *device) {
  *device = currentDevice;
  return 0;
}

int hipSetDevice(int device) {
  if (device < 0 || device >= numDevices)
    return InvalidDevice;
  currentDevice = device;
  return 0;
}

int hipStreamIsCapturing(void *, int *capturing) {
  *capturing = 0;
  return 0;
}

int hipStreamGetDevice(void *stream, int *device) {
  *device = stream ? *static_cast<int *>(stream) : currentDevice;
  return 0;
}

int hipGetDevicePropertiesR0600(void *properties, int device) {
  return writeProperties(properties, device, 388, 1160);
}

int hipModuleLoadData(void **module, const void *data) {
  std::lock_guard<std::mutex> lock(machine().mutex);
  try {
    auto code =
        std::make_unique<CodeObject>(std::string(static_cast<const char *>(data), imageSize(data)));
    if (code->processor() != deviceProcessors[currentDevice])
      return failWith(InvalidImage, "code of " + code->processor() + " is loaded on a " +
                                        deviceProcessors[currentDevice]);
    *module = code.get();
    machine().modules.push_back(std::move(code));
  } catch (const Fault &fault) {
    return failWith(InvalidImage, fault.what());
  }
  return 0;
}

int hipModuleUnload(void *) { return 0; }

int hipModuleGetFunction(void **function, void *module, const char *name) {
  std::lock_guard<std::mutex> lock(machine().mutex);
  auto *code = static_cast<CodeObject *>(module);
  const LoadedKernel *kernel = code->kernel(name);
  if (!kernel)
    return NotFound;
  machine().functions.push_back(std::make_unique<Function>(Function{code, kernel}));
  *function = machine().functions.back().get();
  return 0;
}

int hipModuleGetGlobal(void **address, size_t *bytes, void *module, const char *name) {
  auto found = static_cast<CodeObject *>(module)->variable(name);
  if (!found)
    return NotFound;
  *address = reinterpret_cast<void *>(found->first);
  *bytes = found->second;
  return 0;
}

int hipModuleLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                          unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                          void *, void **parameters, void **) {
  std::lock_guard<std::mutex> lock(machine().mutex);
  const auto &one = *static_cast<Function *>(function);
  try {
    LaunchParameters launchParameters;
    launchParameters.grid = {gridX, gridY, gridZ};
    launchParameters.block = {blockX, blockY, blockZ};
    launchParameters.sharedBytes = shared;
    launchParameters.seed = ++machine().launches;
    if (machine().ordersWorkgroups)
      launchParameters.residentWorkgroups = 1;
    launchParameters.arguments = packArguments(*one.kernel, parameters);
    launch(*one.code, *one.kernel, machine().allocations, launchParameters);
  } catch (const Fault &fault) {
    return failWith(LaunchFailed, fault.what());
  }
  return 0;
}

int hipModuleLaunchCooperativeKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                     unsigned blockX, unsigned blockY, unsigned blockZ,
                                     unsigned shared, void *stream, void **parameters) {
  return hipModuleLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared,
                               stream, parameters, nullptr);
}

int hipHostMalloc(void **memory, size_t bytes, unsigned) {
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  kilnMachineRegister(*memory, bytes);
  return 0;
}

int hipHostFree(void *memory) {
  kilnMachineUnregister(memory);
  std::free(memory);
  return 0;
}

int hipHostGetDevicePointer(void **address, void *memory, unsigned) {
  *address = memory;
  return 0;
}

int hipMemcpyHtoD(void *to, void *from, size_t bytes) {
  std::memcpy(to, from, bytes);
  return 0;
}

int hipLaunchHostFunc(void *, void (*function)(void *), void *user) {
  function(user);
  return 0;
}

int hipMalloc(void **memory, size_t bytes) { return hipHostMalloc(memory, bytes, 0); }
int hipMallocAsync(void **memory, size_t bytes, void *) { return hipHostMalloc(memory, bytes, 0); }
int hipFreeAsync(void *memory, void *) { return hipHostFree(memory); }

int hipMemcpyAsync(void *to, const void *from, size_t bytes, int, void *) {
  std::memcpy(to, from, bytes);
  return 0;
}

int hipMemcpy(void *to, const void *from, size_t bytes, int) {
  std::memcpy(to, from, bytes);
  return 0;
}

int hipStreamSynchronize(void *) { return 0; }
int hipDeviceSynchronize() { return 0; }

} // extern "C"
