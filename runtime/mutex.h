/*
 * Mutexes that survive fork.
 *
 * A program may fork while other threads of it launch kernels. The child has the forking thread
 * alone, so a mutex that another thread held would never be released there. Before a fork all
 * mutexes of the runtime are therefore taken, and given back on both sides after it: what they
 * guard is whole in the child too.
 */
#ifndef KILN_RUNTIME_MUTEX_H
#define KILN_RUNTIME_MUTEX_H

#include "runtime/platform.h"

#include <stdatomic.h>

#pragma GCC visibility push(hidden)

/* All zero until it is first locked. */
typedef struct kiln_mutex {
  kiln_os_mutex plain;
  _Atomic(const void *) holder; /* names a thread, or null */
  atomic_bool is_known;         /* to those that are taken before a fork */
  struct kiln_mutex *next;      /* of these */
} kiln_mutex;

void kiln_lock(kiln_mutex *mutex);
void kiln_unlock(kiln_mutex *mutex);
/* As kiln_os_wait. */
void kiln_wait(kiln_os_condition *condition, kiln_mutex *mutex);
void kiln_mutex_destroy(kiln_mutex *mutex);

/* How often this process is the child of a fork: of threads that were started at a lower count
 * there are none. */
unsigned kiln_forks(void);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_MUTEX_H */
