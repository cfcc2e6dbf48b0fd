/* A libcuda that does nothing, as fast as it can: what the benchmark measures against is its
 * cuLaunchKernel. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static int object;

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
GIVE_NUMBER(cuDeviceGetCount, 1)
GIVE_NUMBER(cuDeviceGetAttribute, attribute == 75 ? 9 : 0, int attribute, int device)
GIVE_OBJECT(cuDevicePrimaryCtxRetain, int device)
SUCCEED(cuDevicePrimaryCtxGetState, int device, unsigned *flags, int *active)
SUCCEED(cuDevicePrimaryCtxRelease_v2, int device)
GIVE_OBJECT(cuCtxGetCurrent)
SUCCEED(cuCtxPushCurrent_v2, void *context)
GIVE_OBJECT(cuCtxPopCurrent_v2)
GIVE_NUMBER(cuCtxGetDevice, 0)
SUCCEED(cuModuleUnload, void *module)
GIVE_OBJECT(cuModuleLoadDataEx, const void *data, unsigned count, int *options, void **values)
GIVE_OBJECT(cuModuleGetFunction, void *module, const char *name)
SUCCEED(cuFuncSetAttribute, void *function, int attribute, int value)
SUCCEED(cuMemsetD8Async, unsigned long long address, unsigned char value, size_t bytes,
        void *stream)
SUCCEED(cuLaunchKernel, void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
        unsigned by, unsigned bz, unsigned shared, void *stream, void **params, void **extra)
SUCCEED(cuLaunchKernelEx, const void *config, void *function, void **params, void **extra)
GIVE_OBJECT(cuLibraryLoadData, const void *data, int *options, void **values, unsigned count,
            int *library_options, void **library_values, unsigned num_library_options)
SUCCEED(cuLibraryUnload, void *library)
GIVE_OBJECT(cuLibraryGetKernel, void *library, const char *name)
SUCCEED(cuKernelSetAttribute, int attribute, int value, void *kernel, int device)

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
  *context = &object;
  return 0;
}

int cuStreamIsCapturing(void *stream, int *capturing);
int cuStreamIsCapturing(void *stream, int *capturing) {
  *capturing = 0;
  return 0;
}

int cuCtxGetId(void *context, unsigned long long *id);
int cuCtxGetId(void *context, unsigned long long *id) {
  *id = 1;
  return 0;
}
