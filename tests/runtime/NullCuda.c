/* A libcuda that does nothing, as fast as it can: what the benchmark measures against is its
 * cuLaunchKernel. It has eight devices, each with one context, which is a stream of its own, too
 * (kilnNullStream); no call of a launch takes a lock, so that it orders no threads. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NUM_DEVICES = 8 };

/* Contexts and streams; everything else is the first. */
static int objects[NUM_DEVICES];
#define object objects[0]

static _Thread_local void *current[8];
static _Thread_local unsigned depth;
static atomic_uint loads;

void *kilnNullStream(int device);
void *kilnNullStream(int device) { return &objects[device]; }

unsigned kilnNullLoads(void);
unsigned kilnNullLoads(void) { return atomic_load(&loads); }

#define SUCCEED(name, ...)                                                                         \
  int name(__VA_ARGS__);                                                                           \
  int name(__VA_ARGS__) { return 0; }
#define GIVE_OBJECT(name, ...)                                                                     \
  int name(void **result, ##__VA_ARGS__);                                                          \
  int name(void **result, ##__VA_ARGS__) {                                                         \
    *result = &object;                                                                             \
    return 0;                                                                                      \
  }
#define GIVE_NUMBER(name, number, ...)                                                             \
  int name(int *result, ##__VA_ARGS__);                                                            \
  int name(int *result, ##__VA_ARGS__) {                                                           \
    *result = number;                                                                              \
    return 0;                                                                                      \
  }

SUCCEED(cuInit, unsigned flags)
SUCCEED(cuGetErrorName, int error, const char **name)
SUCCEED(cuGetErrorString, int error, const char **text)
GIVE_NUMBER(cuDeviceGetCount, NUM_DEVICES)
GIVE_NUMBER(cuDeviceGetAttribute, attribute == 75 ? 9 : 0, int attribute, int device)
SUCCEED(cuDevicePrimaryCtxGetState, int device, unsigned *flags, int *active)
SUCCEED(cuDevicePrimaryCtxRelease_v2, int device)
SUCCEED(cuModuleUnload, void *module)
GIVE_OBJECT(cuModuleLoadDataEx, const void *data, unsigned count, int *options, void **values)
GIVE_OBJECT(cuModuleGetFunction, void *module, const char *name)
SUCCEED(cuFuncSetAttribute, void *function, int attribute, int value)
SUCCEED(cuMemsetD8Async, unsigned long long address, unsigned char value, size_t bytes,
        void *stream)
SUCCEED(cuLaunchKernel, void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
        unsigned by, unsigned bz, unsigned shared, void *stream, void **params, void **extra)
SUCCEED(cuLaunchKernelEx, const void *config, void *function, void **params, void **extra)
SUCCEED(cuLibraryUnload, void *library)
GIVE_OBJECT(cuLibraryGetKernel, void *library, const char *name)
SUCCEED(cuKernelSetAttribute, int attribute, int value, void *kernel, int device)

int cuLibraryLoadData(void **library, const void *data, int *options, void **values, unsigned count,
                      int *library_options, void **library_values, unsigned num_library_options);
int cuLibraryLoadData(void **library, const void *data, int *options, void **values, unsigned count,
                      int *library_options, void **library_values, unsigned num_library_options) {
  atomic_fetch_add(&loads, 1);
  *library = &object;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &objects[device];
  return 0;
}

int cuCtxGetCurrent(void **context);
int cuCtxGetCurrent(void **context) {
  *context = depth ? current[depth - 1] : &object;
  return 0;
}

int cuCtxPushCurrent_v2(void *context);
int cuCtxPushCurrent_v2(void *context) {
  if (depth == sizeof current / sizeof *current)
    return 1;
  current[depth++] = context;
  return 0;
}

int cuCtxPopCurrent_v2(void **context);
int cuCtxPopCurrent_v2(void **context) {
  cuCtxGetCurrent(context);
  depth -= depth > 0;
  return 0;
}

int cuCtxGetDevice(int *device);
int cuCtxGetDevice(int *device) {
  void *context;
  cuCtxGetCurrent(&context);
  *device = (int)((int *)context - objects);
  return 0;
}

int cuMemAlloc_v2(unsigned long long *address, size_t bytes);
int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  *address = 4096;
  return 0;
}

int cuTensorMapEncodeTiled(void *map, int element, uint32_t rank, void *address,
                           const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, int interleave, int swizzle, int promotion,
                           int fill);
int cuTensorMapEncodeTiled(void *map, int element, uint32_t rank, void *address,
                           const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, int interleave, int swizzle, int promotion,
                           int fill) {
  memset(map, 0, 128);
  return 0;
}

int cuStreamGetCtx(void *stream, void **context);
int cuStreamGetCtx(void *stream, void **context) {
  /* Programs pass any number for a stream; of the streams of devices the context has the address.
   */
  uintptr_t offset = (uintptr_t)stream - (uintptr_t)objects;
  *context = offset < sizeof objects ? stream : &object;
  return 0;
}

int cuStreamIsCapturing(void *stream, int *capturing);
int cuStreamIsCapturing(void *stream, int *capturing) {
  *capturing = 0;
  return 0;
}

int cuCtxGetId(void *context, unsigned long long *id);
int cuCtxGetId(void *context, unsigned long long *id) {
  *id = 1 + (unsigned long long)((int *)context - objects);
  return 0;
}
