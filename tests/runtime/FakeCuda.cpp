// A fake libcuda. KILN_FAKE_VERSION, as in CUDA's version numbers, says which functions it has:
// 11040 lacks cuLaunchKernelEx, the library functions and cuCtxGetId; 12000 has all.
// KILN_FAKE_BROKEN leaves cuLaunchKernel out. Signatures after the CUDA Driver API reference.
#include "tests/runtime/FakeDriver.h"

#include <cstddef>

using namespace kiln::fake;

namespace {

enum {
  InvalidValue = 1,
  InvalidImage = 200,
  InvalidContext = 201,
  InvalidDevice = 101,
  InvalidHandle = 400,
  NotFound = 500,
  ContextDestroyed = 709
};

State state;
thread_local std::vector<Context *> contextStack;

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned words[16];
  } value;
};

struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};
static_assert(offsetof(LaunchConfig, stream) == 32 && sizeof(LaunchConfig) == 56 &&
              sizeof(LaunchAttribute) == 72);

Context *currentContext() { return contextStack.empty() ? nullptr : contextStack.back(); }

Context *contextOf(void *stream) {
  return stream ? static_cast<Stream *>(stream)->context : currentContext();
}

int attributeOf(const Kernel &kernel, int attribute, int device) {
  auto value = kernel.attributes.find({attribute, kernel.image->context ? -1 : device});
  return value == kernel.attributes.end() ? 0 : value->second;
}

int checkLimits(const Kernel &kernel, const Launch &launch) {
  auto cluster = launch.attributes.find(4);
  unsigned blocks = 1;
  for (int i = 0; i < 3; ++i) {
    if (!launch.grid[i] || launch.grid[i] > (i ? 65535u : 0x7fffffffu) || !launch.block[i])
      return state.breakRule(InvalidValue, "grid or block out of range");
    blocks *= cluster == launch.attributes.end() ? 1 : cluster->second[i];
  }
  if (launch.shared > 48 * 1024 && attributeOf(kernel, 8, launch.device) < int(launch.shared))
    return state.breakRule(InvalidValue, "more dynamic shared memory than the attribute allows");
  if (blocks > 8 && !attributeOf(kernel, 14, launch.device))
    return state.breakRule(InvalidValue, "a cluster that is not portable");
  return 0;
}

int launchKernel(Kernel *kernel, Launch launch, void **parameters) {
  Context *context = contextOf(launch.stream);
  if (!context)
    return InvalidContext;
  if (!context->alive)
    return ContextDestroyed;
  if (!kernel->image->loaded)
    return state.breakRule(InvalidHandle, "launch of an unloaded kernel");
  if (Context *owner = kernel->image->context) {
    if (owner != context || kernel->image->contextId != context->id)
      return state.breakRule(InvalidHandle, "launch of another context's function");
    if (currentContext() != context)
      return state.breakRule(InvalidContext, "launch without the function's context current");
  }
  launch.kernel = kernel->name;
  launch.image = kernel->image->data;
  launch.code = kernel->image->text;
  launch.context = context;
  launch.device = context->device;
  if (int result = checkLimits(*kernel, launch))
    return result;
  launch.arguments = State::copyArguments(*kernel, parameters);
  state.launches.push_back(std::move(launch));
  if (state.run)
    state.run(state.launches.back());
  return 0;
}

void writeLog(unsigned count, int *options, void **values) {
  char *buffer = nullptr;
  size_t capacity = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5)
      buffer = static_cast<char *>(values[i]);
    if (options[i] == 6)
      capacity = reinterpret_cast<uintptr_t>(values[i]);
  }
  if (buffer)
    std::strncpy(buffer, state.jitLog.c_str(), capacity);
}

} // namespace

#define ENTER(name)                                                                                \
  std::lock_guard<std::mutex> lock(state.mutex);                                                   \
  if (int injected = state.enter(name))                                                            \
  return injected

extern "C" {

State *kilnFakeState() {
  state.setCurrent = [](void *context) {
    contextStack.clear();
    if (context)
      contextStack.push_back(static_cast<Context *>(context));
  };
  state.current = []() -> void * { return currentContext(); };
  return &state;
}

int cuInit(unsigned) {
  ENTER("cuInit");
  return 0;
}

int cuGetErrorName(int error, const char **name) {
  *name = error == InvalidImage ? "CUDA_ERROR_INVALID_IMAGE" : "CUDA_ERROR_FAKE";
  return 0;
}

int cuGetErrorString(int, const char **text) {
  *text = "as the test asked";
  return 0;
}

int cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount");
  *count = int(state.devices.size());
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  ENTER("cuDeviceGetAttribute");
  if (device < 0 || size_t(device) >= state.devices.size())
    return InvalidDevice;
  const Device &asked = state.devices[device];
  *value = attribute == 16 ? asked.processors : attribute == 75 ? asked.major : asked.minor;
  return attribute == 16 || attribute == 75 || attribute == 76 ? 0 : InvalidValue;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER("cuDevicePrimaryCtxRetain");
  if (!state.primary[device])
    state.primary[device] = state.newContext(device);
  ++state.primaryRetains[device];
  *context = state.primary[device];
  return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  ENTER("cuDevicePrimaryCtxGetState");
  *flags = 0;
  *active = state.primaryRetains[device] > 0;
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER("cuDevicePrimaryCtxRelease_v2");
  --state.primaryRetains[device];
  return 0;
}

int cuCtxGetCurrent(void **context) {
  ENTER("cuCtxGetCurrent");
  *context = currentContext();
  return 0;
}

int cuCtxPushCurrent_v2(void *context) {
  ENTER("cuCtxPushCurrent_v2");
  if (!static_cast<Context *>(context)->alive)
    return state.breakRule(ContextDestroyed, "push of a destroyed context");
  contextStack.push_back(static_cast<Context *>(context));
  return 0;
}

int cuCtxPopCurrent_v2(void **context) {
  ENTER("cuCtxPopCurrent_v2");
  if (contextStack.empty())
    return InvalidContext;
  *context = contextStack.back();
  contextStack.pop_back();
  return 0;
}

int cuCtxGetDevice(int *device) {
  ENTER("cuCtxGetDevice");
  if (!currentContext())
    return InvalidContext;
  *device = currentContext()->device;
  return 0;
}

int cuStreamGetCtx(void *stream, void **context) {
  ENTER("cuStreamGetCtx");
  *context = contextOf(stream);
  return *context ? 0 : InvalidContext;
}

int cuStreamIsCapturing(void *stream, int *capturing) {
  ENTER("cuStreamIsCapturing");
  *capturing = stream ? static_cast<Stream *>(stream)->capturing : 0;
  return 0;
}

#ifndef KILN_FAKE_BROKEN
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, void *stream,
                   void **parameters, void **) {
  ENTER("cuLaunchKernel");
  Launch launch;
  launch.function = "cuLaunchKernel";
  launch.stream = stream;
  launch.grid = {gridX, gridY, gridZ};
  launch.block = {blockX, blockY, blockZ};
  launch.shared = sharedBytes;
  return launchKernel(static_cast<Kernel *>(function), launch, parameters);
}
#endif

int cuModuleLoadDataEx(void **module, const void *data, unsigned count, int *options,
                       void **values) {
  std::lock_guard<std::mutex> lock(state.mutex);
  if (int injected = state.enter("cuModuleLoadDataEx")) {
    writeLog(count, options, values);
    return injected;
  }
  if (!currentContext())
    return InvalidContext;
  Image *image = state.newImage(data);
  if (!image)
    return InvalidImage;
  image->context = currentContext();
  image->contextId = currentContext()->id;
  *module = image;
  return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  ENTER("cuModuleGetFunction");
  *function = state.newKernel(static_cast<Image *>(module), name);
  return *function ? 0 : NotFound;
}

int cuModuleUnload(void *module) {
  ENTER("cuModuleUnload");
  Image *image = static_cast<Image *>(module);
  if (image->context != currentContext() || image->contextId != currentContext()->id)
    return state.breakRule(InvalidContext, "unload without the module's context current");
  image->loaded = false;
  return 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  ENTER("cuFuncSetAttribute");
  static_cast<Kernel *>(function)->attributes[{attribute, -1}] = value;
  return 0;
}

int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  ENTER("cuMemAlloc_v2");
  if (!currentContext())
    return InvalidContext;
  static unsigned long long next = 0x7f0000000000;
  *address = next;
  next += (bytes + 255) / 256 * 256;
  return 0;
}

int cuMemsetD8Async(unsigned long long address, unsigned char value, size_t bytes, void *stream) {
  ENTER("cuMemsetD8Async");
  if (!currentContext())
    return InvalidContext;
  state.settings.push_back({address, value, bytes, stream});
  return 0;
}

int cuMemAllocAsync(unsigned long long *address, size_t bytes, void *stream) {
  ENTER("cuMemAllocAsync");
  if (!contextOf(stream))
    return InvalidContext;
  *address = state.allocate(bytes, stream);
  return 0;
}

int cuMemFreeAsync(unsigned long long address, void *stream) {
  ENTER("cuMemFreeAsync");
  return state.free(address, stream, InvalidValue);
}

int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes, void *stream) {
  ENTER("cuMemcpyAsync");
  if (!contextOf(stream) || contextOf(stream) != currentContext())
    return state.breakRule(InvalidContext, "a copy without the stream's context");
  state.copy(to, from, bytes);
  return 0;
}

int cuStreamSynchronize(void *stream) {
  ENTER("cuStreamSynchronize");
  return contextOf(stream) ? 0 : InvalidContext;
}

int cuThreadExchangeStreamCaptureMode(int *) {
  ENTER("cuThreadExchangeStreamCaptureMode");
  return 0;
}

#if KILN_FAKE_VERSION >= 12000
int cuLaunchKernelEx(const LaunchConfig *config, void *function, void **parameters, void **) {
  ENTER("cuLaunchKernelEx");
  Launch launch;
  launch.function = "cuLaunchKernelEx";
  launch.stream = config->stream;
  launch.grid = {config->gridX, config->gridY, config->gridZ};
  launch.block = {config->blockX, config->blockY, config->blockZ};
  launch.shared = config->sharedBytes;
  for (unsigned i = 0; i < config->numAttributes; ++i) {
    const unsigned *words = config->attributes[i].value.words;
    launch.attributes[config->attributes[i].id] = {words[0], words[1], words[2]};
  }
  return launchKernel(static_cast<Kernel *>(function), launch, parameters);
}

// The rules of the CUDA Driver API, "Tensor Map Object Management".
int cuTensorMapEncodeTiled(void *map, int element, uint32_t rank, void *address,
                           const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, int interleave, int swizzle, int promotion,
                           int fill) {
  ENTER("cuTensorMapEncodeTiled");
  static const unsigned sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  if (!currentContext())
    return state.breakRule(InvalidContext, "a tensor map without a context");
  if (reinterpret_cast<uintptr_t>(map) % 64 || reinterpret_cast<uintptr_t>(address) % 16 ||
      !address || rank < 1 || rank > 5 || element < 0 || element > 9)
    return state.breakRule(InvalidValue, "a tensor map's address, rank or element");
  if (box[0] * sizes[element] % 16 ||
      (swizzle && box[0] * sizes[element] > unsigned(16 << swizzle)))
    return state.breakRule(InvalidValue, "rows of a tensor map's box");
  TensorMap made = {};
  for (uint32_t i = 0; i < rank; ++i) {
    if (extents[i] == 0 || extents[i] > uint64_t(1) << 32 || box[i] == 0 || box[i] > 256 ||
        steps[i] == 0 || steps[i] > 8)
      return state.breakRule(InvalidValue, "a tensor map's extents, box or steps");
    if (i + 1 < rank && (strides[i] % 16 || strides[i] >= uint64_t(1) << 40))
      return state.breakRule(InvalidValue, "a tensor map's strides");
    made.extents[i] = extents[i];
    made.box[i] = uint16_t(box[i]);
    made.steps[i] = uint8_t(steps[i]);
    if (i + 1 < rank)
      made.strides[i] = strides[i];
  }
  made.address = reinterpret_cast<uintptr_t>(address);
  made.element = uint8_t(element);
  made.rank = uint8_t(rank);
  made.interleave = uint8_t(interleave);
  made.swizzle = uint8_t(swizzle);
  made.promotion = uint8_t(promotion);
  made.fill = uint8_t(fill);
  made.sum = made.sumOfTheRest();
  std::memcpy(map, &made, sizeof made);
  return 0;
}

int cuCtxGetId(void *context, unsigned long long *id) {
  ENTER("cuCtxGetId");
  *id = static_cast<Context *>(context)->id;
  return 0;
}

int cuLibraryLoadData(void **library, const void *data, int *options, void **values, unsigned count,
                      int *, void **, unsigned) {
  std::lock_guard<std::mutex> lock(state.mutex);
  if (int injected = state.enter("cuLibraryLoadData")) {
    writeLog(count, options, values);
    return injected;
  }
  *library = state.newImage(data);
  return *library ? 0 : InvalidImage;
}

int cuLibraryUnload(void *library) {
  ENTER("cuLibraryUnload");
  static_cast<Image *>(library)->loaded = false;
  return 0;
}

int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  ENTER("cuLibraryGetKernel");
  *kernel = state.newKernel(static_cast<Image *>(library), name);
  return *kernel ? 0 : NotFound;
}

int cuKernelGetFunction(void **function, void *kernel) {
  ENTER("cuKernelGetFunction");
  if (!currentContext())
    return InvalidContext;
  *function = kernel;
  return 0;
}

int cuKernelSetAttribute(int attribute, int value, void *kernel, int device) {
  ENTER("cuKernelSetAttribute");
  static_cast<Kernel *>(kernel)->attributes[{attribute, device}] = value;
  return 0;
}

int cuKernelGetParamInfo(void *handle, size_t index, size_t *offset, size_t *size) {
  ENTER("cuKernelGetParamInfo");
  const std::vector<ParamSlot> &layout = static_cast<Kernel *>(handle)->layout;
  if (index >= layout.size())
    return InvalidValue;
  *offset = layout[index].offset;
  *size = layout[index].size;
  return 0;
}

int cuFuncLoad(void *) {
  ENTER("cuFuncLoad");
  return currentContext() ? 0 : InvalidContext;
}
#endif

} // extern "C"
