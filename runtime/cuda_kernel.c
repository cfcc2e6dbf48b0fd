/*
 * Loading, launching and unloading on NVIDIA's driver.
 *
 * All that a launch needs beyond its grid is worked out when the kernel is loaded. A launch without
 * attributes goes through cuLaunchKernel, which every driver has and which is the cheapest;
 * clusters, cooperative launches and programmatic dependent launch go through cuLaunchKernelEx.
 */
#include "runtime/cuda_driver.h"

#include "runtime/cuda_tensor_map.h"
#include "runtime/platform.h"
#include "runtime/scratch.h"
#include "runtime/tensor_map.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(kiln_cuda_attribute) == 72, "CUlaunchAttribute is 8 + 64 bytes");
static_assert(sizeof(kiln_cuda_launch_config) == 56, "CUlaunchConfig on a 64-bit host");

/* More than this needs cuFuncSetAttribute(MAX_DYNAMIC_SHARED); more than 8 blocks a cluster its own
 * attribute. */
enum { DEFAULT_SHARED_BYTES = 48 * 1024, PORTABLE_CLUSTER_BLOCKS = 8, LOG_CAPACITY = 512 };

static uint32_t cluster_blocks(const kiln_binary *binary) {
  uint32_t blocks = 1;
  for (int i = 0; i < 3; ++i)
    blocks *= binary->cluster[i] ? binary->cluster[i] : 1;
  return blocks;
}

static void add_attribute(kiln_kernel *kernel, uint32_t id, uint32_t x, uint32_t y, uint32_t z) {
  kiln_cuda_attribute *attribute = &kernel->attributes[kernel->num_attributes++];
  *attribute = (kiln_cuda_attribute){.id = id, .value = {x, y, z}};
}

static kiln_status plan_attributes(const kiln_cuda_api *api, kiln_kernel *kernel) {
  const kiln_binary *binary = kernel->binary;
  kernel->num_attributes = 0;
  if (binary->flags & KILN_LAUNCH_COOPERATIVE)
    add_attribute(kernel, KILN_CUDA_LAUNCH_COOPERATIVE, 1, 0, 0);
  if (cluster_blocks(binary) > 1)
    add_attribute(
        kernel, KILN_CUDA_LAUNCH_CLUSTER_DIMENSION, binary->cluster[0] ? binary->cluster[0] : 1,
        binary->cluster[1] ? binary->cluster[1] : 1, binary->cluster[2] ? binary->cluster[2] : 1);
  if (binary->flags & KILN_LAUNCH_PDL)
    add_attribute(kernel, KILN_CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION, 1, 0, 0);
  if (kernel->num_attributes && !api->cuLaunchKernelEx)
    return kiln_error(
        KILN_ERROR_UNSUPPORTED,
        "clusters, cooperative and programmatic launches need cuLaunchKernelEx, which "
        "this driver lacks (CUDA 11.8)");
  return KILN_SUCCESS;
}

/* Where the assembler puts what is not the variant's is its own affair: the driver copies it there.
 */
static const uint32_t anywhere = UINT32_MAX;

/* What the launcher passes as parameter `index`: the variant's, then the binary's tensor maps, then
 * scratch memory. */
static kiln_param passed_parameter(const kiln_variant *variant, const kiln_binary *binary,
                                   uint32_t index) {
  if (index < variant->num_params)
    return variant->params[index];
  uint32_t map = index - variant->num_params;
  if (map == binary->num_tensor_maps)
    return (kiln_param){
        .name = "scratch memory", .kind = KILN_PARAM_POINTER, .size = 8, .offset = anywhere};
  return (kiln_param){.name = binary->tensor_maps[map].name,
                      .kind = KILN_PARAM_BYTES,
                      .size = KILN_TENSOR_MAP_BYTES,
                      .offset = anywhere};
}

/* The launcher's table against what the binary says of its own parameters. A driver that cannot
 * answer proves nothing. */
static kiln_status check_parameters(int (*info)(void *, size_t, size_t *, size_t *),
                                    const kiln_kernel *kernel) {
  const kiln_variant *variant = &kernel->entry->variants[kernel->variant];
  uint32_t count =
      variant->num_params + kernel->binary->num_tensor_maps + (kernel->binary->scratch_bytes > 0);
  for (uint32_t i = 0; info && i <= count; ++i) {
    size_t offset = 0, size = 0;
    int result = info(kernel->function, i, &offset, &size);
    if (result && result != KILN_CUDA_ERROR_INVALID_VALUE)
      return KILN_SUCCESS;
    if (i == count && !result)
      return kiln_error(KILN_ERROR_ABI, "the binary has more parameters than the launcher's %u",
                        count);
    if (i == count)
      return KILN_SUCCESS;
    if (result)
      return kiln_error(KILN_ERROR_ABI, "the binary has %u parameters, the launcher %u", i, count);
    kiln_param param = passed_parameter(variant, kernel->binary, i);
    if ((offset != param.offset && param.offset != anywhere) || size != param.size)
      return kiln_error(KILN_ERROR_ABI,
                        "parameter %u (%s) has %zu bytes at offset %zu in the binary, %u at %u in "
                        "the launcher",
                        i, param.name, size, offset, (unsigned)param.size, param.offset);
  }
  return KILN_SUCCESS;
}

/* --- loading for all contexts --- */

typedef struct jit_log {
  char text[LOG_CAPACITY];
  int options[2];
  void *values[2];
  unsigned count;
} jit_log;

/* PTX is compiled by the driver, whose complaint is worth more than its error number. */
static void prepare_log(jit_log *log, const kiln_target *target) {
  memset(log, 0, sizeof *log);
  log->options[0] = KILN_CUDA_JIT_ERROR_LOG_BUFFER;
  log->values[0] = log->text;
  log->options[1] = KILN_CUDA_JIT_ERROR_LOG_BUFFER_SIZE;
  log->values[1] = (void *)(uintptr_t)(sizeof log->text - 1);
  log->count = target->form == KILN_FORM_PTX ? 2 : 0;
}

static kiln_status load_error(const kiln_cuda_api *api, const jit_log *log, const char *what,
                              int result) {
  kiln_status status = kiln_cuda_error(api, KILN_ERROR_LOAD, what, result);
  return log->text[0] ? kiln_error_within(status, "%s", log->text) : status;
}

/* Libraries and modules are the driver's own copies (cuLibraryLoadData, without
 * CU_LIBRARY_BINARY_IS_PRESERVED): what was unpacked is freed behind the load. */
static kiln_status load_library(const kiln_cuda_api *api, const kiln_kernel *kernel,
                                const kiln_target *target, kiln_image **images, void **library) {
  kiln_image *image = kiln_find_image(*images, kernel->binary, NULL);
  if (image) {
    *library = image->handle;
    return KILN_SUCCESS;
  }
  const void *data;
  void *unpacked;
  kiln_status status = kiln_image_bytes(kernel->binary, &data, &unpacked);
  if (status != KILN_SUCCESS)
    return status;
  jit_log log;
  prepare_log(&log, target);
  int result =
      api->cuLibraryLoadData(library, data, log.options, log.values, log.count, NULL, NULL, 0);
  kiln_os_free_aligned(unpacked);
  if (result)
    return load_error(api, &log, "cuLibraryLoadData", result);
  status = kiln_add_image(images, KILN_DRIVER_CUDA, kernel->binary, NULL, *library, NULL);
  if (status != KILN_SUCCESS)
    api->cuLibraryUnload(*library);
  return status;
}

static kiln_status set_library_attributes(const kiln_cuda_api *api, const kiln_kernel *kernel) {
  int result = 0, ordinal = kernel->place->ordinal;
  if (kernel->binary->shared_bytes > DEFAULT_SHARED_BYTES)
    result =
        api->cuKernelSetAttribute(KILN_CUDA_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED,
                                  (int)kernel->binary->shared_bytes, kernel->function, ordinal);
  if (!result && cluster_blocks(kernel->binary) > PORTABLE_CLUSTER_BLOCKS)
    result = api->cuKernelSetAttribute(KILN_CUDA_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER, 1,
                                       kernel->function, ordinal);
  return result ? kiln_cuda_error(api, KILN_ERROR_LOAD, "cuKernelSetAttribute", result)
                : KILN_SUCCESS;
}

static kiln_status load_for_device(const kiln_cuda_api *api, kiln_kernel *kernel,
                                   const kiln_target *target, kiln_image **images) {
  void *library = NULL;
  kiln_status status = load_library(api, kernel, target, images, &library);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->cuLibraryGetKernel(&kernel->function, library, kernel->binary->symbol);
  if (result)
    return kiln_error_within(kiln_cuda_error(api, KILN_ERROR_LOAD, "cuLibraryGetKernel", result),
                             "symbol %s", kernel->binary->symbol);
  status = check_parameters(api->cuKernelGetParamInfo, kernel);
  return status == KILN_SUCCESS ? set_library_attributes(api, kernel) : status;
}

/* --- loading into one context, which is current --- */

static kiln_status load_module(const kiln_cuda_api *api, const kiln_kernel *kernel,
                               const kiln_target *target, kiln_image **images, void **module) {
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
  jit_log log;
  prepare_log(&log, target);
  int result = api->cuModuleLoadDataEx(module, data, log.count, log.options, log.values);
  kiln_os_free_aligned(unpacked);
  if (result)
    return load_error(api, &log, "cuModuleLoadDataEx", result);
  status = kiln_add_image(images, KILN_DRIVER_CUDA, kernel->binary, kernel->place, *module, NULL);
  if (status != KILN_SUCCESS)
    api->cuModuleUnload(*module);
  return status;
}

static kiln_status load_in_context(const kiln_cuda_api *api, kiln_kernel *kernel,
                                   const kiln_target *target, kiln_image **images) {
  void *module = NULL;
  kiln_status status = load_module(api, kernel, target, images, &module);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->cuModuleGetFunction(&kernel->function, module, kernel->binary->symbol);
  if (result)
    return kiln_error_within(kiln_cuda_error(api, KILN_ERROR_LOAD, "cuModuleGetFunction", result),
                             "symbol %s", kernel->binary->symbol);
  status = check_parameters(api->cuFuncGetParamInfo, kernel);
  if (status != KILN_SUCCESS)
    return status;
  if (kernel->binary->shared_bytes > DEFAULT_SHARED_BYTES)
    result = api->cuFuncSetAttribute(kernel->function, KILN_CUDA_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED,
                                     (int)kernel->binary->shared_bytes);
  if (!result && cluster_blocks(kernel->binary) > PORTABLE_CLUSTER_BLOCKS)
    result =
        api->cuFuncSetAttribute(kernel->function, KILN_CUDA_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER, 1);
  return result ? kiln_cuda_error(api, KILN_ERROR_LOAD, "cuFuncSetAttribute", result)
                : KILN_SUCCESS;
}

kiln_status kiln_cuda_load(kiln_kernel *kernel, const kiln_target *target, kiln_image **images) {
  const kiln_cuda_api *api = kiln_cuda();
  bool pushed;
  kiln_status status = plan_attributes(api, kernel);
  if (status == KILN_SUCCESS)
    status = kiln_cuda_plan_tensor_maps(kernel);
  if (status != KILN_SUCCESS)
    return status;
  status = kiln_cuda_enter(api, kernel->place->context, &pushed);
  if (status != KILN_SUCCESS)
    return status;
  int mode;
  bool relaxed = kiln_cuda_relax_capture(api, &mode);
  status = api->has_libraries ? load_for_device(api, kernel, target, images)
                              : load_in_context(api, kernel, target, images);
  kiln_cuda_restore_capture(api, relaxed, mode);
  kiln_cuda_leave(api, pushed);
  return status;
}

/* --- residency: the driver loads a CUlibrary's code into a context at its first launch there ---
 */

static kiln_status load_function(const kiln_cuda_api *api, const kiln_kernel *kernel) {
  void *function = NULL;
  int result = api->cuKernelGetFunction(&function, kernel->function);
  if (result)
    return kiln_cuda_error(api, KILN_ERROR_LOAD, "cuKernelGetFunction", result);
  result = api->cuFuncLoad ? api->cuFuncLoad(function) : KILN_CUDA_SUCCESS;
  return result ? kiln_cuda_error(api, KILN_ERROR_LOAD, "cuFuncLoad", result) : KILN_SUCCESS;
}

static kiln_status load_function_in(const kiln_cuda_api *api, const kiln_kernel *kernel,
                                    void *context) {
  bool pushed;
  kiln_status status = kiln_cuda_enter(api, context, &pushed);
  if (status != KILN_SUCCESS)
    return status;
  status = load_function(api, kernel);
  kiln_cuda_leave(api, pushed);
  return status;
}

kiln_status kiln_cuda_make_resident(const kiln_kernel *kernel, const kiln_device *device) {
  const kiln_cuda_api *api = kiln_cuda();
  int ordinal = kernel->place->ordinal, current = -1, active = 0;
  unsigned flags = 0;
  void *context = device->context;
  if (!api->has_libraries || !api->cuKernelGetFunction)
    return KILN_SUCCESS;
  if (!context && !api->cuCtxGetCurrent(&context) && context &&
      (api->cuCtxGetDevice(&current) || current != ordinal))
    context = NULL;
  if (context)
    return load_function_in(api, kernel, context);
  /* Nobody uses the device yet: making its context here would take memory that may never be wanted.
   */
  if (api->cuDevicePrimaryCtxGetState(ordinal, &flags, &active) || !active ||
      api->cuDevicePrimaryCtxRetain(&context, ordinal))
    return KILN_SUCCESS;
  kiln_status status = load_function_in(api, kernel, context);
  api->cuDevicePrimaryCtxRelease(ordinal);
  return status;
}

/* --- unloading --- */

kiln_status kiln_cuda_unload(const kiln_image *image) {
  const kiln_cuda_api *api = kiln_cuda();
  if (!image->place) {
    int result = api->cuLibraryUnload(image->handle);
    return result ? kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuLibraryUnload", result)
                  : KILN_SUCCESS;
  }
  if (!kiln_cuda_place_alive(image->place))
    return KILN_SUCCESS; /* went with its context */
  bool pushed;
  kiln_status status = kiln_cuda_enter(api, image->place->context, &pushed);
  if (status != KILN_SUCCESS)
    return status;
  int result = api->cuModuleUnload(image->handle);
  kiln_cuda_leave(api, pushed);
  return result ? kiln_cuda_error(api, KILN_ERROR_DRIVER, "cuModuleUnload", result) : KILN_SUCCESS;
}

/* --- launching --- */

static KILN_RARE kiln_status launch_error(const kiln_cuda_api *api, const kiln_kernel *kernel,
                                          const uint32_t grid[3], int result) {
  const char *what = kernel->num_attributes ? "cuLaunchKernelEx" : "cuLaunchKernel";
  bool is_too_large = result == KILN_CUDA_ERROR_COOPERATIVE_TOO_LARGE;
  kiln_status status =
      kiln_cuda_error(api, is_too_large ? KILN_ERROR_GRID : KILN_ERROR_LAUNCH, what, result);
  if (is_too_large)
    kiln_error_within(status, "the device has no room for all blocks of a cooperative launch");
  return kiln_error_within(
      status, "%s: variant %u (%s), grid %u x %u x %u, %u threads, %u bytes shared",
      kernel->entry->name, kernel->variant, kernel->entry->variants[kernel->variant].name, grid[0],
      grid[1], grid[2], kernel->binary->threads, kernel->binary->shared_bytes);
}

/* A function of its own, as is launch_with_more: launches without all that do not pay for its
 * stack. */
static __attribute__((noinline)) int launch_extended(const kiln_cuda_api *api,
                                                     const kiln_kernel *kernel, kiln_stream stream,
                                                     const uint32_t grid[3], void **parameters) {
  kiln_cuda_launch_config config = {.grid = {grid[0], grid[1], grid[2]},
                                    .block = {kernel->binary->threads, 1, 1},
                                    .shared_bytes = kernel->binary->shared_bytes,
                                    .stream = stream.handle,
                                    .attributes = (kiln_cuda_attribute *)kernel->attributes,
                                    .num_attributes = kernel->num_attributes};
  return api->cuLaunchKernelEx(&config, kernel->function, parameters, NULL);
}

/* `parameters` are all that the binary has. The driver only reads them. */
static inline int call_driver(const kiln_cuda_api *api, const kiln_kernel *kernel,
                              kiln_stream stream, const uint32_t grid[3], void **parameters) {
  if (kernel->num_attributes)
    return launch_extended(api, kernel, stream, grid, parameters);
  return api->cuLaunchKernel(kernel->function, grid[0], grid[1], grid[2], kernel->binary->threads,
                             1, 1, kernel->binary->shared_bytes, stream.handle, parameters, NULL);
}

static __attribute__((noinline)) kiln_status
launch_in_context(const kiln_cuda_api *api, const kiln_kernel *kernel, kiln_stream stream,
                  const uint32_t grid[3], void **parameters, int *result) {
  bool pushed;
  kiln_status status = kiln_cuda_enter(api, kernel->place->context, &pushed);
  if (status != KILN_SUCCESS)
    return status;
  *result = call_driver(api, kernel, stream, grid, parameters);
  kiln_cuda_leave(api, pushed);
  return KILN_SUCCESS;
}

static inline kiln_status launch_complete(const kiln_kernel *kernel, kiln_stream stream,
                                          const uint32_t grid[3], void **parameters) {
  const kiln_cuda_api *api = kiln_cuda();
  int result = KILN_CUDA_SUCCESS;
  if (kernel->place->context) {
    kiln_status status = launch_in_context(api, kernel, stream, grid, parameters, &result);
    if (status != KILN_SUCCESS)
      return status;
  } else {
    result = call_driver(api, kernel, stream, grid, parameters);
  }
  return kiln_is_rare(result) ? launch_error(api, kernel, grid, result) : KILN_SUCCESS;
}

static kiln_status launch_with_scratch(const kiln_kernel *kernel, kiln_stream stream,
                                       const uint32_t grid[3], void **parameters,
                                       uint32_t num_parameters) {
  kiln_scratch scratch;
  kiln_status status = kiln_acquire_device_scratch(kernel, stream, grid, &scratch);
  if (status != KILN_SUCCESS)
    return kiln_error_within_kernel(status, kernel);
  parameters[num_parameters] = &scratch.memory;
  status = launch_complete(kernel, stream, grid, parameters);
  kiln_release_scratch(&scratch);
  return status;
}

static __attribute__((noinline)) kiln_status launch_with_more(const kiln_kernel *kernel,
                                                              kiln_stream stream,
                                                              const uint32_t grid[3],
                                                              void *const *params) {
  uint32_t num_params = kernel->entry->variants[kernel->variant].num_params;
  uint32_t num_maps = kernel->binary->num_tensor_maps;
  kiln_encoded_map maps[KILN_MAX_TENSOR_MAPS];
  bool use_fallback;
  kiln_status status = kiln_cuda_make_tensor_maps(kernel, stream, params, maps, &use_fallback);
  if (status != KILN_SUCCESS)
    return status;
  if (use_fallback)
    return kiln_cuda_launch(kernel->fallback, stream, grid, params);
  void *parameters[num_params + num_maps + 1]; /* scratch memory, perhaps */
  memcpy(parameters, params, num_params * sizeof *parameters);
  for (uint32_t i = 0; i < num_maps; ++i)
    parameters[num_params + i] = &maps[i];
  return kernel->binary->scratch_bytes
             ? launch_with_scratch(kernel, stream, grid, parameters, num_params + num_maps)
             : launch_complete(kernel, stream, grid, parameters);
}

kiln_status kiln_cuda_launch(const kiln_kernel *kernel, kiln_stream stream, const uint32_t grid[3],
                             void *const *params) {
  return kernel->passes_more ? launch_with_more(kernel, stream, grid, params)
                             : launch_complete(kernel, stream, grid, (void **)params);
}
