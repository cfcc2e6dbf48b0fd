/*
 * Opening NVIDIA's driver and finding the place of a stream.
 *
 * The stream's context is looked up in a list of context records, by cuCtxGetId where the driver
 * has it: an address alone may belong to a context that was destroyed and another that was made
 * since. (cuStreamGetDevice would be one call, but on a capturing stream it fails and ends the
 * capture, in every mode: an H200 with CUDA 13.0.)
 */
#include "runtime/cuda_driver.h"

#include "runtime/cuda_tensor_map.h"
#include "runtime/mutex.h"
#include "runtime/shared_library.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEVICES = 64 };

/* A context that streams were seen in. `alive` alone changes after publication. */
typedef struct context_record {
  struct context_record *next;
  void *context;
  unsigned long long id; /* 0 without cuCtxGetId */
  int alive;
  bool retained; /* a primary context that this record keeps */
  const kiln_place *place;
  kiln_place own; /* the place, where code is loaded per context */
} context_record;

static kiln_mutex mutex;
static kiln_cuda_api api_storage;
static void *library_handle;
const kiln_cuda_api *kiln_cuda_api_opened;
static kiln_place *device_places[MAX_DEVICES];
static context_record *context_records;

static const kiln_symbol symbols[] = {
#define REQUIRED true
#define OPTIONAL false
#define KILN_CUDA(presence, name, exported, parameters)                                            \
  {exported, offsetof(kiln_cuda_api, name), presence},
#include "runtime/cuda_symbols.def"
#undef KILN_CUDA
#undef REQUIRED
#undef OPTIONAL
};

kiln_status kiln_cuda_error(const kiln_cuda_api *api, kiln_status status, const char *what,
                            int result) {
  const char *name = NULL, *text = NULL;
  if (api->cuGetErrorName(result, &name) || !name)
    name = "unknown error";
  if (api->cuGetErrorString(result, &text) || !text)
    text = "no description";
  if (result == KILN_CUDA_ERROR_OUT_OF_MEMORY)
    status = KILN_ERROR_OUT_OF_MEMORY;
  return kiln_error(status, "%s failed: %s (%d): %s", what, name, result, text);
}

/* Under the mutex. */
static kiln_status open_driver(void) {
  static const char *const names[] = {KILN_OS_CUDA_LIBRARIES, NULL};
  kiln_cuda_api *api = &api_storage;
  kiln_status status = kiln_open_library(KILN_DRIVER_CUDA, names, symbols,
                                         sizeof symbols / sizeof *symbols, api, &library_handle);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->cuInit(0);
  if (result) {
    status = kiln_cuda_error(
        api, result == KILN_CUDA_ERROR_NO_DEVICE ? KILN_ERROR_INVALID_DEVICE : KILN_ERROR_DRIVER,
        "cuInit", result);
    kiln_close_library(KILN_DRIVER_CUDA, library_handle);
    return status;
  }
  api->has_libraries = api->cuLibraryLoadData && api->cuLibraryUnload && api->cuLibraryGetKernel &&
                       api->cuKernelSetAttribute;
  kiln_store_release(&kiln_cuda_api_opened, (const kiln_cuda_api *)api);
  return KILN_SUCCESS;
}

static KILN_RARE kiln_status open_once(const kiln_cuda_api **api) {
  kiln_lock(&mutex);
  kiln_status status = kiln_cuda() ? KILN_SUCCESS : open_driver();
  kiln_unlock(&mutex);
  *api = kiln_cuda();
  return status;
}

static inline kiln_status ensure_open(const kiln_cuda_api **api) {
  *api = kiln_cuda();
  return kiln_is_rare(!*api) ? open_once(api) : KILN_SUCCESS;
}

kiln_status kiln_cuda_enter(const kiln_cuda_api *api, void *context, bool *pushed) {
  *pushed = false;
  void *current = NULL;
  if (!context || (api->cuCtxGetCurrent(&current) == KILN_CUDA_SUCCESS && current == context))
    return KILN_SUCCESS;
  int result = api->cuCtxPushCurrent(context);
  if (result)
    return kiln_cuda_error(api, KILN_ERROR_INVALID_DEVICE, "cuCtxPushCurrent", result);
  *pushed = true;
  return KILN_SUCCESS;
}

void kiln_cuda_leave(const kiln_cuda_api *api, bool pushed) {
  void *popped;
  if (pushed)
    api->cuCtxPopCurrent(&popped);
}

bool kiln_cuda_relax_capture(const kiln_cuda_api *api, int *mode) {
  *mode = KILN_CUDA_CAPTURE_MODE_RELAXED;
  return api->cuThreadExchangeStreamCaptureMode &&
         api->cuThreadExchangeStreamCaptureMode(mode) == KILN_CUDA_SUCCESS;
}

void kiln_cuda_restore_capture(const kiln_cuda_api *api, bool relaxed, int mode) {
  if (relaxed)
    api->cuThreadExchangeStreamCaptureMode(&mode);
}

static kiln_status describe_device(const kiln_cuda_api *api, int ordinal, kiln_place *place) {
  int count = 0, processors = 0, major = 0, minor = 0;
  int result = api->cuDeviceGetCount(&count);
  if (result)
    return kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuDeviceGetCount", result);
  if (ordinal < 0 || ordinal >= count)
    return kiln_error(KILN_ERROR_INVALID_DEVICE, "there is no cuda device %d: %d found", ordinal,
                      count);
  result = api->cuDeviceGetAttribute(&major, KILN_CUDA_DEVICE_ATTRIBUTE_MAJOR, ordinal);
  if (!result)
    result = api->cuDeviceGetAttribute(&minor, KILN_CUDA_DEVICE_ATTRIBUTE_MINOR, ordinal);
  if (!result)
    result = api->cuDeviceGetAttribute(&processors, KILN_CUDA_DEVICE_ATTRIBUTE_PROCESSORS, ordinal);
  if (result)
    return kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuDeviceGetAttribute", result);
  *place = (kiln_place){.driver = KILN_DRIVER_CUDA,
                        .ordinal = ordinal,
                        .arch = (uint32_t)(10 * major + minor),
                        .processors = (uint32_t)processors};
  snprintf(place->arch_name, sizeof place->arch_name, "sm_%u", place->arch);
  return KILN_SUCCESS;
}

/* Under the mutex: the device's own place, described once. */
static kiln_status describe_once(const kiln_cuda_api *api, int ordinal, const kiln_place **place) {
  if (device_places[ordinal]) {
    *place = device_places[ordinal];
    return KILN_SUCCESS;
  }
  kiln_place *fresh = malloc(sizeof *fresh);
  if (!fresh)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to describe cuda device %d", ordinal);
  kiln_status status = describe_device(api, ordinal, fresh);
  if (status != KILN_SUCCESS) {
    free(fresh);
    return status;
  }
  kiln_store_release(&device_places[ordinal], fresh);
  *place = fresh;
  return KILN_SUCCESS;
}

static kiln_status place_of_ordinal(const kiln_cuda_api *api, int ordinal,
                                    const kiln_place **place) {
  if (ordinal < 0 || ordinal >= MAX_DEVICES)
    return kiln_error(KILN_ERROR_INVALID_DEVICE, "there is no cuda device %d", ordinal);
  *place = kiln_load_acquire(&device_places[ordinal]);
  if (*place)
    return KILN_SUCCESS;
  kiln_lock(&mutex);
  kiln_status status = describe_once(api, ordinal, place);
  kiln_unlock(&mutex);
  return status;
}

static inline const context_record *find_record(const context_record *records, const void *context,
                                                unsigned long long id) {
  for (; records; records = records->next)
    if (records->context == context && records->id == id && kiln_load_acquire(&records->alive))
      return records;
  return NULL;
}

/* The device of `context`, which need not be current. */
static kiln_status ordinal_of_context(const kiln_cuda_api *api, void *context, int *ordinal) {
  bool pushed;
  kiln_status status = kiln_cuda_enter(api, context, &pushed);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->cuCtxGetDevice(ordinal);
  kiln_cuda_leave(api, pushed);
  if (result)
    return kiln_cuda_error(api, KILN_ERROR_INVALID_DEVICE, "cuCtxGetDevice", result);
  return KILN_SUCCESS;
}

/* Under the mutex. */
static kiln_status add_record(const kiln_cuda_api *api, void *context, unsigned long long id,
                              const kiln_place **place) {
  int ordinal = 0;
  const kiln_place *device;
  kiln_status status = ordinal_of_context(api, context, &ordinal);
  if (status != KILN_SUCCESS)
    return status;
  if (ordinal < 0 || ordinal >= MAX_DEVICES)
    return kiln_error(KILN_ERROR_INVALID_DEVICE, "there is no cuda device %d", ordinal);
  status = describe_once(api, ordinal, &device);
  if (status != KILN_SUCCESS)
    return status;
  context_record *record = malloc(sizeof *record);
  if (!record)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to record a cuda context");
  *record = (context_record){
      .next = context_records, .context = context, .id = id, .alive = 1, .place = device};
  if (!api->has_libraries) {
    record->own = *device;
    record->own.context = context;
    record->place = &record->own;
  }
  *place = record->place;
  kiln_store_release(&context_records, record);
  return KILN_SUCCESS;
}

/* `result` is that of cuCtxGetId. */
static KILN_RARE kiln_status record_context(const kiln_cuda_api *api, int result, void *context,
                                            unsigned long long id, const kiln_place **place) {
  if (result)
    return kiln_cuda_error(api, KILN_ERROR_INVALID_DEVICE, "cuCtxGetId", result);
  kiln_status status = KILN_SUCCESS;
  kiln_lock(&mutex);
  const context_record *record = find_record(context_records, context, id);
  if (record)
    *place = record->place;
  else
    status = add_record(api, context, id, place);
  kiln_unlock(&mutex);
  return status;
}

static inline kiln_status place_of_context(const kiln_cuda_api *api, void *context,
                                           const kiln_place **place) {
  unsigned long long id = 0;
  int result = api->cuCtxGetId ? api->cuCtxGetId(context, &id) : KILN_CUDA_SUCCESS;
  const context_record *record = kiln_load_acquire(&context_records);
  if (!result)
    record = find_record(record, context, id);
  if (kiln_is_rare(result || !record))
    return record_context(api, result, context, id, place);
  *place = record->place;
  return KILN_SUCCESS;
}

/* `result` is that of cuStreamGetCtx, which has given no context. */
static KILN_RARE kiln_status stream_error(const kiln_cuda_api *api, const void *stream,
                                          int result) {
  if (!result)
    result = KILN_CUDA_ERROR_INVALID_CONTEXT;
  kiln_status status = kiln_cuda_error(api, KILN_ERROR_INVALID_DEVICE, "cuStreamGetCtx", result);
  if (result == KILN_CUDA_ERROR_INVALID_CONTEXT && !stream)
    return kiln_error_within(status, "the default stream needs a current cuda context");
  return status;
}

static inline kiln_status get_context(const kiln_cuda_api *api, void *stream, void **context) {
  *context = NULL;
  int result = api->cuStreamGetCtx(stream, context);
  return kiln_is_rare(result || !*context) ? stream_error(api, stream, result) : KILN_SUCCESS;
}

static kiln_status stream_place(kiln_stream stream, const kiln_place **place) {
  const kiln_cuda_api *api;
  void *context;
  kiln_status status = ensure_open(&api);
  if (status == KILN_SUCCESS)
    status = get_context(api, stream.handle, &context);
  return kiln_is_rare(status != KILN_SUCCESS) ? status : place_of_context(api, context, place);
}

static kiln_status stream_context(kiln_stream stream, void **context) {
  const kiln_cuda_api *api;
  kiln_status status = ensure_open(&api);
  return status == KILN_SUCCESS ? get_context(api, stream.handle, context) : status;
}

/* Makes the stream's context current. */
static kiln_status enter_stream(const kiln_cuda_api *api, kiln_stream stream, bool *pushed) {
  void *context;
  kiln_status status = get_context(api, stream.handle, &context);
  return status == KILN_SUCCESS ? kiln_cuda_enter(api, context, pushed) : status;
}

static kiln_status copy(kiln_stream stream, void *to, const void *from, uint64_t bytes) {
  const kiln_cuda_api *api = kiln_cuda();
  bool pushed;
  if (!api->cuMemcpyAsync)
    return kiln_error(KILN_ERROR_UNSUPPORTED, "this driver lacks cuMemcpyAsync");
  kiln_status status = enter_stream(api, stream, &pushed);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->cuMemcpyAsync((uintptr_t)to, (uintptr_t)from, (size_t)bytes, stream.handle);
  kiln_cuda_leave(api, pushed);
  return result ? kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuMemcpyAsync", result) : KILN_SUCCESS;
}

static kiln_status synchronize(kiln_stream stream) {
  const kiln_cuda_api *api = kiln_cuda();
  bool pushed;
  if (!api->cuStreamSynchronize)
    return kiln_error(KILN_ERROR_UNSUPPORTED, "this driver lacks cuStreamSynchronize");
  kiln_status status = enter_stream(api, stream, &pushed);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->cuStreamSynchronize(stream.handle);
  kiln_cuda_leave(api, pushed);
  return result ? kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuStreamSynchronize", result)
                : KILN_SUCCESS;
}

/* Notes that a retained primary context belongs to its record; false if there is none or it had
 * one. */
static bool keep_retained(const kiln_place *place) {
  bool kept = false;
  kiln_lock(&mutex);
  for (context_record *record = context_records; record; record = record->next)
    if (record->place == place && !record->retained)
      kept = record->retained = true;
  kiln_unlock(&mutex);
  return kept;
}

/* Where code is loaded per context and the program names only a device: the current context if it
 * is on that device, else the primary one, which is then kept. */
static kiln_status place_of_primary(const kiln_cuda_api *api, int ordinal,
                                    const kiln_place **place) {
  void *context = NULL;
  int current = -1;
  if (!api->cuCtxGetCurrent(&context) && context && !api->cuCtxGetDevice(&current) &&
      current == ordinal)
    return place_of_context(api, context, place);
  int result = api->cuDevicePrimaryCtxRetain(&context, ordinal);
  if (result)
    return kiln_cuda_error(api, KILN_ERROR_INVALID_DEVICE, "cuDevicePrimaryCtxRetain", result);
  kiln_status status = place_of_context(api, context, place);
  if (status != KILN_SUCCESS || !keep_retained(*place))
    api->cuDevicePrimaryCtxRelease(ordinal);
  return status;
}

static kiln_status device_place(const kiln_device *device, const kiln_place **place) {
  const kiln_cuda_api *api;
  kiln_status status = ensure_open(&api);
  if (status != KILN_SUCCESS)
    return status;
  status = place_of_ordinal(api, device->ordinal, place);
  if (status != KILN_SUCCESS || api->has_libraries)
    return status;
  if (device->context)
    return place_of_context(api, device->context, place);
  return place_of_primary(api, device->ordinal, place);
}

static kiln_status is_capturing(kiln_stream stream, bool *is_capturing) {
  const kiln_cuda_api *api = kiln_cuda();
  int capturing = 0;
  int result = api->cuStreamIsCapturing(stream.handle, &capturing);
  if (result && result != KILN_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
    return kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuStreamIsCapturing", result);
  *is_capturing = result || capturing;
  return KILN_SUCCESS;
}

static kiln_status allocate(const kiln_place *place, kiln_stream stream, uint64_t bytes,
                            void **memory) {
  const kiln_cuda_api *api = kiln_cuda();
  unsigned long long address = 0;
  bool pushed;
  *memory = NULL;
  if (!api->cuMemAllocAsync || !api->cuMemFreeAsync)
    return kiln_error(
        KILN_ERROR_UNSUPPORTED,
        "the kernel needs scratch memory, and this driver lacks cuMemAllocAsync (CUDA "
        "11.2): set an allocator (kiln_set_scratch_allocator)");
  kiln_status status = kiln_cuda_enter(api, place->context, &pushed);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->cuMemAllocAsync(&address, (size_t)bytes, stream.handle);
  kiln_cuda_leave(api, pushed);
  if (result)
    return kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuMemAllocAsync", result);
  *memory = (void *)(uintptr_t)address;
  return KILN_SUCCESS;
}

/* A failure is the stream's, which the next call on it reports, too. */
static void release(kiln_stream stream, void *memory) {
  kiln_cuda()->cuMemFreeAsync((uintptr_t)memory, stream.handle);
}

kiln_status kiln_cuda_context_destroyed(void *context) {
  kiln_lock(&mutex);
  for (context_record *record = context_records; record; record = record->next)
    if (record->context == context)
      kiln_store_release(&record->alive, 0);
  kiln_unlock(&mutex);
  return KILN_SUCCESS;
}

bool kiln_cuda_place_alive(const kiln_place *place) {
  const context_record *record = kiln_load_acquire(&context_records);
  for (; record; record = record->next)
    if (record->place == place && kiln_load_acquire(&record->alive))
      return true;
  return false;
}

static void close_driver(void) {
  const kiln_cuda_api *api = kiln_cuda();
  if (!api)
    return;
  while (context_records) {
    context_record *record = context_records;
    context_records = record->next;
    if (record->retained && record->alive)
      api->cuDevicePrimaryCtxRelease(record->place->ordinal);
    free(record);
  }
  for (int i = 0; i < MAX_DEVICES; ++i) {
    free(device_places[i]);
    device_places[i] = NULL;
  }
  kiln_cuda_forget_tensor_maps();
  kiln_store_release(&kiln_cuda_api_opened, (const kiln_cuda_api *)NULL);
  kiln_close_library(KILN_DRIVER_CUDA, library_handle);
}

const kiln_driver_table kiln_cuda_driver = {
    .name = "cuda",
    .grid_limit = {INT32_MAX, 65535, 65535},
    .makes_tensor_maps = kiln_cuda_makes_tensor_maps,
    .stream_place = stream_place,
    .device_place = device_place,
    .stream_context = stream_context,
    .is_capturing = is_capturing,
    .has_scratch = true,
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .synchronize = synchronize,
    .load = kiln_cuda_load,
    .make_resident = kiln_cuda_make_resident,
    .unload = kiln_cuda_unload,
    .launch = kiln_cuda_launch,
    .close = close_driver,
};
