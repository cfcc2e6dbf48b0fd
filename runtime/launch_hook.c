/*
 * Functions of the program around each launch.
 *
 * A hooked launch takes a mutex twice, to read the hook and to say that it is done with it, so that
 * kiln_set_launch_hook can wait until nobody uses the earlier one: its code may then be unloaded. A
 * launch without a hook reads one word.
 */
#include "runtime/launch_hook.h"

#include "runtime/hook_users.h"

#include <string.h>

typedef struct launch_hook {
  kiln_launch_function before, after;
  void *user;
} launch_hook;

uint32_t kiln_is_hooked;

static launch_hook functions;
static kiln_hook hook = KILN_HOOK(kiln_is_hooked, functions);

/* Of this thread's launch, and of what its hook calls. */
static _Thread_local unsigned depth;

kiln_status kiln_set_launch_hook(kiln_launch_function before, kiln_launch_function after,
                                 void *user) {
  if (depth)
    return kiln_error(KILN_ERROR_STATE,
                      "kiln_set_launch_hook: called by the launch hook, or by a kernel of a launch "
                      "that has one");
  const launch_hook next = {.before = before, .after = after, .user = user};
  kiln_replace_hook(&hook, &next, before || after);
  return KILN_SUCCESS;
}

static kiln_launch_info describe(const kiln_kernel *kernel, kiln_stream stream,
                                 const uint32_t grid[3]) {
  const kiln_binary *binary = kernel->binary;
  const kiln_variant *variant = &kernel->entry->variants[kernel->variant];
  kiln_launch_info info = {.entry = kernel->entry,
                           .name = kernel->entry->name,
                           .variant_id = variant->id,
                           .variant_name = variant->name,
                           .variant = kernel->variant,
                           .threads = binary->threads,
                           .shared_bytes = binary->shared_bytes,
                           .stream = stream,
                           .status = KILN_SUCCESS};
  for (int i = 0; i < 3; ++i) {
    info.grid[i] = grid[i];
    info.cluster[i] = binary->cluster[i] ? binary->cluster[i] : 1;
  }
  return info;
}

kiln_status kiln_launch_hooked(const kiln_binding *binding, const kiln_kernel *kernel,
                               kiln_stream stream, const uint32_t grid[3], void *const *params) {
  launch_hook used;
  if (!kiln_begin_hook(&hook, &used))
    return binding->driver->launch(kernel, stream, grid, params);
  ++depth;
  kiln_launch_info info = describe(kernel, stream, grid);
  if (used.before)
    used.before(used.user, &info);
  kiln_status status = binding->driver->launch(kernel, stream, grid, params);
  info.status = status;
  kiln_first_error failure = {.status = KILN_SUCCESS};
  kiln_note_error(&failure, status);
  if (used.after)
    used.after(used.user, &info);
  kiln_end_hook(&hook);
  --depth;
  return kiln_first_error_of(&failure);
}
