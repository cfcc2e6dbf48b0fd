/* windows.test: an amdhip64.dll with one gfx942, which counts launches. Signatures after the HIP
 * API reference. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORTED __declspec(dllexport)

static long launches;

EXPORTED long fake_launches(void) { return launches; }

EXPORTED int hipGetDeviceCount(int *count) {
  *count = 1;
  return 0;
}
EXPORTED int hipGetDevice(int *device) {
  *device = 0;
  return 0;
}
EXPORTED int hipSetDevice(int device) { return device ? 101 : 0; }
EXPORTED int hipStreamGetDevice(void *stream, int *device) {
  (void)stream;
  return hipGetDevice(device);
}
EXPORTED int hipStreamIsCapturing(void *stream, int *status) {
  (void)stream;
  *status = 0;
  return 0;
}
EXPORTED const char *hipGetErrorName(int error) { return error ? "hipErrorFake" : "hipSuccess"; }
EXPORTED const char *hipGetErrorString(int error) { return error ? "a failure" : "none"; }
EXPORTED int hipGetDevicePropertiesR0600(void *properties, int device) {
  int processors = 304;
  (void)device;
  memset(properties, 0, 1472);
  memcpy((char *)properties + 388, &processors, sizeof processors);
  strcpy((char *)properties + 1160, "gfx942:sramecc+:xnack-");
  return 0;
}
EXPORTED int hipModuleLoadData(void **module, const void *image) {
  *module = (void *)(uintptr_t)image;
  return memcmp(image, "\177ELF", 4) ? 200 : 0;
}
EXPORTED int hipModuleUnload(void *module) { return module ? 0 : 1; }
EXPORTED int hipModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return name ? 0 : 500;
}
EXPORTED int hipModuleGetGlobal(void **address, size_t *bytes, void *module, const char *name) {
  (void)address, (void)bytes, (void)module, (void)name;
  return 500; /* hipErrorNotFound */
}
EXPORTED int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, void *stream,
                                   void **parameters, void **extra) {
  (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
  (void)block_z, (void)shared_bytes, (void)stream, (void)extra;
  int32_t count;
  memcpy(&count, parameters[3], sizeof count);
  if (count == 1000)
    __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
  return 0;
}
