/* Compiled for each of two libraries with equal names. */
#include "same.h"

#include <string.h>

#define NAME(name) KILN_PREFIXED(KILN_PREFIX, name)

kiln_status NAME(use)(int *out, int limit, char message[256]) {
  kiln_status status = NAME(step)(kiln_cpu_stream(NULL), out, limit);
  strncpy(message, kiln_last_error(), 255);
  return status;
}
