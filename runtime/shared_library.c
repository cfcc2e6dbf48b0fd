/* The drivers' functions, and the paths that kiln_set_driver_path names. */
#include "runtime/shared_library.h"
#include "runtime/mutex.h"
#include "runtime/platform.h"

#include <stdio.h>
#include <string.h>

enum { PATH_CAPACITY = 4096 };

static kiln_mutex mutex;
static struct {
  char path[PATH_CAPACITY];
  bool open;
} libraries[KILN_DRIVER_CPU];

kiln_status kiln_set_driver_path(kiln_driver driver, const char *path) {
  if (driver != KILN_DRIVER_CUDA && driver != KILN_DRIVER_HIP)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_set_driver_path: driver %d has no library to open", (int)driver);
  if (path && strlen(path) >= PATH_CAPACITY)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_set_driver_path: the path is longer than %d bytes", PATH_CAPACITY - 1);
  kiln_status status = KILN_SUCCESS;
  kiln_lock(&mutex);
  if (libraries[driver].open)
    status = kiln_error(KILN_ERROR_STATE,
                        "kiln_set_driver_path: the %s driver is already open; set its path before "
                        "the first stream is used",
                        driver == KILN_DRIVER_CUDA ? "cuda" : "hip");
  else
    strcpy(libraries[driver].path, path ? path : "");
  kiln_unlock(&mutex);
  return status;
}

static void *open_first(const char *const *names, const char *path, char *tried, size_t capacity) {
  const char *const single[] = {path, NULL};
  size_t length = 0;
  tried[0] = '\0';
  for (const char *const *name = path[0] ? single : names; *name; ++name) {
    void *handle = kiln_os_open_library(*name, true);
    if (handle)
      return handle;
    int written = snprintf(tried + length, capacity - length, "%s%s", length ? "; " : "",
                           kiln_os_library_error());
    if (written > 0 && (size_t)written < capacity - length)
      length += (size_t)written;
  }
  return NULL;
}

static kiln_status resolve(void *handle, const kiln_symbol *symbols, size_t num_symbols,
                           void *api) {
  for (size_t i = 0; i < num_symbols; ++i) {
    kiln_os_function address = kiln_os_find_function(handle, symbols[i].name);
    if (!address && symbols[i].required)
      return kiln_error(KILN_ERROR_MISSING_SYMBOL, "the driver library lacks %s: it is too old",
                        symbols[i].name);
    memcpy((char *)api + symbols[i].offset, &address, sizeof address);
  }
  return KILN_SUCCESS;
}

kiln_status kiln_open_library(kiln_driver driver, const char *const *names,
                              const kiln_symbol *symbols, size_t num_symbols, void *api,
                              void **handle) {
  char tried[KILN_ERROR_CAPACITY / 2];
  kiln_status status;
  kiln_lock(&mutex);
  *handle = open_first(names, libraries[driver].path, tried, sizeof tried);
  if (!*handle) {
    status = kiln_error(KILN_ERROR_NO_DRIVER, "the %s driver library cannot be opened: %s",
                        driver == KILN_DRIVER_CUDA ? "cuda" : "hip", tried);
  } else {
    status = resolve(*handle, symbols, num_symbols, api);
    if (status != KILN_SUCCESS)
      kiln_os_close_library(*handle);
  }
  libraries[driver].open = status == KILN_SUCCESS;
  kiln_unlock(&mutex);
  return status;
}

void kiln_close_library(kiln_driver driver, void *handle) {
  kiln_lock(&mutex);
  libraries[driver].open = false;
  kiln_unlock(&mutex);
  if (driver != KILN_DRIVER_HIP)
    kiln_os_close_library(handle);
}
