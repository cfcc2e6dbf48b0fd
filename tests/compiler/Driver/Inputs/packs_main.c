/* packs.test: launches a kernel of the library "good" on the first GPU of HIP, whose driver is
 * FakeHip.c, after it has named the pack of its argument. With PLUGIN that is what the shared
 * library exports, and with HOST a program that opens it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef HOST
int main(int count, char **arguments) {
  int (*run)(const char *);
  void *plugin = dlopen(arguments[1], RTLD_NOW), *address = plugin ? dlsym(plugin, "run") : NULL;
  if (count != 2 || !address)
    return 2;
  memcpy(&run, &address, sizeof run);
  return run(NULL);
}
#else
#include "good.h"

static void *allocate(void) {
  int (*hip_malloc)(void **, size_t);
  void *memory = NULL, *driver = dlopen("libamdhip64.so.6", RTLD_NOW);
  void *address = driver ? dlsym(driver, "hipMalloc") : NULL;
  memcpy(&hip_malloc, &address, sizeof address);
  return address && hip_malloc(&memory, 256 * sizeof(float)) == 0 ? memory : NULL;
}

int run(const char *pack) {
  float *x = allocate();
  if (!x)
    return 2;
  x[255] = 21;
  kiln_status status = pack ? good_load_pack(pack) : KILN_SUCCESS;
  if (status == KILN_SUCCESS)
    status = scale(kiln_hip_stream(NULL), 2, 1, 1, x, x, 256, 2.0f);
  if (status == KILN_SUCCESS && x[255] == 42)
    puts("launched");
  else
    fprintf(stderr, "%s: %s\n", kiln_status_string(status), kiln_last_error());
  return status != KILN_SUCCESS;
}

#ifndef PLUGIN
int main(int count, char **arguments) { return run(count > 1 ? arguments[1] : NULL); }
#endif
#endif
