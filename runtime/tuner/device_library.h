/* Functions of a GPU's driver, by name. The runtime opens the same library for its launches. */
#ifndef KILN_RUNTIME_TUNER_DEVICE_LIBRARY_H
#define KILN_RUNTIME_TUNER_DEVICE_LIBRARY_H

#include "tuner/device.h"

typedef struct kiln_tuner_symbol {
  const char *name;
  void **function;
} kiln_tuner_symbol;

/* Opens `path` (which the runtime then uses too), or the first of `names` that there is, and finds
 * the `symbols`, both null-terminated. */
const char *kiln_tuner_open_library(kiln_driver driver, const char *path, const char *const *names,
                                    const kiln_tuner_symbol *symbols);

/* "cuMemAlloc: out of memory (2)"; the text holds until the next call. */
const char *kiln_tuner_driver_error(const char *what, const char *text, int result);

#endif /* KILN_RUNTIME_TUNER_DEVICE_LIBRARY_H */
