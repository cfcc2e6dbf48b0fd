/*
 * NVIDIA's driver, opened at run time: its functions (cuda_symbols.def) and the few constants and
 * structs they take, after the CUDA Driver API reference (no vendor header is included).
 *
 * Two ways to load code. With the library functions (CUDA 12) an image is loaded once, a place is a
 * device, and contexts do not matter. Without them an image is a module of one context, and a place
 * is a context.
 */
#ifndef KILN_RUNTIME_CUDA_DRIVER_H
#define KILN_RUNTIME_CUDA_DRIVER_H

#include "runtime/driver.h"

#pragma GCC visibility push(hidden)

enum {
  KILN_CUDA_SUCCESS = 0,
  KILN_CUDA_ERROR_INVALID_VALUE = 1,
  KILN_CUDA_ERROR_OUT_OF_MEMORY = 2,
  KILN_CUDA_ERROR_NO_DEVICE = 100,
  KILN_CUDA_ERROR_INVALID_CONTEXT = 201,
  KILN_CUDA_ERROR_COOPERATIVE_TOO_LARGE = 720,
  KILN_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,

  KILN_CUDA_DEVICE_ATTRIBUTE_PROCESSORS = 16,
  KILN_CUDA_DEVICE_ATTRIBUTE_MAJOR = 75,
  KILN_CUDA_DEVICE_ATTRIBUTE_MINOR = 76,
  KILN_CUDA_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED = 8,
  KILN_CUDA_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER = 14,
  KILN_CUDA_JIT_ERROR_LOG_BUFFER = 5,
  KILN_CUDA_JIT_ERROR_LOG_BUFFER_SIZE = 6,
  KILN_CUDA_CAPTURE_MODE_RELAXED = 2,

  KILN_CUDA_LAUNCH_COOPERATIVE = 2,
  KILN_CUDA_LAUNCH_CLUSTER_DIMENSION = 4,
  KILN_CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6,

  KILN_CUDA_TENSOR_MAP_INTERLEAVE_NONE = 0,
  KILN_CUDA_TENSOR_MAP_SWIZZLE_NONE = 0,
  KILN_CUDA_TENSOR_MAP_SWIZZLE_32B = 1,
  KILN_CUDA_TENSOR_MAP_SWIZZLE_64B = 2,
  KILN_CUDA_TENSOR_MAP_SWIZZLE_128B = 3,
  KILN_CUDA_TENSOR_MAP_L2_PROMOTION_256B = 3,
  KILN_CUDA_TENSOR_MAP_FILL_ZERO = 0,
  KILN_CUDA_TENSOR_MAP_FILL_NAN = 1,
};

/* CUlaunchConfig. */
typedef struct kiln_cuda_launch_config {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
  void *stream;
  kiln_cuda_attribute *attributes;
  uint32_t num_attributes;
} kiln_cuda_launch_config;

typedef struct kiln_cuda_api {
#define KILN_CUDA(presence, name, exported, parameters) int(*name) parameters;
#include "runtime/cuda_symbols.def"
#undef KILN_CUDA
  bool has_libraries; /* places are devices */
} kiln_cuda_api;

/* The open driver; null before. Hot. */
extern const kiln_cuda_api *kiln_cuda_api_opened;
static inline const kiln_cuda_api *kiln_cuda(void) {
  return kiln_load_acquire(&kiln_cuda_api_opened);
}

/* Records "<what> failed: <name> (<number>): <text>"; `status`, but KILN_ERROR_OUT_OF_MEMORY where
 * the driver says so. */
kiln_status kiln_cuda_error(const kiln_cuda_api *api, kiln_status status, const char *what,
                            int result);

/* Makes `context` current, if it is not already or null; kiln_cuda_leave undoes that. */
kiln_status kiln_cuda_enter(const kiln_cuda_api *api, void *context, bool *pushed);
void kiln_cuda_leave(const kiln_cuda_api *api, bool pushed);

/* A capture on another thread (global mode) would fail this thread's loads and allocations, and
 * they that capture: between the two calls they leave it alone. */
bool kiln_cuda_relax_capture(const kiln_cuda_api *api, int *mode);
void kiln_cuda_restore_capture(const kiln_cuda_api *api, bool relaxed, int mode);

/* Whether the context record of a per-context place still stands (kiln_cuda_context_destroyed). */
bool kiln_cuda_place_alive(const kiln_place *place);

/* cuda_kernel.c */
kiln_status kiln_cuda_load(kiln_kernel *kernel, const kiln_target *target, kiln_image **images);
kiln_status kiln_cuda_make_resident(const kiln_kernel *kernel, const kiln_device *device);
kiln_status kiln_cuda_unload(const kiln_image *image);
kiln_status kiln_cuda_launch(const kiln_kernel *kernel, kiln_stream stream, const uint32_t grid[3],
                             void *const *params);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_CUDA_DRIVER_H */
