/*
 * Stands for NVIDIA's driver and an sm_90 on machines that have neither, for tuners: memory of its
 * own, and a launch that computes out[i] = x[i] * factor from the arguments as they were passed. By
 * its events a launch takes 10 us and a millisecond for 1000 threads. Blocks of 128 threads write
 * nothing: they are wrong. Signatures after the CUDA Driver API reference.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;

enum { INVALID_VALUE = 1, NOT_CURRENT = 201 };

static int context; /* its address is the context */
static void *current;
static double clock_ms;

int cuInit(unsigned flags) { return flags ? INVALID_VALUE : 0; }
int cuGetErrorName(int error, const char **name) {
  *name = error == NOT_CURRENT ? "CUDA_ERROR_INVALID_CONTEXT" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuGetErrorString(int error, const char **text) {
  *text = error == NOT_CURRENT ? "invalid device context" : "unknown error";
  return 0;
}
int cuDriverGetVersion(int *version) {
  *version = 11040;
  return 0;
}
int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal ? 101 : 0;
}
int cuDeviceGetName(char *name, int size, int device) {
  (void)device;
  strncpy(name, "Fake \"Hopper\"", (size_t)size);
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 16 ? 132 : attribute == 38 ? 1 << 20 : attribute == 75 ? 9 : 0;
  return device ? 101 : 0;
}
int cuDevicePrimaryCtxRetain(void **made, int device) {
  *made = &context;
  return device ? 101 : 0;
}
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  *flags = 0;
  *active = 1;
  return device ? 101 : 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return device ? 101 : 0; }
int cuCtxGetCurrent(void **got) {
  *got = current;
  return 0;
}
int cuCtxSetCurrent(void *wanted) {
  current = wanted;
  return 0;
}
int cuCtxPushCurrent_v2(void *wanted) {
  current = wanted;
  return 0;
}
int cuCtxPopCurrent_v2(void **got) {
  *got = current;
  return 0;
}
int cuCtxGetDevice(int *device) {
  *device = 0;
  return current ? 0 : NOT_CURRENT;
}
int cuCtxSynchronize(void) { return current ? 0 : NOT_CURRENT; }
int cuStreamGetCtx(void *stream, void **got) {
  (void)stream;
  *got = &context;
  return 0;
}
int cuStreamIsCapturing(void *stream, int *status) {
  (void)stream;
  *status = 0;
  return 0;
}

/* Addresses of the device are no addresses of the host: whoever takes one for the other crashes. */
static const address bias = UINT64_C(1) << 60;
int cuMemAlloc_v2(address *made, size_t bytes) {
  void *memory = current ? malloc(bytes) : NULL;
  *made = (uintptr_t)memory + bias;
  return memory ? 0 : 2;
}
static char *host(address memory) { return (char *)(uintptr_t)(memory - bias); }
int cuMemFree_v2(address memory) {
  free(host(memory));
  return 0;
}
int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes) {
  memcpy(host(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, address from, size_t bytes) {
  memcpy(to, host(from), bytes);
  return 0;
}
int cuMemsetD8Async(address memory, unsigned char value, size_t bytes, void *stream) {
  (void)stream;
  memset(host(memory), value, bytes);
  return 0;
}

int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  return (*event = calloc(1, sizeof(double))) ? 0 : 2;
}
int cuEventRecord(void *event, void *stream) {
  (void)stream;
  *(double *)event = clock_ms;
  return 0;
}
int cuEventSynchronize(void *event) { return event ? 0 : INVALID_VALUE; }
int cuEventElapsedTime(float *ms, void *begin, void *end) {
  *ms = (float)(*(double *)end - *(double *)begin);
  return 0;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned num_options, int *options,
                       void **values) {
  (void)num_options, (void)options, (void)values;
  *module = (void *)(uintptr_t)image;
  return memcmp(image, "\177ELF", 4) ? 200 : 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return name ? 0 : 500;
}
int cuModuleUnload(void *module) { return module ? 0 : INVALID_VALUE; }
int cuFuncSetAttribute(void *function, int attribute, int value) {
  (void)attribute, (void)value;
  return function ? 0 : INVALID_VALUE;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **parameters, void **extra) {
  const float *x = (const float *)host(*(address *)parameters[0]);
  float *out = (float *)host(*(address *)parameters[1]), factor = *(float *)parameters[3];
  int32_t n = *(int32_t *)parameters[2];
  (void)function, (void)grid_y, (void)grid_z, (void)block_y, (void)block_z, (void)shared_bytes;
  (void)stream, (void)extra;
  clock_ms += 0.01 + grid_x * block_x * 0.001;
  for (int32_t i = 0; i < n && block_x != 128; ++i)
    out[i] = x[i] * factor;
  return 0;
}
