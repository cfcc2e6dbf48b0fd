// A fake libamdhip64. KILN_FAKE_VERSION 6 has what ROCm 6 has; 5 fills the older property struct
// and lacks hipStreamGetDevice, hipModuleLaunchCooperativeKernel and hipMallocAsync. Signatures
// after the HIP API reference.
#include "tests/runtime/FakeDriver.h"

#include <cstdlib>

using namespace kiln::fake;

namespace {

enum {
  InvalidValue = 1,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidHandle = 400,
  NotFound = 500
};

State state;
thread_local int currentDevice = 0;

int deviceOf(void *stream) {
  return stream ? static_cast<Stream *>(stream)->device : currentDevice;
}

int launchKernel(Kernel *kernel, Launch launch, void **parameters) {
  if (!kernel->image->loaded)
    return state.breakRule(InvalidHandle, "launch of an unloaded kernel");
  if (kernel->image->device != deviceOf(launch.stream) || currentDevice != kernel->image->device)
    return state.breakRule(InvalidHandle, "launch of another device's function");
  for (int i = 0; i < 3; ++i)
    if (!launch.grid[i] || uint64_t(launch.grid[i]) * launch.block[i] > 0xffffffffu)
      return state.breakRule(InvalidValue, "grid out of range");
  launch.kernel = kernel->name;
  launch.image = kernel->image->data;
  launch.code = kernel->image->text;
  // HIP makes no copy of an image: its bytes have to be there for as long as it is loaded.
  if (std::memcmp(launch.image, "FAKE\n", 5) != 0)
    state.broken.push_back("the bytes of a loaded image are gone");
  launch.device = currentDevice;
  launch.arguments = State::copyArguments(*kernel, parameters);
  launch.messages = kernel->image->messages;
  state.launches.push_back(std::move(launch));
  if (state.run)
    state.run(state.launches.back());
  return 0;
}

Launch makeLaunch(const char *function, const unsigned grid[3], const unsigned block[3],
                  unsigned shared, void *stream) {
  Launch launch;
  launch.function = function;
  launch.stream = stream;
  launch.grid = {grid[0], grid[1], grid[2]};
  launch.block = {block[0], block[1], block[2]};
  launch.shared = shared;
  return launch;
}

// The struct's bytes before and after the name are not zero, so that a wrong offset shows.
int writeProperties(void *properties, int device, size_t processorsOffset, size_t nameOffset,
                    size_t bytes) {
  if (device < 0 || size_t(device) >= state.devices.size())
    return InvalidDevice;
  char *out = static_cast<char *>(properties);
  std::memset(out, 'x', bytes);
  std::memcpy(out + processorsOffset, &state.devices[device].processors, sizeof(int));
  std::memset(out + nameOffset, 0, 256);
  std::strncpy(out + nameOffset, state.devices[device].arch.c_str(), 255);
  return 0;
}

} // namespace

#define ENTER(name)                                                                                \
  std::lock_guard<std::mutex> lock(state.mutex);                                                   \
  if (int injected = state.enter(name))                                                            \
  return injected

extern "C" {

State *kilnFakeState() {
  state.setDevice = [](int device) { currentDevice = device; };
  state.device = [] { return currentDevice; };
  return &state;
}

const char *hipGetErrorName(int) { return "hipErrorFake"; }
const char *hipGetErrorString(int) { return "as the test asked"; }

int hipGetDeviceCount(int *count) {
  ENTER("hipGetDeviceCount");
  *count = int(state.devices.size());
  return 0;
}

int hipGetDevice(int *device) {
  ENTER("hipGetDevice");
  *device = currentDevice;
  return 0;
}

int hipSetDevice(int device) {
  ENTER("hipSetDevice");
  if (device < 0 || size_t(device) >= state.devices.size())
    return InvalidDevice;
  currentDevice = device;
  return 0;
}

int hipStreamIsCapturing(void *stream, int *capturing) {
  ENTER("hipStreamIsCapturing");
  *capturing = stream ? static_cast<Stream *>(stream)->capturing : 0;
  return 0;
}

int hipModuleLoadData(void **module, const void *data) {
  ENTER("hipModuleLoadData");
  Image *image = state.newImage(data);
  if (!image)
    return InvalidImage;
  image->device = currentDevice;
  *module = image;
  return 0;
}

int hipModuleUnload(void *module) {
  ENTER("hipModuleUnload");
  static_cast<Image *>(module)->loaded = false;
  return 0;
}

int hipModuleGetFunction(void **function, void *module, const char *name) {
  ENTER("hipModuleGetFunction");
  *function = state.newKernel(static_cast<Image *>(module), name);
  return *function ? 0 : NotFound;
}

int hipModuleLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                          unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                          void *stream, void **parameters, void **) {
  ENTER("hipModuleLaunchKernel");
  const unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};
  return launchKernel(static_cast<Kernel *>(function),
                      makeLaunch("hipModuleLaunchKernel", grid, block, shared, stream), parameters);
}

int hipModuleGetGlobal(void **address, size_t *bytes, void *module, const char *name) {
  ENTER("hipModuleGetGlobal");
  auto *image = static_cast<Image *>(module);
  if (std::strcmp(name, "kiln_messages") != 0 || !image->layouts.count(name))
    return NotFound;
  *address = &image->messages;
  *bytes = sizeof image->messages;
  return 0;
}

int hipHostMalloc(void **memory, size_t bytes, unsigned) {
  ENTER("hipHostMalloc");
  auto block = std::make_unique<char[]>(bytes);
  *memory = block.get();
  state.hostMemory[*memory] = std::move(block);
  return 0;
}

int hipHostFree(void *memory) {
  ENTER("hipHostFree");
  if (!state.hostMemory.erase(memory))
    return state.breakRule(InvalidHandle, "host memory is freed that there is not");
  return 0;
}

int hipHostGetDevicePointer(void **address, void *memory, unsigned) {
  ENTER("hipHostGetDevicePointer");
  *address = memory;
  return 0;
}

int hipMemcpyHtoD(void *to, void *from, size_t bytes) {
  ENTER("hipMemcpyHtoD");
  std::memcpy(to, from, bytes);
  return 0;
}

// The stream's work is over by then.
int hipLaunchHostFunc(void *stream, void (*function)(void *), void *user) {
  {
    ENTER("hipLaunchHostFunc");
    if (state.launches.empty() || state.launches.back().stream != stream)
      return state.breakRule(InvalidHandle, "host function of another stream");
  }
  function(user);
  return 0;
}

#if KILN_FAKE_VERSION >= 6
int hipThreadExchangeStreamCaptureMode(int *mode) {
  ENTER("hipThreadExchangeStreamCaptureMode");
  static thread_local int ofThread = 0; // hipStreamCaptureModeGlobal
  std::swap(*mode, ofThread);
  return 0;
}

int hipStreamGetDevice(void *stream, int *device) {
  ENTER("hipStreamGetDevice");
  *device = deviceOf(stream);
  return 0;
}

int hipGetDevicePropertiesR0600(void *properties, int device) {
  ENTER("hipGetDevicePropertiesR0600");
  return writeProperties(properties, device, 388, 1160, 1472);
}

int hipFuncSetAttribute(const void *, int, int) {
  ENTER("hipFuncSetAttribute");
  return 98; // hipErrorInvalidDeviceFunction: it wants a host function's address
}

int hipMallocAsync(void **memory, size_t bytes, void *stream) {
  ENTER("hipMallocAsync");
  *memory = reinterpret_cast<void *>(state.allocate(bytes, stream));
  return 0;
}

int hipFreeAsync(void *memory, void *stream) {
  ENTER("hipFreeAsync");
  return state.free(reinterpret_cast<uintptr_t>(memory), stream, InvalidValue);
}

int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *) {
  ENTER("hipMemcpyAsync");
  if (kind != 4) // hipMemcpyDefault
    return InvalidValue;
  state.copy(reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from), bytes);
  return 0;
}

int hipStreamSynchronize(void *) {
  ENTER("hipStreamSynchronize");
  return 0;
}

int hipModuleLaunchCooperativeKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                     unsigned blockX, unsigned blockY, unsigned blockZ,
                                     unsigned shared, void *stream, void **parameters) {
  ENTER("hipModuleLaunchCooperativeKernel");
  const unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};
  return launchKernel(static_cast<Kernel *>(function),
                      makeLaunch("hipModuleLaunchCooperativeKernel", grid, block, shared, stream),
                      parameters);
}
#endif

int hipGetDeviceProperties(void *properties, int device) {
  ENTER("hipGetDeviceProperties");
  return writeProperties(properties, device, 336, 396, 792);
}

} // extern "C"
