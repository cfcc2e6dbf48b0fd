/*
 * Where the tuner runs kernels: memory, copies, and a clock. One table per driver; each function
 * gives null or the text of what went wrong, which holds until the next call.
 */
#ifndef KILN_RUNTIME_TUNER_DEVICE_H
#define KILN_RUNTIME_TUNER_DEVICE_H

#include "tuner/kiln_tuner.h"

#include <stddef.h>

typedef struct kiln_tuner_device {
  kiln_stream stream;
  char name[256];
  const char *driver; /* "cuda", "hip", "cpu" */
  char version[64];   /* the driver's */
  uint32_t processors;
  size_t cache_bytes; /* of the last level */
} kiln_tuner_device;

typedef struct kiln_tuner_driver {
  const char *name;
  /* Opens device `ordinal`; `library` is the driver's path or null; `threads` is for the CPU. */
  const char *(*open)(kiln_tuner_device *device, const char *library, int ordinal,
                      uint32_t threads);
  const char *(*allocate)(size_t bytes, void **memory);
  const char *(*release)(void *memory);
  const char *(*to_device)(void *to, const void *from, size_t bytes);
  const char *(*to_host)(void *to, const void *from, size_t bytes);
  /* Waits for all work, and reports what became of it. */
  const char *(*finish)(void);
  /* Writes to all of `bytes` at `memory`, so that what caches held is elsewhere. May return before
   * it is done; work on the stream comes behind it. */
  const char *(*overwrite)(void *memory, size_t bytes);
  /* Around a launch, and after its end: microseconds between. */
  const char *(*start)(void);
  const char *(*stop)(void);
  const char *(*elapsed)(double *microseconds);
} kiln_tuner_driver;

extern const kiln_tuner_driver kiln_tuner_cuda;
extern const kiln_tuner_driver kiln_tuner_hip;
extern const kiln_tuner_driver kiln_tuner_cpu;

#endif /* KILN_RUNTIME_TUNER_DEVICE_H */
