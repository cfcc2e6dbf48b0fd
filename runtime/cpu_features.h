/*
 * What this host's CPU can execute, in LLVM's names. On x86-64 asked of the CPU itself (CPUID and
 * XGETBV), not of the compiler's builtins, whose lists of names differ between compilers.
 */
#ifndef KILN_RUNTIME_CPU_FEATURES_H
#define KILN_RUNTIME_CPU_FEATURES_H

#include "runtime/kiln.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

/* The level of a CPU arch name for this kind of host: 1 to 4 for "x86-64" to "x86-64-v4", 1 for
 * "aarch64"; false for other names. */
bool kiln_cpu_level_of(const char *arch, uint32_t *level);

/* This host's level. */
uint32_t kiln_cpu_level(void);

/* This host's arch name at its level, such as "x86-64-v3". */
const char *kiln_cpu_arch_name(void);

/* Whether every "+name" of a comma-separated list is there ("-name" is ignored; null is true). */
bool kiln_cpu_has_features(const char *features);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_CPU_FEATURES_H */
