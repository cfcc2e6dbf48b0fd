/* An AMD GPU; names and types after HIP's API reference. */
#include "tuner/device_library.h"
#include "tuner/hip_functions.h"

#include <stdio.h>

/* hipDeviceAttribute_t of HIP 5 and later counts anew with each release: no number of it is relied
 * on. hipMemcpyKind does not. */
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };

#define MEMBER(result, name, parameters) result(*name) parameters;
static struct { KILN_TUNER_HIP_FUNCTIONS(MEMBER) } api;

static void *begin, *end;

static const char *check(const char *what, int result) {
  return result ? kiln_tuner_driver_error(what, api.hipGetErrorString(result), result) : NULL;
}

static const char *open_library(const char *path) {
  /* As runtime/hip_driver.c looks for them. */
  static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                      "libamdhip64.so", NULL};
#define SYMBOL(result, name, parameters) {#name, (void **)&api.name},
  const kiln_tuner_symbol symbols[] = {KILN_TUNER_HIP_FUNCTIONS(SYMBOL){NULL, NULL}};
  return kiln_tuner_open_library(KILN_DRIVER_HIP, path, names, symbols);
}

static const char *open_device(kiln_tuner_device *device, const char *library, int ordinal,
                               uint32_t threads) {
  int version = 0;
  const char *error = open_library(library);
  (void)threads;
  if (!error)
    error = check("hipSetDevice", api.hipSetDevice(ordinal));
  if (!error)
    error = check("hipDeviceGetName",
                  api.hipDeviceGetName(device->name, (int)sizeof device->name, ordinal));
  if (!error)
    error = check("hipRuntimeGetVersion", api.hipRuntimeGetVersion(&version));
  if (!error)
    error = check("hipEventCreate", api.hipEventCreate(&begin));
  if (!error)
    error = check("hipEventCreate", api.hipEventCreate(&end));
  if (error)
    return error;
  device->stream = kiln_hip_stream(NULL);
  device->driver = "hip";
  device->cache_bytes = (size_t)256 << 20; /* MI300's Infinity Cache; others have less */
  snprintf(device->version, sizeof device->version, "%d.%d.%d", version / 10000000,
           version / 100000 % 100, version % 100000);
  return NULL;
}

static const char *allocate(size_t bytes, void **memory) {
  return check("hipMalloc", api.hipMalloc(memory, bytes));
}

static const char *release(void *memory) {
  return memory ? check("hipFree", api.hipFree(memory)) : NULL;
}

static const char *to_device(void *to, const void *from, size_t bytes) {
  return check("hipMemcpy", api.hipMemcpy(to, from, bytes, HOST_TO_DEVICE));
}

static const char *to_host(void *to, const void *from, size_t bytes) {
  return check("hipMemcpy", api.hipMemcpy(to, from, bytes, DEVICE_TO_HOST));
}

static const char *finish(void) { return check("the kernel", api.hipDeviceSynchronize()); }

static const char *overwrite(void *memory, size_t bytes) {
  return check("hipMemsetAsync", api.hipMemsetAsync(memory, 0, bytes, NULL));
}

static const char *start(void) { return check("hipEventRecord", api.hipEventRecord(begin, NULL)); }

static const char *stop(void) { return check("hipEventRecord", api.hipEventRecord(end, NULL)); }

static const char *elapsed(double *microseconds) {
  float milliseconds = 0;
  const char *error = check("the kernel", api.hipEventSynchronize(end));
  if (!error)
    error = check("hipEventElapsedTime", api.hipEventElapsedTime(&milliseconds, begin, end));
  *microseconds = (double)milliseconds * 1e3;
  return error;
}

const kiln_tuner_driver kiln_tuner_hip = {"hip",     open_device, allocate, release,
                                          to_device, to_host,     finish,   overwrite,
                                          start,     stop,        elapsed};
