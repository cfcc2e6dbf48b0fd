/*
 * Stands for AMD's driver and a gfx942 on machines that have neither: memory of its own, and a
 * launch that computes what the kernel of Inputs/good.json would, out[i] = x[i] * factor, from the
 * arguments as they were passed. A pointer that is not the device's is an illegal access. By its
 * events a launch takes 10 us and a millisecond for 1000 threads; one of 512 threads a block fails.
 * Signatures after the HIP API reference.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ILLEGAL_ADDRESS = 700, INVALID_VALUE = 1, MAX_ALLOCATIONS = 16 };

static struct {
  char *first;
  size_t bytes;
} allocations[MAX_ALLOCATIONS];
static unsigned num_allocations;

static int is_device_memory(const void *memory, size_t bytes) {
  for (unsigned i = 0; i < num_allocations; ++i) {
    size_t offset = (size_t)((const char *)memory - allocations[i].first);
    if (offset <= allocations[i].bytes && allocations[i].bytes - offset >= bytes)
      return 1;
  }
  return 0;
}

int hipMalloc(void **memory, size_t bytes) {
  if (num_allocations == MAX_ALLOCATIONS || !(*memory = malloc(bytes)))
    return 2;
  allocations[num_allocations].first = *memory;
  allocations[num_allocations++].bytes = bytes;
  return 0;
}

int hipFree(void *memory) {
  for (unsigned i = 0; i < num_allocations; ++i)
    if (allocations[i].first == memory) {
      allocations[i] = allocations[--num_allocations];
      free(memory);
      return 0;
    }
  return INVALID_VALUE;
}

int hipMemsetAsync(void *memory, int value, size_t bytes, void *stream) {
  (void)stream;
  if (!is_device_memory(memory, bytes))
    return INVALID_VALUE;
  memset(memory, value, bytes);
  return 0;
}

int hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
  if ((kind != 1 && kind != 2) || !is_device_memory(kind == 1 ? to : from, bytes))
    return INVALID_VALUE;
  memcpy(to, from, bytes);
  return 0;
}

static int pending;

int hipDeviceSynchronize(void) { return pending; }

/* Events hold the milliseconds of a clock that launches advance. */
static double clock_ms;
int hipEventCreate(void **event) { return (*event = calloc(1, sizeof(double))) ? 0 : 2; }
int hipEventRecord(void *event, void *stream) {
  (void)stream;
  *(double *)event = clock_ms;
  return pending;
}
int hipEventSynchronize(void *event) {
  (void)event;
  return pending;
}
int hipEventElapsedTime(float *ms, void *begin, void *end) {
  *ms = (float)(*(double *)end - *(double *)begin);
  return 0;
}
int hipDeviceGetName(char *name, int size, int device) {
  (void)device;
  strncpy(name, "Fake Instinct", (size_t)size);
  return 0;
}
int hipRuntimeGetVersion(int *version) {
  *version = 60342134;
  return 0;
}

int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void *stream, void **parameters, void **extra) {
  (void)function, (void)grid_y, (void)grid_z, (void)block_y;
  (void)block_z, (void)shared_bytes, (void)stream, (void)extra;
  const float *x = *(float **)parameters[0];
  float *out = *(float **)parameters[1];
  int32_t n = *(int32_t *)parameters[2];
  float factor = *(float *)parameters[3];
  if (!is_device_memory(x, (size_t)n * 4) || !is_device_memory(out, (size_t)n * 4)) {
    pending = ILLEGAL_ADDRESS;
    return 0;
  }
  if (block_x == 512)
    pending = ILLEGAL_ADDRESS;
  clock_ms += 0.01 + grid_x * block_x * 0.001;
  for (int32_t i = 0; i < n; ++i)
    out[i] = x[i] * factor;
  return 0;
}

int hipGetDeviceCount(int *count) {
  *count = 1;
  return 0;
}
int hipGetDevice(int *device) {
  *device = 0;
  return 0;
}
int hipSetDevice(int device) { return device ? 101 : 0; }
int hipStreamGetDevice(void *stream, int *device) {
  (void)stream;
  *device = 0;
  return 0;
}
int hipStreamIsCapturing(void *stream, int *capturing) {
  (void)stream;
  *capturing = 0;
  return 0;
}
int hipGetDevicePropertiesR0600(void *properties, int device) {
  const int processors = 304;
  (void)device;
  memset(properties, 0, 1472);
  memcpy((char *)properties + 388, &processors, sizeof processors);
  strcpy((char *)properties + 1160, "gfx942:sramecc+:xnack-");
  return 0;
}
int hipModuleLoadData(void **module, const void *image) {
  *module = (void *)(uintptr_t)image;
  return memcmp(image, "\177ELF", 4) ? 200 : 0;
}
int hipModuleUnload(void *module) {
  (void)module;
  return 0;
}
int hipModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return name ? 0 : 500;
}
int hipModuleGetGlobal(void **address, size_t *bytes, void *module, const char *name) {
  (void)address, (void)bytes, (void)module, (void)name;
  return 500; /* hipErrorNotFound */
}
const char *hipGetErrorName(int error) {
  return error == ILLEGAL_ADDRESS ? "hipErrorIllegalAddress" : "hipErrorUnknown";
}
const char *hipGetErrorString(int error) {
  return error == ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "unknown error";
}
