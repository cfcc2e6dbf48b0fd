/*
 * The hot path: from a stream to a launch, and what generated dispatch reports when there is none.
 *
 * A launch of what is loaded is: the driver's word for the stream's device, a walk over the entry's
 * bindings (one for each place in use), one load of the kernel, a check of the grid, the driver's
 * launch.
 */
#include "runtime/binding.h"
#include "runtime/launch_hook.h"
#include "runtime/tuning_table.h"

#include <stddef.h>

kiln_stream kiln_cuda_stream(void *stream) {
  return (kiln_stream){.driver = KILN_DRIVER_CUDA, .handle = stream};
}

kiln_stream kiln_hip_stream(void *stream) {
  return (kiln_stream){.driver = KILN_DRIVER_HIP, .handle = stream};
}

kiln_stream kiln_cpu_stream(kiln_cpu_pool *pool) {
  return (kiln_stream){.driver = KILN_DRIVER_CPU, .handle = pool};
}

/* What is wrong with what generated code, or its caller, gave to kiln_begin. */
static KILN_RARE kiln_status refuse_begin(const kiln_entry *entry, const kiln_call *call) {
  if (!call)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "kiln_begin: the call is null");
  kiln_status status = kiln_check_entry(entry);
  if (status != KILN_SUCCESS)
    return status;
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                    "the stream was not made by kiln_cuda_stream, kiln_hip_stream, "
                    "kiln_cpu_stream or kiln_emulator_stream");
}

kiln_status kiln_begin(const kiln_entry *entry, kiln_stream stream, kiln_call *call) {
  const kiln_driver_table *driver = kiln_driver_of(stream.driver);
  const kiln_place *place;
  if (kiln_is_rare(!call || !kiln_is_entry(entry) || !driver))
    return refuse_begin(entry, call);
  kiln_status status = driver->stream_place(stream, &place);
  if (kiln_is_rare(status != KILN_SUCCESS))
    return status;
  const kiln_binding *binding = kiln_find_binding(entry, place);
  if (kiln_is_rare(!binding)) {
    status = kiln_bind(entry, place, &binding);
    if (status != KILN_SUCCESS)
      return status;
  }
  uint32_t processors = place->processors;
  kiln_divisor waves = binding->waves;
  if (driver->stream_processors) {
    processors = driver->stream_processors(stream);
    waves = kiln_divisor_of(processors);
  }
  const kiln_entry_state *state = entry->state;
  const kiln_tuning_table *table = kiln_load_acquire(&state->tables);
  const kiln_tuned_trees *built = entry->key ? entry->key->tuned : NULL;
  *call = (kiln_call){.entry = entry,
                      .stream = stream,
                      .binding = binding,
                      .target = binding->target,
                      .arch = place->arch,
                      .processors = processors,
                      .tuned = table ? &table->trees : built,
                      .seen = kiln_load_acquire(&state->seen),
                      .is_compared = kiln_load_acquire(&state->differential) != NULL,
                      .waves = waves};
  return KILN_SUCCESS;
}

/* A grid with nothing in it, or one that the device does not allow. */
static KILN_RARE kiln_status refuse_grid(const kiln_kernel *kernel, const int64_t *grid) {
  if (!grid)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: the grid is null", kernel->entry->name);
  bool is_empty = false;
  for (int i = 0; i < 3; ++i) {
    if (grid[i] < 0)
      return kiln_error(KILN_ERROR_GRID, "%s: grid dimension %d is negative: %lld",
                        kernel->entry->name, i, (long long)grid[i]);
    is_empty |= grid[i] == 0;
  }
  for (int i = 0; i < 3 && !is_empty; ++i)
    if (grid[i] > kernel->grid_limit[i])
      return kiln_error(KILN_ERROR_GRID, "%s: grid dimension %d is %lld, the device allows %lld",
                        kernel->entry->name, i, (long long)grid[i],
                        (long long)kernel->grid_limit[i]);
  return KILN_SUCCESS;
}

static KILN_RARE kiln_status refuse_params(const kiln_kernel *kernel) {
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: the parameters are null",
                    kernel->entry->name);
}

static inline kiln_status launch(const kiln_binding *binding, const kiln_kernel *kernel,
                                 kiln_stream stream, const int64_t *grid, void *const *params) {
  uint32_t blocks[3];
  bool is_allowed = grid != NULL;
  for (int i = 0; i < 3 && is_allowed; ++i) {
    is_allowed = (uint64_t)grid[i] - 1 < (uint64_t)kernel->grid_limit[i];
    blocks[i] = (uint32_t)grid[i] * kernel->program_blocks[i];
  }
  if (kiln_is_rare(!is_allowed))
    return refuse_grid(kernel, grid);
  if (kiln_is_rare(!params && kernel->num_params))
    return refuse_params(kernel);
  if (kiln_is_rare(__atomic_load_n(&kiln_is_hooked, __ATOMIC_RELAXED)))
    return kiln_launch_hooked(binding, kernel, stream, blocks, params);
  return binding->driver->launch(kernel, stream, blocks, params);
}

static KILN_RARE kiln_status load_kernel(const kiln_call *call, uint32_t variant,
                                         const kiln_kernel **kernel) {
  if (!call || !call->binding)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "the call was not begun");
  if (variant >= call->entry->num_variants)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: there is no variant %u: it has %u",
                      call->entry->name, variant, call->entry->num_variants);
  return kiln_load_kernel(call->entry, call->binding, variant, &call->stream, kernel);
}

static inline kiln_status kernel_of(const kiln_call *call, uint32_t variant,
                                    const kiln_kernel **kernel) {
  const kiln_binding *binding = call ? call->binding : NULL;
  *kernel = binding && variant < call->entry->num_variants
                ? kiln_load_acquire(&binding->kernels[variant])
                : NULL;
  return kiln_is_rare(!*kernel) ? load_kernel(call, variant, kernel) : KILN_SUCCESS;
}

kiln_status kiln_run(const kiln_call *call, uint32_t variant, const int64_t grid[3],
                     void *const *params) {
  const kiln_kernel *kernel;
  kiln_status status = kernel_of(call, variant, &kernel);
  if (kiln_is_rare(status != KILN_SUCCESS))
    return status;
  return launch(call->binding, kernel, call->stream, grid, params);
}

kiln_status kiln_launch(const kiln_entry *entry, uint32_t variant, kiln_stream stream,
                        const int64_t grid[3], void *const *params) {
  kiln_call call;
  kiln_status status = kiln_begin(entry, stream, &call);
  return status == KILN_SUCCESS ? kiln_run(&call, variant, grid, params) : status;
}

kiln_status kiln_plan_create(const kiln_call *call, uint32_t variant, kiln_plan *plan) {
  const kiln_kernel *kernel;
  if (!plan)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "kiln_plan_create: the plan is null");
  *plan = (kiln_plan){0};
  kiln_status status = kernel_of(call, variant, &kernel);
  if (status == KILN_SUCCESS)
    *plan = (kiln_plan){.call = *call, .kernel = kernel};
  return status;
}

kiln_status kiln_plan_run(const kiln_plan *plan, const int64_t grid[3], void *const *params) {
  if (!plan || !plan->kernel)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "the plan was not created");
  return launch(plan->call.binding, plan->kernel, plan->call.stream, grid, params);
}

kiln_status kiln_fail(const kiln_entry *entry, kiln_status status, const char *message) {
  return kiln_error(status, "%s: %s", entry ? entry->name : "kernel", message);
}
