/* Launches that are repeated by another variant and compared; see kiln_set_differential in kiln.h.
 */
#ifndef KILN_RUNTIME_DIFFERENTIAL_H
#define KILN_RUNTIME_DIFFERENTIAL_H

#include "runtime/binding.h"

#pragma GCC visibility push(hidden)

/* Of an entry's state; null is ignored. No launch of it may be under way. */
void kiln_free_differential(void *differential);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_DIFFERENTIAL_H */
