/* Compiled for each of the libraries of PrefixTest. */
#include "rule.h"

#define NAME(name) KILN_PREFIXED(KILN_PREFIX, name)

int NAME(fills)(float *x, int count) {
  return NAME(fill)(kiln_cpu_stream(NULL), x, count) == KILN_SUCCESS;
}

uint32_t NAME(loaded)(void) {
  return (uint32_t)kiln_is_ready(&NAME(fill_entry), kiln_cpu_device());
}

int NAME(shutdown)(void) { return kiln_shutdown() == KILN_SUCCESS; }
