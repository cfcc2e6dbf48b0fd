/* An NVIDIA GPU and its primary context; names and types after the CUDA Driver API reference. */
#include "tuner/device_library.h"

#include <stdint.h>
#include <stdio.h>

enum { ATTRIBUTE_PROCESSORS = 16, ATTRIBUTE_L2_BYTES = 38 };

typedef unsigned long long address;

static struct {
  int (*init)(unsigned);
  int (*error_text)(int, const char **);
  int (*driver_version)(int *);
  int (*device_get)(int *, int);
  int (*device_name)(char *, int, int);
  int (*device_attribute)(int *, int, int);
  int (*retain_primary)(void **, int);
  int (*set_current)(void *);
  int (*synchronize)(void);
  int (*allocate)(address *, size_t);
  int (*release)(address);
  int (*to_device)(address, const void *, size_t);
  int (*to_host)(void *, address, size_t);
  int (*set_bytes)(address, unsigned char, size_t, void *);
  int (*event_create)(void **, unsigned);
  int (*event_record)(void *, void *);
  int (*event_synchronize)(void *);
  int (*event_elapsed)(float *, void *, void *);
} api;

static void *begin, *end;

static const char *check(const char *what, int result) {
  const char *text = NULL;
  if (result == 0)
    return NULL;
  api.error_text(result, &text);
  return kiln_tuner_driver_error(what, text, result);
}

static const char *open_library(const char *path) {
  static const char *const names[] = {"libcuda.so.1", "libcuda.so", NULL};
  const kiln_tuner_symbol symbols[] = {{"cuInit", (void **)&api.init},
                                       {"cuGetErrorString", (void **)&api.error_text},
                                       {"cuDriverGetVersion", (void **)&api.driver_version},
                                       {"cuDeviceGet", (void **)&api.device_get},
                                       {"cuDeviceGetName", (void **)&api.device_name},
                                       {"cuDeviceGetAttribute", (void **)&api.device_attribute},
                                       {"cuDevicePrimaryCtxRetain", (void **)&api.retain_primary},
                                       {"cuCtxSetCurrent", (void **)&api.set_current},
                                       {"cuCtxSynchronize", (void **)&api.synchronize},
                                       {"cuMemAlloc_v2", (void **)&api.allocate},
                                       {"cuMemFree_v2", (void **)&api.release},
                                       {"cuMemcpyHtoD_v2", (void **)&api.to_device},
                                       {"cuMemcpyDtoH_v2", (void **)&api.to_host},
                                       {"cuMemsetD8Async", (void **)&api.set_bytes},
                                       {"cuEventCreate", (void **)&api.event_create},
                                       {"cuEventRecord", (void **)&api.event_record},
                                       {"cuEventSynchronize", (void **)&api.event_synchronize},
                                       {"cuEventElapsedTime", (void **)&api.event_elapsed},
                                       {NULL, NULL}};
  return kiln_tuner_open_library(KILN_DRIVER_CUDA, path, names, symbols);
}

static const char *open_device(kiln_tuner_device *device, const char *library, int ordinal,
                               uint32_t threads) {
  int number = 0, version = 0, processors = 0, l2 = 0;
  void *context = NULL;
  const char *error = open_library(library);
  (void)threads;
  if (!error)
    error = check("cuInit", api.init(0));
  if (!error)
    error = check("cuDeviceGet", api.device_get(&number, ordinal));
  if (!error)
    error = check("cuDevicePrimaryCtxRetain", api.retain_primary(&context, number));
  if (!error)
    error = check("cuCtxSetCurrent", api.set_current(context));
  if (!error)
    error = check("cuDeviceGetName", api.device_name(device->name, sizeof device->name, number));
  if (!error)
    error = check("cuDriverGetVersion", api.driver_version(&version));
  if (!error)
    error = check("cuDeviceGetAttribute",
                  api.device_attribute(&processors, ATTRIBUTE_PROCESSORS, number));
  if (!error)
    error = check("cuDeviceGetAttribute", api.device_attribute(&l2, ATTRIBUTE_L2_BYTES, number));
  if (!error)
    error = check("cuEventCreate", api.event_create(&begin, 0));
  if (!error)
    error = check("cuEventCreate", api.event_create(&end, 0));
  if (error)
    return error;
  device->stream = kiln_cuda_stream(NULL);
  device->driver = "cuda";
  device->processors = (uint32_t)processors;
  device->cache_bytes = l2 > 0 ? (size_t)l2 : (size_t)64 << 20;
  snprintf(device->version, sizeof device->version, "%d.%d", version / 1000, version % 1000 / 10);
  return NULL;
}

static const char *allocate(size_t bytes, void **memory) {
  address made = 0;
  const char *error = check("cuMemAlloc", api.allocate(&made, bytes));
  *memory = (void *)(uintptr_t)made;
  return error;
}

static const char *release(void *memory) {
  return memory ? check("cuMemFree", api.release((uintptr_t)memory)) : NULL;
}

static const char *to_device(void *to, const void *from, size_t bytes) {
  return check("cuMemcpyHtoD", api.to_device((uintptr_t)to, from, bytes));
}

static const char *to_host(void *to, const void *from, size_t bytes) {
  return check("cuMemcpyDtoH", api.to_host(to, (uintptr_t)from, bytes));
}

static const char *finish(void) { return check("the kernel", api.synchronize()); }

static const char *overwrite(void *memory, size_t bytes) {
  return check("cuMemsetD8Async", api.set_bytes((uintptr_t)memory, 0, bytes, NULL));
}

static const char *start(void) { return check("cuEventRecord", api.event_record(begin, NULL)); }

static const char *stop(void) { return check("cuEventRecord", api.event_record(end, NULL)); }

static const char *elapsed(double *microseconds) {
  float milliseconds = 0;
  const char *error = check("the kernel", api.event_synchronize(end));
  if (!error)
    error = check("cuEventElapsedTime", api.event_elapsed(&milliseconds, begin, end));
  *microseconds = (double)milliseconds * 1e3;
  return error;
}

const kiln_tuner_driver kiln_tuner_cuda = {"cuda",    open_device, allocate, release,
                                           to_device, to_host,     finish,   overwrite,
                                           start,     stop,        elapsed};
