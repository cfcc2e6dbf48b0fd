/*
 * Which of an entry's targets suits a device best. Pure functions of names; the rules stand at
 * kiln_target in kiln.h.
 */
#ifndef KILN_RUNTIME_TARGET_H
#define KILN_RUNTIME_TARGET_H

#include "runtime/driver.h"

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

/* Negative if `target` cannot run at `place`, else larger is better. */
int64_t kiln_target_rank(const kiln_target *target, const kiln_place *place);

/* The index of the best target of `entry`; -1 if none runs there. */
int64_t kiln_best_target(const kiln_entry *entry, const kiln_place *place);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_TARGET_H */
