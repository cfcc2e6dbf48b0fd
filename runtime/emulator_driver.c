/* Emulated GPUs: each block of a launch is one instance on a CPU pool, which runs the block's
 * threads (runtime/emulator, linked by libraries that have emulated binaries). Launches are
 * synchronous. */
#include "runtime/cpu_features.h"
#include "runtime/cpu_pool.h"
#include "runtime/driver.h"
#include "runtime/emulated_launch.h"
#include "runtime/emulator/kiln_emu.h"
#include "runtime/emulator_counts.h"
#include "runtime/emulator_ranges.h"
#include "runtime/mutex.h"
#include "runtime/tensor_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One place for each architecture: emulators of one architecture share their bindings. */
static const kiln_place places[] = {
#define KILN_EMULATED(ARCH, NUMBER, PROCESSORS, SHARED)                                            \
  {.driver = KILN_DRIVER_EMULATOR, .arch = NUMBER, .processors = PROCESSORS, .arch_name = ARCH},
#include "runtime/emulated_devices.def"
#undef KILN_EMULATED
};

static const uint32_t max_shared[] = {
#define KILN_EMULATED(ARCH, NUMBER, PROCESSORS, SHARED) SHARED,
#include "runtime/emulated_devices.def"
#undef KILN_EMULATED
};

enum { NUM_PLACES = sizeof places / sizeof places[0], MAX_REPORTS = 64, MAX_CLUSTER = 8 };

typedef struct report {
  const void *place;
  int kind;
  char *message;
} report;

struct kiln_emulator {
  uint32_t device; /* index of places */
  kiln_cpu_pool *pool;
  kiln_mutex mutex; /* of all that follows */
  uint32_t check;
  kiln_ranges ranges;
  report reports[MAX_REPORTS];
  uint32_t num_reports;
  uint32_t count;
  kiln_counts counts;
};

/* --- for programs --- */

kiln_status kiln_emulator_create(const char *arch, kiln_cpu_pool *pool, kiln_emulator **emulator) {
  if (!arch || !emulator)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "kiln_emulator_create: a null pointer");
  uint32_t device = 0;
  while (device < NUM_PLACES && strcmp(places[device].arch_name, arch) != 0)
    ++device;
  if (device == NUM_PLACES)
    return kiln_error(KILN_ERROR_INVALID_DEVICE, "'%s' cannot be emulated", arch);
  kiln_emulator *made = calloc(1, sizeof *made);
  if (!made)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory for an emulator");
  made->device = device;
  made->pool = pool;
  *emulator = made;
  return KILN_SUCCESS;
}

void kiln_emulator_destroy(kiln_emulator *emulator) {
  if (!emulator)
    return;
  kiln_emulator_clear_reports(emulator);
  kiln_mutex_destroy(&emulator->mutex);
  kiln_ranges_clear(&emulator->ranges);
  kiln_counts_clear(&emulator->counts);
  free(emulator);
}

kiln_stream kiln_emulator_stream(kiln_emulator *emulator) {
  return (kiln_stream){.driver = KILN_DRIVER_EMULATOR, .handle = emulator};
}

kiln_device kiln_emulator_device(const kiln_emulator *emulator) {
  return (kiln_device){.driver = emulator ? KILN_DRIVER_EMULATOR : KILN_DRIVER_NONE,
                       .ordinal = emulator ? (int32_t)emulator->device : 0};
}

void kiln_emulator_set_check(kiln_emulator *emulator, int check) { emulator->check = check != 0; }

kiln_status kiln_emulator_register(kiln_emulator *emulator, const void *memory, size_t bytes) {
  if (!emulator || !memory || !bytes)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "kiln_emulator_register: nothing to register");
  kiln_lock(&emulator->mutex);
  kiln_status status = kiln_ranges_add(&emulator->ranges, memory, bytes);
  kiln_unlock(&emulator->mutex);
  return status;
}

static kiln_status not_registered(void) {
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "no allocation was registered at this address");
}

kiln_status kiln_emulator_unregister(kiln_emulator *emulator, const void *memory) {
  if (!emulator)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_emulator_unregister: the emulator is null");
  kiln_lock(&emulator->mutex);
  kiln_emulated_range *range = kiln_ranges_find(&emulator->ranges, memory);
  if (range)
    kiln_ranges_remove(&emulator->ranges, range);
  kiln_unlock(&emulator->mutex);
  return range ? KILN_SUCCESS : not_registered();
}

kiln_status kiln_emulator_set_name(kiln_emulator *emulator, const void *memory, const char *name) {
  if (!emulator)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "kiln_emulator_set_name: the emulator is null");
  size_t size = name ? strlen(name) + 1 : 0;
  char *copy = name ? malloc(size) : NULL;
  if (name && !copy)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory for the name of an allocation");
  if (copy)
    memcpy(copy, name, size);
  kiln_lock(&emulator->mutex);
  kiln_emulated_range *range = kiln_ranges_find(&emulator->ranges, memory);
  char *unused = copy;
  if (range) {
    unused = range->name;
    range->name = copy;
  }
  kiln_unlock(&emulator->mutex);
  free(unused);
  return range ? KILN_SUCCESS : not_registered();
}

kiln_status kiln_emulator_set_unwritten(kiln_emulator *emulator, const void *memory,
                                        uint64_t word) {
  if (!emulator)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_emulator_set_unwritten: the emulator is null");
  kiln_lock(&emulator->mutex);
  kiln_emulated_range *range = kiln_ranges_find(&emulator->ranges, memory);
  if (range)
    range->unwritten = word;
  kiln_unlock(&emulator->mutex);
  return range ? KILN_SUCCESS : not_registered();
}

uint32_t kiln_emulator_num_reports(kiln_emulator *emulator) {
  kiln_lock(&emulator->mutex);
  uint32_t count = emulator->num_reports;
  kiln_unlock(&emulator->mutex);
  return count;
}

const char *kiln_emulator_report(kiln_emulator *emulator, uint32_t index) {
  kiln_lock(&emulator->mutex);
  const char *message = index < emulator->num_reports ? emulator->reports[index].message : NULL;
  kiln_unlock(&emulator->mutex);
  return message;
}

void kiln_emulator_clear_reports(kiln_emulator *emulator) {
  kiln_lock(&emulator->mutex);
  for (uint32_t i = 0; i < emulator->num_reports; ++i)
    free(emulator->reports[i].message);
  emulator->num_reports = 0;
  kiln_unlock(&emulator->mutex);
}

void kiln_emulator_set_count(kiln_emulator *emulator, int count) { emulator->count = count != 0; }

uint32_t kiln_emulator_num_kernels(kiln_emulator *emulator) {
  kiln_lock(&emulator->mutex);
  uint32_t number = emulator->counts.num_kernels;
  kiln_unlock(&emulator->mutex);
  return number;
}

kiln_status kiln_emulator_kernel_at(kiln_emulator *emulator, uint32_t index,
                                    kiln_emulator_kernel *kernel) {
  kiln_lock(&emulator->mutex);
  bool is_there = index < emulator->counts.num_kernels;
  if (is_there)
    *kernel = emulator->counts.kernels[index].kernel;
  kiln_unlock(&emulator->mutex);
  return is_there ? KILN_SUCCESS
                  : kiln_error(KILN_ERROR_INVALID_ARGUMENT, "no kernel %u was counted", index);
}

uint32_t kiln_emulator_num_counts(kiln_emulator *emulator) {
  kiln_lock(&emulator->mutex);
  uint32_t number = kiln_counts_number(&emulator->counts);
  kiln_unlock(&emulator->mutex);
  return number;
}

kiln_status kiln_emulator_count_at(kiln_emulator *emulator, uint32_t index,
                                   kiln_emulator_count *count) {
  kiln_lock(&emulator->mutex);
  const kiln_emulator_count *found = kiln_counts_at(&emulator->counts, index);
  if (found)
    *count = *found;
  kiln_unlock(&emulator->mutex);
  return found ? KILN_SUCCESS
               : kiln_error(KILN_ERROR_INVALID_ARGUMENT, "there is no count %u", index);
}

void kiln_emulator_clear_counts(kiln_emulator *emulator) {
  kiln_lock(&emulator->mutex);
  kiln_counts_clear(&emulator->counts);
  kiln_unlock(&emulator->mutex);
}

/* --- for runtime/emulator --- */

void kiln_emulated_count(kiln_emulated_launch *launch, const void *code,
                         const kiln_emulator_kernel *kernel, const kiln_emulator_count *counts) {
  kiln_emulator *emulator = launch->emulator;
  kiln_lock(&emulator->mutex);
  kiln_counts_add(&emulator->counts, code, kernel, counts);
  kiln_unlock(&emulator->mutex);
}

void kiln_emulated_report(kiln_emulated_launch *launch, const void *place, int kind,
                          const char *message) {
  kiln_emulator *emulator = launch->emulator;
  kiln_lock(&emulator->mutex);
  bool is_known = emulator->num_reports == MAX_REPORTS;
  for (uint32_t i = 0; i < emulator->num_reports; ++i)
    is_known |= emulator->reports[i].place == place && emulator->reports[i].kind == kind;
  size_t size = strlen(message) + 1;
  char *copy = is_known ? NULL : malloc(size);
  if (copy) {
    memcpy(copy, message, size);
    emulator->reports[emulator->num_reports++] = (report){place, kind, copy};
  }
  kiln_unlock(&emulator->mutex);
  __atomic_fetch_add(&launch->findings, 1, __ATOMIC_RELAXED);
}

/* --- the driver --- */

static kiln_status stream_place(kiln_stream stream, const kiln_place **place) {
  const kiln_emulator *emulator = stream.handle;
  if (!emulator)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "the stream's emulator is null");
  *place = &places[emulator->device];
  return KILN_SUCCESS;
}

static kiln_status device_place(const kiln_device *device, const kiln_place **place) {
  if (device->ordinal < 0 || device->ordinal >= NUM_PLACES)
    return kiln_error(KILN_ERROR_INVALID_DEVICE, "there is no emulated device %d", device->ordinal);
  *place = &places[device->ordinal];
  return KILN_SUCCESS;
}

static kiln_status stream_context(kiln_stream stream, void **context) {
  (void)stream;
  *context = NULL;
  return KILN_SUCCESS;
}

static kiln_status load(kiln_kernel *kernel, const kiln_target *target, kiln_image **images) {
  (void)target, (void)images;
  const kiln_binary *binary = kernel->binary;
  if (binary->flags || binary->scratch_bytes)
    return kiln_error(KILN_ERROR_UNSUPPORTED,
                      "cooperative and programmatic launches and scratch are not emulated");
  if (binary->cluster[0] > MAX_CLUSTER || binary->cluster[1] > 1 || binary->cluster[2] > 1)
    return kiln_error(KILN_ERROR_UNSUPPORTED,
                      "clusters of more than %d blocks, or along y and z, are not emulated",
                      MAX_CLUSTER);
  return KILN_SUCCESS;
}

static kiln_status unload(const kiln_image *image) {
  (void)image;
  return KILN_SUCCESS;
}

/* A host function that runs one block, or cluster of blocks, of the launch that `params` is. */
static void run_block(void *const *params, const uint32_t program[3], const uint32_t programs[3],
                      void *arena) {
  kiln_emulated_launch *launch = (kiln_emulated_launch *)params;
  (void)arena;
  if (!__atomic_load_n(&launch->stopped, __ATOMIC_RELAXED))
    launch->host(launch->params, program, programs, launch);
}

/* HIP counts a grid in threads, in 32 bits (hipModuleLaunchKernel). */
static bool is_too_wide(const kiln_kernel *kernel, const uint32_t grid[3]) {
  return strncmp(kernel->place->arch_name, "gfx", 3) == 0 &&
         (uint64_t)grid[0] * kernel->binary->threads > UINT32_MAX;
}

_Static_assert(sizeof(kiln_emu_tensor_map) == KILN_TENSOR_MAP_BYTES, "as on the GPU");

/* `tensor` is checked. One without elements keeps its extent of 0: all of it is outside. */
static kiln_emu_tensor_map emulated_map(const kiln_tensor_map *map, const kiln_tensor *tensor) {
  kiln_emu_tensor_map made = {.magic = KILN_EMU_TENSOR_MAP,
                              .base = tensor->base,
                              .rank = (uint8_t)map->rank,
                              .element_bytes = (uint8_t)kiln_tensor_element_bytes(map->element),
                              .swizzle_bytes = (uint8_t)map->swizzle_bytes,
                              .fills_with_nan = (map->flags & KILN_MAP_FILLS_WITH_NAN) != 0,
                              .element = (uint8_t)map->element};
  for (uint32_t i = 0; i < map->rank; ++i) {
    uint32_t axis = map->rank - 1u - i;
    made.extents[i] = (uint32_t)tensor->shape[axis];
    made.box[i] = map->box[axis];
    if (i > 0)
      made.strides[i - 1] = kiln_mapped_stride(map, tensor, axis);
  }
  return made;
}

static bool makes_tensor_maps(void) { return true; }

/* `use_fallback`: a tensor has no map, and the kernel a fallback. */
static kiln_status make_maps(const kiln_kernel *kernel, void *const *params,
                             kiln_emu_tensor_map *maps, bool *use_fallback) {
  const kiln_param *parameters = kernel->entry->variants[kernel->variant].params;
  for (uint32_t i = 0; i < kernel->binary->num_tensor_maps; ++i) {
    const kiln_tensor_map *map = &kernel->binary->tensor_maps[i];
    kiln_tensor tensor;
    kiln_read_tensor(map, parameters, params, &tensor);
    *use_fallback =
        kernel->fallback && !(kiln_has_map(map, &tensor) && kiln_map_pays(map, &tensor));
    if (*use_fallback)
      return KILN_SUCCESS;
    kiln_status status = kiln_check_mapped_tensor(kernel->entry->name, map, parameters, &tensor);
    if (status != KILN_SUCCESS)
      return status;
    maps[i] = emulated_map(map, &tensor);
  }
  return KILN_SUCCESS;
}

/* `params` are all that the code has. */
static kiln_status launch_complete(const kiln_kernel *kernel, kiln_stream stream,
                                   const uint32_t grid[3], void *const *params) {
  kiln_emulator *emulator = stream.handle;
  const kiln_binary *binary = kernel->binary;
  if (is_too_wide(kernel, grid))
    return kiln_error(KILN_ERROR_GRID,
                      "%s: a grid of %u blocks of %u threads in x, the limit is 2^32 - 1 threads",
                      kernel->entry->name, grid[0], binary->threads);
  kiln_cpu_pool *pool = emulator->pool;
  kiln_status status = pool ? KILN_SUCCESS : kiln_default_pool(&pool);
  if (status != KILN_SUCCESS)
    return status;
  const kiln_variant *parameters = &kernel->entry->variants[kernel->variant];
  kiln_emulated_launch launching = {.emulator = emulator,
                                    .entry = kernel->entry->name,
                                    .host = binary->host,
                                    .params = params,
                                    .parameters = parameters->params,
                                    .num_parameters = parameters->num_params,
                                    .cluster = binary->cluster[0],
                                    .threads = binary->threads,
                                    .dynamic_bytes = binary->shared_bytes,
                                    .max_shared = max_shared[emulator->device],
                                    .check = emulator->check,
                                    .count = emulator->count,
                                    .ranges = emulator->ranges.ranges,
                                    .num_ranges = emulator->ranges.number};
  uint32_t before = kiln_emulator_num_reports(emulator);
  const uint32_t instances[3] = {grid[0] / (binary->cluster[0] ? binary->cluster[0] : 1), grid[1],
                                 grid[2]};
  status = kiln_cpu_pool_run(pool, run_block, instances, (void *const *)&launching, 0, NULL);
  if (status == KILN_SUCCESS && launching.findings) {
    const char *message = kiln_emulator_report(emulator, before);
    status = kiln_error(KILN_ERROR_LAUNCH, "%s", message ? message : "as reported before");
  }
  return status == KILN_SUCCESS
             ? status
             : kiln_error_within(status, "%s: variant %u (%s) for emu:%s", kernel->entry->name,
                                 kernel->variant, kernel->entry->variants[kernel->variant].name,
                                 kernel->place->arch_name);
}

static kiln_status launch(const kiln_kernel *kernel, kiln_stream stream, const uint32_t grid[3],
                          void *const *params) {
  uint32_t num_params = kernel->entry->variants[kernel->variant].num_params;
  uint32_t num_maps = kernel->binary->num_tensor_maps;
  if (!num_maps)
    return launch_complete(kernel, stream, grid, params);
  _Alignas(KILN_TENSOR_MAP_ALIGNMENT) kiln_emu_tensor_map maps[KILN_MAX_TENSOR_MAPS];
  bool use_fallback = false;
  kiln_status status = make_maps(kernel, params, maps, &use_fallback);
  if (status != KILN_SUCCESS)
    return status;
  if (use_fallback)
    return launch(kernel->fallback, stream, grid, params);
  void *all[num_params + num_maps];
  memcpy(all, params, num_params * sizeof *all);
  for (uint32_t i = 0; i < num_maps; ++i)
    all[num_params + i] = &maps[i];
  return launch_complete(kernel, stream, grid, all);
}

/* The host's, and registered where the program has registered what kernels may access. */
static kiln_status allocate(const kiln_place *place, kiln_stream stream, uint64_t bytes,
                            void **memory) {
  enum { ALIGNMENT = 256 };
  kiln_emulator *emulator = stream.handle;
  (void)place;
  *memory = kiln_os_allocate_aligned(ALIGNMENT, (size_t)bytes);
  if (!*memory)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory for %llu bytes of an emulated device",
                      (unsigned long long)bytes);
  kiln_status status = emulator->ranges.number
                           ? kiln_emulator_register(emulator, *memory, (size_t)bytes)
                           : KILN_SUCCESS;
  if (status != KILN_SUCCESS) {
    kiln_os_free_aligned(*memory);
    *memory = NULL;
  }
  return status;
}

static void release(kiln_stream stream, void *memory) {
  kiln_emulator *emulator = stream.handle;
  kiln_lock(&emulator->mutex);
  kiln_emulated_range *range = kiln_ranges_find(&emulator->ranges, memory);
  if (range)
    kiln_ranges_remove(&emulator->ranges, range);
  kiln_unlock(&emulator->mutex);
  kiln_os_free_aligned(memory);
}

static void close_driver(void) {}

const kiln_driver_table kiln_emulator_driver = {
    .name = "emu",
    .grid_limit = {INT32_MAX, 65535, 65535},
    .makes_tensor_maps = makes_tensor_maps,
    .stream_place = stream_place,
    .device_place = device_place,
    .stream_context = stream_context,
    .load = load,
    .unload = unload,
    .launch = launch,
    .allocate = allocate,
    .release = release,
    .close = close_driver,
};
