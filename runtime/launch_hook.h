/* What a program has called around each launch; see kiln_set_launch_hook in kiln.h. */
#ifndef KILN_RUNTIME_LAUNCH_HOOK_H
#define KILN_RUNTIME_LAUNCH_HOOK_H

#include "runtime/binding.h"

#pragma GCC visibility push(hidden)

/* Not zero while there is a hook: all that a launch without one looks at. */
extern uint32_t kiln_is_hooked;

/* Launches on the binding's driver, between the calls of the hook. */
kiln_status kiln_launch_hooked(const kiln_binding *binding, const kiln_kernel *kernel,
                               kiln_stream stream, const uint32_t grid[3], void *const *params);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_LAUNCH_HOOK_H */
