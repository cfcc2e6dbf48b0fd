/*
 * A launch with scratch memory and an allocator takes a mutex twice, to read the allocator and to
 * say that it is done with it. A launch without scratch memory never comes here.
 */
#include "runtime/scratch.h"

#include "runtime/hook_users.h"

typedef struct scratch_allocator {
  kiln_allocate_function allocate;
  kiln_release_function release;
  void *user;
} scratch_allocator;

uint32_t kiln_has_scratch_allocator;

static scratch_allocator allocator;
static kiln_hook hook = KILN_HOOK(kiln_has_scratch_allocator, allocator);

/* Of this thread's launches that have memory of the allocator, and of the allocator itself. */
static _Thread_local unsigned depth;

static void end_use(void) {
  kiln_end_hook(&hook);
  --depth;
}

kiln_status kiln_set_scratch_allocator(kiln_allocate_function allocate,
                                       kiln_release_function release, void *user) {
  if (!allocate != !release)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_set_scratch_allocator: expected both functions, or neither");
  if (depth)
    return kiln_error(KILN_ERROR_STATE,
                      "kiln_set_scratch_allocator: called by the allocator, or by a kernel of a "
                      "launch that has memory of it");
  const scratch_allocator next = {.allocate = allocate, .release = release, .user = user};
  kiln_replace_hook(&hook, &next, allocate != NULL);
  return KILN_SUCCESS;
}

static kiln_status make_request(const kiln_kernel *kernel, kiln_stream stream, uint64_t bytes,
                                uint64_t alignment, kiln_scratch_request *request) {
  const kiln_driver_table *driver = kiln_driver_of(kernel->place->driver);
  bool is_capturing = false;
  void *context = NULL;
  kiln_status status = driver->stream_context(stream, &context);
  if (status == KILN_SUCCESS && driver->is_capturing)
    status = driver->is_capturing(stream, &is_capturing);
  *request = (kiln_scratch_request){.entry = kernel->entry,
                                    .stream = stream,
                                    .device = {.driver = kernel->place->driver,
                                               .ordinal = kernel->place->ordinal,
                                               .context = context,
                                               .arch = kernel->place->arch},
                                    .bytes = bytes,
                                    .alignment = alignment,
                                    .is_capturing = is_capturing};
  return status;
}

/* What the program's allocator gave, looked at. */
static kiln_status check_memory(const kiln_scratch *scratch) {
  const kiln_scratch_request *request = &scratch->request;
  if (!scratch->memory)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY,
                      "the scratch allocator of the program has no %llu bytes",
                      (unsigned long long)request->bytes);
  if ((uintptr_t)scratch->memory % request->alignment == 0)
    return KILN_SUCCESS;
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                    "the scratch allocator of the program gave %p, expected a multiple of %llu",
                    scratch->memory, (unsigned long long)request->alignment);
}

kiln_status kiln_acquire_scratch(const kiln_kernel *kernel, kiln_stream stream, uint64_t bytes,
                                 uint64_t alignment, kiln_scratch *scratch) {
  scratch_allocator used;
  scratch->memory = NULL;
  if (!kiln_begin_hook(&hook, &used))
    return KILN_SUCCESS;
  ++depth;
  kiln_status status = make_request(kernel, stream, bytes, alignment, &scratch->request);
  if (status == KILN_SUCCESS) {
    scratch->release = used.release;
    scratch->user = used.user;
    scratch->memory = used.allocate(used.user, &scratch->request);
    status = check_memory(scratch);
  }
  if (status == KILN_SUCCESS)
    return status;
  if (scratch->memory)
    used.release(used.user, &scratch->request, scratch->memory);
  scratch->memory = NULL;
  end_use();
  return status;
}

/* False: more than there are addresses. */
static bool scratch_bytes(const kiln_kernel *kernel, const uint32_t grid[3], uint64_t *bytes) {
  *bytes = kernel->binary->scratch_bytes;
  for (int i = 0; i < 3; ++i) {
    if (*bytes > (uint64_t)INT64_MAX / grid[i])
      return false;
    *bytes *= grid[i];
  }
  return true;
}

static kiln_status ask_driver(const kiln_kernel *kernel, kiln_stream stream, uint64_t bytes,
                              kiln_scratch *scratch) {
  const kiln_driver_table *driver = kiln_driver_of(kernel->place->driver);
  scratch->request = (kiln_scratch_request){.entry = kernel->entry, .stream = stream};
  scratch->request.device.driver = kernel->place->driver;
  scratch->release = NULL;
  return driver->allocate(kernel->place, stream, bytes, &scratch->memory);
}

kiln_status kiln_acquire_device_scratch(const kiln_kernel *kernel, kiln_stream stream,
                                        const uint32_t grid[3], kiln_scratch *scratch) {
  uint64_t bytes;
  if (!scratch_bytes(kernel, grid, &bytes))
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY,
                      "%u x %u x %u blocks need %llu bytes of scratch memory each, which are more "
                      "than there are addresses",
                      grid[0], grid[1], grid[2], (unsigned long long)kernel->binary->scratch_bytes);
  kiln_status status =
      kiln_acquire_scratch(kernel, stream, bytes, KILN_DEVICE_SCRATCH_ALIGNMENT, scratch);
  return status == KILN_SUCCESS && !scratch->memory ? ask_driver(kernel, stream, bytes, scratch)
                                                    : status;
}

void kiln_release_scratch(const kiln_scratch *scratch) {
  if (!scratch->memory)
    return;
  if (!scratch->release) {
    kiln_driver_of(scratch->request.device.driver)
        ->release(scratch->request.stream, scratch->memory);
    return;
  }
  scratch->release(scratch->user, &scratch->request, scratch->memory);
  end_use();
}
