/* The host as a device: kernels are functions of this program, run by a thread pool. Launches are
 * synchronous. */
#include "runtime/cpu_arena.h"
#include "runtime/cpu_features.h"
#include "runtime/cpu_pool.h"
#include "runtime/driver.h"
#include "runtime/platform.h"
#include "runtime/scratch.h"

#include <stdio.h>

static kiln_os_once place_once = KILN_OS_ONCE_INITIALIZER;
static kiln_place host_place;

static void describe_host(void) {
  host_place = (kiln_place){.driver = KILN_DRIVER_CPU, .arch = kiln_cpu_level()};
  snprintf(host_place.arch_name, sizeof host_place.arch_name, "%s", kiln_cpu_arch_name());
}

static kiln_status stream_place(kiln_stream stream, const kiln_place **place) {
  (void)stream;
  kiln_os_call_once(&place_once, describe_host);
  *place = &host_place;
  return KILN_SUCCESS;
}

static uint32_t stream_processors(kiln_stream stream) {
  return kiln_cpu_pool_threads(stream.handle);
}

static kiln_status device_place(const kiln_device *device, const kiln_place **place) {
  if (device->ordinal != 0)
    return kiln_error(KILN_ERROR_INVALID_DEVICE, "there is no cpu device %d: only 0",
                      device->ordinal);
  return stream_place((kiln_stream){0}, place);
}

static kiln_status stream_context(kiln_stream stream, void **context) {
  (void)stream;
  *context = NULL;
  return KILN_SUCCESS;
}

static kiln_status load(kiln_kernel *kernel, const kiln_target *target, kiln_image **images) {
  (void)target, (void)images;
  if (kernel->binary->flags || kernel->binary->shared_bytes)
    return kiln_error(KILN_ERROR_UNSUPPORTED,
                      "cooperative and programmatic launches and shared memory are not the cpu's");
  return KILN_SUCCESS;
}

/* So that the first launch after prepare starts no thread. */
static kiln_status make_resident(const kiln_kernel *kernel, const kiln_device *device) {
  kiln_cpu_pool *pool;
  (void)kernel, (void)device;
  return kiln_default_pool(&pool);
}

static kiln_status unload(const kiln_image *image) {
  (void)image;
  return KILN_SUCCESS;
}

static kiln_status run(kiln_cpu_pool *pool, const kiln_kernel *kernel, kiln_stream stream,
                       const uint32_t grid[3], void *const *params) {
  const kiln_binary *binary = kernel->binary;
  kiln_scratch arenas = {.memory = NULL};
  kiln_status status = KILN_SUCCESS;
  if (binary->arena_bytes && __atomic_load_n(&kiln_has_scratch_allocator, __ATOMIC_RELAXED))
    status =
        kiln_acquire_scratch(kernel, stream, kiln_cpu_pool_arena_bytes(pool, binary->arena_bytes),
                             KILN_CPU_SCRATCH_ALIGNMENT, &arenas);
  if (status == KILN_SUCCESS)
    status =
        kiln_cpu_pool_run(pool, binary->host, grid, params, binary->arena_bytes, arenas.memory);
  kiln_release_scratch(&arenas);
  return status;
}

static kiln_status launch(const kiln_kernel *kernel, kiln_stream stream, const uint32_t grid[3],
                          void *const *params) {
  kiln_cpu_pool *pool = stream.handle;
  /* Three dimensions of 2^31-1 do not fit the counter of instances. */
  if ((uint64_t)grid[0] * grid[1] > (uint64_t)INT64_MAX / grid[2])
    return kiln_error(KILN_ERROR_GRID, "%s: a grid of %u x %u x %u has more than 2^63-1 instances",
                      kernel->entry->name, grid[0], grid[1], grid[2]);
  kiln_status status = pool ? KILN_SUCCESS : kiln_default_pool(&pool);
  if (status == KILN_SUCCESS)
    status = run(pool, kernel, stream, grid, params);
  return status == KILN_SUCCESS ? status : kiln_error_within_kernel(status, kernel);
}

static void close_driver(void) {
  kiln_close_default_pool();
  kiln_free_arenas();
}

const kiln_driver_table kiln_cpu_driver = {
    .name = "cpu",
    .grid_limit = {INT32_MAX, INT32_MAX, INT32_MAX},
    .stream_place = stream_place,
    .stream_processors = stream_processors,
    .device_place = device_place,
    .stream_context = stream_context,
    .load = load,
    .make_resident = make_resident,
    .unload = unload,
    .launch = launch,
    .close = close_driver,
};
