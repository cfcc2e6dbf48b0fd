/* This machine's CPU. A launch returns when it has ended. */
#define _GNU_SOURCE
#include "tuner/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of servers whose cores share hundreds of MiB: what a kernel leaves there is not all flushed. */
enum { MOST_CACHE = 32 << 20 };

static struct timespec begin, end;

/* "model name : ..." of Linux; the architecture elsewhere. */
static void read_name(char *name, size_t size) {
  char line[512];
  FILE *file = fopen("/proc/cpuinfo", "r");
  snprintf(name, size, "%s",
#if defined(__aarch64__)
           "aarch64"
#else
           "x86-64"
#endif
  );
  while (file && fgets(line, sizeof line, file)) {
    char *text = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !text)
      continue;
    text += strspn(text, ": \t");
    text[strcspn(text, "\n")] = 0;
    snprintf(name, size, "%s", text);
    break;
  }
  if (file)
    fclose(file);
}

static const char *open_device(kiln_tuner_device *device, const char *library, int ordinal,
                               uint32_t threads) {
  kiln_cpu_pool *pool = NULL;
  long cache = -1;
  (void)library;
  if (ordinal != 0)
    return "there is one CPU, number 0";
  if (threads && kiln_cpu_pool_create(threads, &pool) != KILN_SUCCESS)
    return kiln_last_error();
  device->stream = kiln_cpu_stream(pool);
  device->driver = "cpu";
  device->processors = kiln_cpu_pool_threads(pool);
  read_name(device->name, sizeof device->name);
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  device->cache_bytes = cache > 0 && cache < MOST_CACHE ? (size_t)cache : MOST_CACHE;
  return NULL;
}

static const char *allocate(size_t bytes, void **memory) {
  *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *memory ? NULL : "not enough memory";
}

static const char *release(void *memory) {
  free(memory);
  return NULL;
}

static const char *copy(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
  return NULL;
}

static const char *finish(void) { return NULL; }

static const char *overwrite(void *memory, size_t bytes) {
  static unsigned char value;
  memset(memory, ++value, bytes);
  return NULL;
}

static const char *start(void) {
  clock_gettime(CLOCK_MONOTONIC, &begin);
  return NULL;
}

static const char *stop(void) {
  clock_gettime(CLOCK_MONOTONIC, &end);
  return NULL;
}

static const char *elapsed(double *microseconds) {
  *microseconds =
      (double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-3;
  return NULL;
}

const kiln_tuner_driver kiln_tuner_cpu = {"cpu",  open_device, allocate, release, copy,   copy,
                                          finish, overwrite,   start,    stop,    elapsed};
