/*
 * AMD's HIP runtime. Code is loaded per device; HIP keeps one context a device, so a place is a
 * device.
 *
 * Modules are loaded into the current device, and launches are made with the stream's device
 * current; the caller's device is put back afterwards.
 */
#include "runtime/driver.h"
#include "runtime/hip_abi.h"
#include "runtime/hip_messages.h"
#include "runtime/mutex.h"
#include "runtime/scratch.h"
#include "runtime/shared_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_DEVICES = 64,
  PROPERTIES_BYTES = 8192, /* larger than either struct (1472 and 792 bytes) */
  DEFAULT_SHARED_BYTES = 64 * 1024
};

typedef struct hip_api {
#define KILN_HIP(presence, result, name, parameters) result(*name) parameters;
#include "runtime/hip_symbols.def"
#undef KILN_HIP
} hip_api;

static const kiln_symbol symbols[] = {
#define REQUIRED true
#define OPTIONAL false
#define KILN_HIP(presence, result, name, parameters) {#name, offsetof(hip_api, name), presence},
#include "runtime/hip_symbols.def"
#undef KILN_HIP
#undef REQUIRED
#undef OPTIONAL
};

static kiln_mutex mutex;
static hip_api api_storage;
static void *library_handle;
static const hip_api *published_api;
static kiln_place *device_places[MAX_DEVICES];
static void *message_buffer; /* of all modules that print; under the mutex until it is there */

static kiln_status hip_error(const hip_api *api, kiln_status status, const char *what, int result) {
  const char *name = api->hipGetErrorName(result), *text = api->hipGetErrorString(result);
  return kiln_error(result == KILN_HIP_ERROR_OUT_OF_MEMORY ? KILN_ERROR_OUT_OF_MEMORY : status,
                    "%s failed: %s (%d): %s", what, name ? name : "unknown error", result,
                    text ? text : "no description");
}

/* Under the mutex. */
static kiln_status open_driver(void) {
  static const char *const names[] = {KILN_OS_HIP_LIBRARIES, NULL};
  hip_api *api = &api_storage;
  kiln_status status = kiln_open_library(KILN_DRIVER_HIP, names, symbols,
                                         sizeof symbols / sizeof *symbols, api, &library_handle);
  if (status != KILN_SUCCESS)
    return status;
  if (!api->hipGetDevicePropertiesR0600 && !api->hipGetDeviceProperties) {
    kiln_close_library(KILN_DRIVER_HIP, library_handle);
    return kiln_error(KILN_ERROR_MISSING_SYMBOL,
                      "the driver library lacks hipGetDevicePropertiesR0600 and "
                      "hipGetDeviceProperties");
  }
  kiln_store_release(&published_api, (const hip_api *)api);
  return KILN_SUCCESS;
}

static kiln_status ensure_open(const hip_api **api) {
  *api = kiln_load_acquire(&published_api);
  if (*api)
    return KILN_SUCCESS;
  kiln_lock(&mutex);
  kiln_status status = published_api ? KILN_SUCCESS : open_driver();
  kiln_unlock(&mutex);
  *api = kiln_load_acquire(&published_api);
  return status;
}

/* Makes `ordinal` the current device; `previous` is -1 if it was. */
static kiln_status enter(const hip_api *api, int ordinal, int *previous) {
  int result = api->hipGetDevice(previous);
  if (result)
    return hip_error(api, KILN_ERROR_INVALID_DEVICE, "hipGetDevice", result);
  if (*previous == ordinal) {
    *previous = -1;
    return KILN_SUCCESS;
  }
  result = api->hipSetDevice(ordinal);
  return result ? hip_error(api, KILN_ERROR_INVALID_DEVICE, "hipSetDevice", result) : KILN_SUCCESS;
}

static void leave(const hip_api *api, int previous) {
  if (previous >= 0)
    api->hipSetDevice(previous);
}

/* "gfx90a:sramecc+:xnack-" gives 0x90a. */
static uint32_t arch_number(const char *name) {
  return strncmp(name, "gfx", 3) == 0 ? (uint32_t)strtoul(name + 3, NULL, 16) : 0;
}

static kiln_status describe_device(const hip_api *api, int ordinal, kiln_place *place) {
  int count = 0;
  int result = api->hipGetDeviceCount(&count);
  if (result && result != KILN_HIP_ERROR_NO_DEVICE)
    return hip_error(api, KILN_ERROR_DRIVER, "hipGetDeviceCount", result);
  if (ordinal < 0 || ordinal >= count)
    return kiln_error(KILN_ERROR_INVALID_DEVICE, "there is no hip device %d: %d found", ordinal,
                      count);
  char *properties = calloc(1, PROPERTIES_BYTES);
  if (!properties)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to describe hip device %d", ordinal);
  const kiln_hip_properties *layout =
      api->hipGetDevicePropertiesR0600 ? &kiln_hip_properties_r0600 : &kiln_hip_properties_r0000;
  result = api->hipGetDevicePropertiesR0600 ? api->hipGetDevicePropertiesR0600(properties, ordinal)
                                            : api->hipGetDeviceProperties(properties, ordinal);
  *place = (kiln_place){.driver = KILN_DRIVER_HIP, .ordinal = ordinal};
  memcpy(&place->processors, properties + layout->processors, sizeof place->processors);
  /* The driver's field is longer than any target's name; the last byte here stays zero. */
  strncpy(place->arch_name, properties + layout->arch_name, sizeof place->arch_name - 1);
  place->arch = arch_number(place->arch_name);
  free(properties);
  if (result)
    return hip_error(api, KILN_ERROR_DRIVER, "hipGetDeviceProperties", result);
  return KILN_SUCCESS;
}

/* Under the mutex. */
static kiln_status add_place(const hip_api *api, int ordinal, const kiln_place **place) {
  kiln_place *fresh = malloc(sizeof *fresh);
  if (!fresh)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to describe hip device %d", ordinal);
  kiln_status status = describe_device(api, ordinal, fresh);
  if (status != KILN_SUCCESS) {
    free(fresh);
    return status;
  }
  kiln_store_release(&device_places[ordinal], fresh);
  *place = fresh;
  return KILN_SUCCESS;
}

static kiln_status place_of_ordinal(const hip_api *api, int ordinal, const kiln_place **place) {
  if (ordinal < 0 || ordinal >= MAX_DEVICES)
    return kiln_error(KILN_ERROR_INVALID_DEVICE, "there is no hip device %d", ordinal);
  *place = kiln_load_acquire(&device_places[ordinal]);
  if (*place)
    return KILN_SUCCESS;
  kiln_status status = KILN_SUCCESS;
  kiln_lock(&mutex);
  *place = device_places[ordinal];
  if (!*place)
    status = add_place(api, ordinal, place);
  kiln_unlock(&mutex);
  return status;
}

static kiln_status stream_place(kiln_stream stream, const kiln_place **place) {
  const hip_api *api;
  kiln_status status = ensure_open(&api);
  if (status != KILN_SUCCESS)
    return status;
  int ordinal = -1;
  int result = api->hipStreamGetDevice ? api->hipStreamGetDevice(stream.handle, &ordinal)
                                       : api->hipGetDevice(&ordinal);
  if (result)
    return hip_error(api, KILN_ERROR_INVALID_DEVICE,
                     api->hipStreamGetDevice ? "hipStreamGetDevice" : "hipGetDevice", result);
  return place_of_ordinal(api, ordinal, place);
}

static kiln_status device_place(const kiln_device *device, const kiln_place **place) {
  const hip_api *api;
  kiln_status status = ensure_open(&api);
  return status == KILN_SUCCESS ? place_of_ordinal(api, device->ordinal, place) : status;
}

static kiln_status stream_context(kiln_stream stream, void **context) {
  (void)stream;
  *context = NULL;
  return KILN_SUCCESS;
}

static kiln_status is_capturing(kiln_stream stream, bool *is_capturing) {
  const hip_api *api = kiln_load_acquire(&published_api);
  int capturing = 0;
  int result = api->hipStreamIsCapturing(stream.handle, &capturing);
  if (result && result != KILN_HIP_ERROR_STREAM_CAPTURE_IMPLICIT)
    return hip_error(api, KILN_ERROR_DRIVER, "hipStreamIsCapturing", result);
  *is_capturing = result || capturing;
  return KILN_SUCCESS;
}

static kiln_status allocate(const kiln_place *place, kiln_stream stream, uint64_t bytes,
                            void **memory) {
  const hip_api *api = kiln_load_acquire(&published_api);
  int previous;
  *memory = NULL;
  if (!api->hipMallocAsync || !api->hipFreeAsync)
    return kiln_error(
        KILN_ERROR_UNSUPPORTED,
        "the kernel needs scratch memory, and this driver lacks hipMallocAsync: set an "
        "allocator (kiln_set_scratch_allocator)");
  kiln_status status = enter(api, place->ordinal, &previous);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->hipMallocAsync(memory, (size_t)bytes, stream.handle);
  leave(api, previous);
  return result ? hip_error(api, KILN_ERROR_DRIVER, "hipMallocAsync", result) : KILN_SUCCESS;
}

/* A failure is the stream's, which the next call on it reports, too. */
static void release(kiln_stream stream, void *memory) {
  kiln_load_acquire(&published_api)->hipFreeAsync(memory, stream.handle);
}

static kiln_status copy(kiln_stream stream, void *to, const void *from, uint64_t bytes) {
  const hip_api *api = kiln_load_acquire(&published_api);
  if (!api->hipMemcpyAsync)
    return kiln_error(KILN_ERROR_UNSUPPORTED, "this driver lacks hipMemcpyAsync");
  int result = api->hipMemcpyAsync(to, from, (size_t)bytes, KILN_HIP_MEMCPY_DEFAULT, stream.handle);
  return result ? hip_error(api, KILN_ERROR_DRIVER, "hipMemcpyAsync", result) : KILN_SUCCESS;
}

static kiln_status synchronize(kiln_stream stream) {
  const hip_api *api = kiln_load_acquire(&published_api);
  if (!api->hipStreamSynchronize)
    return kiln_error(KILN_ERROR_UNSUPPORTED, "this driver lacks hipStreamSynchronize");
  int result = api->hipStreamSynchronize(stream.handle);
  return result ? hip_error(api, KILN_ERROR_DRIVER, "hipStreamSynchronize", result) : KILN_SUCCESS;
}

/* The kernel's device is current. */
static kiln_status load_module(const hip_api *api, const kiln_kernel *kernel, kiln_image **images,
                               void **module) {
  kiln_image *image = kiln_find_image(*images, kernel->binary, kernel->place);
  if (image) {
    *module = image->handle;
    return KILN_SUCCESS;
  }
  const void *data;
  void *unpacked;
  kiln_status status = kiln_image_bytes(kernel->binary, &data, &unpacked);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->hipModuleLoadData(module, data);
  if (result) {
    kiln_os_free_aligned(unpacked);
    return hip_error(api, KILN_ERROR_LOAD, "hipModuleLoadData", result);
  }
  /* HIP makes no copy of the image, so it has to stay (FatBinaryInfo::AddDevProgram of ROCm's clr:
   * make_copy is false). */
  status =
      kiln_add_image(images, KILN_DRIVER_HIP, kernel->binary, kernel->place, *module, unpacked);
  if (status != KILN_SUCCESS) {
    api->hipModuleUnload(*module);
    kiln_os_free_aligned(unpacked);
  }
  return status;
}

/* --- what kernels print --- */

static kiln_status make_message_buffer(const hip_api *api) {
  const unsigned flags =
      KILN_HIP_HOST_MALLOC_PORTABLE | KILN_HIP_HOST_MALLOC_MAPPED | KILN_HIP_HOST_MALLOC_COHERENT;
  const size_t bytes = KILN_HIP_MESSAGES_HEAD + KILN_HIP_MESSAGES_RECORDS;
  void *memory = NULL;
  int result = api->hipHostMalloc(&memory, bytes, flags);
  if (result)
    return hip_error(api, KILN_ERROR_LOAD, "hipHostMalloc", result);
  memset(memory, 0, bytes);
  message_buffer = memory;
  return KILN_SUCCESS;
}

/* Tells the module where its variable has to point to. */
static kiln_status connect_messages(const hip_api *api, void *variable) {
  if (!api->hipHostMalloc || !api->hipHostFree || !api->hipHostGetDevicePointer ||
      !api->hipMemcpyHtoD || !api->hipLaunchHostFunc)
    return kiln_error(KILN_ERROR_UNSUPPORTED,
                      "the kernel prints or asserts, and this driver lacks hipLaunchHostFunc or "
                      "functions of host memory");
  kiln_lock(&mutex);
  kiln_status status = message_buffer ? KILN_SUCCESS : make_message_buffer(api);
  kiln_unlock(&mutex);
  if (status != KILN_SUCCESS)
    return status;
  void *address = NULL;
  int result = api->hipHostGetDevicePointer(&address, message_buffer, 0);
  if (result)
    return hip_error(api, KILN_ERROR_LOAD, "hipHostGetDevicePointer", result);
  result = api->hipMemcpyHtoD(variable, &address, sizeof address);
  return result ? hip_error(api, KILN_ERROR_LOAD, "hipMemcpyHtoD", result) : KILN_SUCCESS;
}

static kiln_status find_messages(const hip_api *api, kiln_kernel *kernel, void *module) {
  void *variable = NULL;
  size_t bytes = 0;
  int result = api->hipModuleGetGlobal(&variable, &bytes, module, KILN_HIP_MESSAGES_SYMBOL);
  kernel->has_messages = result == 0;
  if (!result)
    return connect_messages(api, variable);
  return result == KILN_HIP_ERROR_NOT_FOUND
             ? KILN_SUCCESS
             : hip_error(api, KILN_ERROR_LOAD, "hipModuleGetGlobal", result);
}

/* A kernel whose assertion has failed has left its work undone: nobody builds on that. */
static kiln_status check_failures(void) {
  char text[512];
  return kiln_hip_messages_failure(text, sizeof text)
             ? kiln_error(KILN_ERROR_LAUNCH, "an earlier kernel has stopped: %s", text)
             : KILN_SUCCESS;
}

static kiln_status load_on_device(const hip_api *api, kiln_kernel *kernel, kiln_image **images) {
  void *module = NULL;
  kiln_status status = load_module(api, kernel, images, &module);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->hipModuleGetFunction(&kernel->function, module, kernel->binary->symbol);
  if (result)
    return kiln_error_within(hip_error(api, KILN_ERROR_LOAD, "hipModuleGetFunction", result),
                             "symbol %s", kernel->binary->symbol);
  /* Some versions of HIP take only functions registered by the host compiler here, and need no such
   * leave: a refusal says nothing, and a real lack of memory shows at the launch. */
  if (kernel->binary->shared_bytes > DEFAULT_SHARED_BYTES && api->hipFuncSetAttribute)
    (void)api->hipFuncSetAttribute(kernel->function, KILN_HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED,
                                   (int)kernel->binary->shared_bytes);
  return find_messages(api, kernel, module);
}

static kiln_status check_launch_kind(const hip_api *api, const kiln_binary *binary) {
  for (int i = 0; i < 3; ++i)
    if (binary->cluster[i] > 1)
      return kiln_error(KILN_ERROR_UNSUPPORTED, "hip has no clusters of blocks");
  if (binary->flags & KILN_LAUNCH_PDL)
    return kiln_error(KILN_ERROR_UNSUPPORTED, "hip has no programmatic dependent launch");
  if ((binary->flags & KILN_LAUNCH_COOPERATIVE) && !api->hipModuleLaunchCooperativeKernel)
    return kiln_error(KILN_ERROR_UNSUPPORTED, "this driver lacks hipModuleLaunchCooperativeKernel");
  return KILN_SUCCESS;
}

static kiln_status load(kiln_kernel *kernel, const kiln_target *target, kiln_image **images) {
  (void)target;
  const hip_api *api = kiln_load_acquire(&published_api);
  int previous;
  kiln_status status = check_launch_kind(api, kernel->binary);
  if (status == KILN_SUCCESS)
    status = enter(api, kernel->place->ordinal, &previous);
  if (status != KILN_SUCCESS)
    return status;
  int mode = KILN_HIP_CAPTURE_MODE_RELAXED;
  bool exchanged = api->hipThreadExchangeStreamCaptureMode &&
                   api->hipThreadExchangeStreamCaptureMode(&mode) == 0;
  status = load_on_device(api, kernel, images);
  if (exchanged)
    api->hipThreadExchangeStreamCaptureMode(&mode);
  leave(api, previous);
  return status;
}

static kiln_status unload(const kiln_image *image) {
  const hip_api *api = kiln_load_acquire(&published_api);
  int previous;
  kiln_status status = enter(api, image->place->ordinal, &previous);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->hipModuleUnload(image->handle);
  leave(api, previous);
  return result ? hip_error(api, KILN_ERROR_DRIVER, "hipModuleUnload", result) : KILN_SUCCESS;
}

static kiln_status launch_error(const hip_api *api, const kiln_kernel *kernel,
                                const uint32_t grid[3], int result) {
  bool is_too_large = result == KILN_HIP_ERROR_COOPERATIVE_TOO_LARGE;
  bool is_cooperative = kernel->binary->flags & KILN_LAUNCH_COOPERATIVE;
  kiln_status status = hip_error(
      api, is_too_large ? KILN_ERROR_GRID : KILN_ERROR_LAUNCH,
      is_cooperative ? "hipModuleLaunchCooperativeKernel" : "hipModuleLaunchKernel", result);
  if (is_too_large)
    kiln_error_within(status, "the device has no room for all blocks of a cooperative launch");
  return kiln_error_within(
      status, "%s: variant %u (%s), grid %u x %u x %u, %u threads, %u bytes shared",
      kernel->entry->name, kernel->variant, kernel->entry->variants[kernel->variant].name, grid[0],
      grid[1], grid[2], kernel->binary->threads, kernel->binary->shared_bytes);
}

/* `parameters` are all that the binary has. The driver only reads them. */
static kiln_status launch_complete(const kiln_kernel *kernel, kiln_stream stream,
                                   const uint32_t grid[3], void **parameters) {
  const hip_api *api = kiln_load_acquire(&published_api);
  const kiln_binary *binary = kernel->binary;
  int previous, result;
  if ((uint64_t)grid[0] * binary->threads > UINT32_MAX)
    return kiln_error(KILN_ERROR_GRID,
                      "%s: %u blocks of %u threads are more than 2^32-1 threads in x",
                      kernel->entry->name, grid[0], binary->threads);
  kiln_status status = kernel->has_messages ? check_failures() : KILN_SUCCESS;
  if (status == KILN_SUCCESS)
    status = enter(api, kernel->place->ordinal, &previous);
  if (status != KILN_SUCCESS)
    return status;
  if (binary->flags & KILN_LAUNCH_COOPERATIVE)
    result = api->hipModuleLaunchCooperativeKernel(kernel->function, grid[0], grid[1], grid[2],
                                                   binary->threads, 1, 1, binary->shared_bytes,
                                                   stream.handle, parameters);
  else
    result =
        api->hipModuleLaunchKernel(kernel->function, grid[0], grid[1], grid[2], binary->threads, 1,
                                   1, binary->shared_bytes, stream.handle, parameters, NULL);
  int printed = !result && kernel->has_messages
                    ? api->hipLaunchHostFunc(stream.handle, kiln_hip_messages_print, message_buffer)
                    : 0;
  leave(api, previous);
  if (printed)
    return hip_error(api, KILN_ERROR_LAUNCH, "hipLaunchHostFunc", printed);
  return result ? launch_error(api, kernel, grid, result) : KILN_SUCCESS;
}

/* A function of its own: other launches do not pay for its stack. */
static __attribute__((noinline)) kiln_status launch_with_scratch(const kiln_kernel *kernel,
                                                                 kiln_stream stream,
                                                                 const uint32_t grid[3],
                                                                 void *const *params) {
  uint32_t num_params = kernel->entry->variants[kernel->variant].num_params;
  kiln_scratch scratch;
  kiln_status status = kiln_acquire_device_scratch(kernel, stream, grid, &scratch);
  if (status != KILN_SUCCESS)
    return kiln_error_within_kernel(status, kernel);
  void *parameters[num_params + 1];
  memcpy(parameters, params, num_params * sizeof *parameters);
  parameters[num_params] = &scratch.memory;
  status = launch_complete(kernel, stream, grid, parameters);
  kiln_release_scratch(&scratch);
  return status;
}

static kiln_status launch(const kiln_kernel *kernel, kiln_stream stream, const uint32_t grid[3],
                          void *const *params) {
  return kernel->passes_more ? launch_with_scratch(kernel, stream, grid, params)
                             : launch_complete(kernel, stream, grid, (void **)params);
}

static void close_driver(void) {
  if (!kiln_load_acquire(&published_api))
    return;
  for (int i = 0; i < MAX_DEVICES; ++i) {
    free(device_places[i]);
    device_places[i] = NULL;
  }
  if (message_buffer) {
    kiln_hip_messages_print(message_buffer);
    published_api->hipHostFree(message_buffer);
    message_buffer = NULL;
  }
  kiln_hip_messages_forget();
  kiln_store_release(&published_api, (const hip_api *)NULL);
  kiln_close_library(KILN_DRIVER_HIP, library_handle);
}

const kiln_driver_table kiln_hip_driver = {
    .name = "hip",
    .grid_limit = {INT32_MAX, 65535, 65535},
    .stream_place = stream_place,
    .device_place = device_place,
    .stream_context = stream_context,
    .is_capturing = is_capturing,
    .has_scratch = true,
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .synchronize = synchronize,
    .load = load,
    .unload = unload,
    .launch = launch,
    .close = close_driver,
};
