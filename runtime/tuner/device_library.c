/* Opening a GPU's driver. */
#include "tuner/device_library.h"

#include <dlfcn.h>
#include <stdio.h>

static char message[512];

const char *kiln_tuner_driver_error(const char *what, const char *text, int result) {
  snprintf(message, sizeof message, "%s: %s (%d)", what, text ? text : "unknown", result);
  return message;
}

const char *kiln_tuner_open_library(kiln_driver driver, const char *path, const char *const *names,
                                    const kiln_tuner_symbol *symbols) {
  void *library = NULL;
  if (path && kiln_set_driver_path(driver, path) != KILN_SUCCESS)
    return kiln_last_error();
  if (path)
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  for (; !path && !library && *names; ++names)
    library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(message, sizeof message, "there is no driver here: %s", dlerror());
    return message;
  }
  for (; symbols->name; ++symbols) {
    *symbols->function = dlsym(library, symbols->name);
    if (!*symbols->function) {
      snprintf(message, sizeof message, "the driver lacks %s", symbols->name);
      return message;
    }
  }
  return NULL;
}
