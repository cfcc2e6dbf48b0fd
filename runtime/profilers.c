/*
 * Each launch as a range of NVIDIA's or AMD's profilers, without linking either.
 *
 * NVTX version 3 has no library: who writes ranges is to find the profiler's, hands it a table of
 * function pointers, and calls those that it has filled in (NVTX's nvtxInit.h and nvtxTypes.h). Up
 * to CUDA 12 there is libnvToolsExt as well. roctx is a library. What was opened stays open:
 * profilers keep pointers into themselves, and into the table.
 */
#include "runtime/error.h"
#include "runtime/mutex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_CAPACITY = 256 };

typedef int (*push_function)(const char *label);
typedef int (*pop_function)(void);

typedef struct range_functions {
  push_function push;
  pop_function pop;
} range_functions;

static kiln_mutex mutex;
static range_functions known[KILN_PROFILER_ROCTX + 1];

/* --- what NVTX gives to a profiler --- */

enum {
  NVTX_CALLBACKS_TABLE = 1,
  NVTX_VERSION_TABLE = 3,
  NVTX_CORE_MODULE = 1,
  NVTX_NUM_MODULES = 7, /* with the invalid one, 0 */
  NVTX_MAX_FUNCTIONS = 16,
  NVTX_RANGE_PUSH_A = 9,
  NVTX_RANGE_POP = 11
};

/* The functions of each module, the invalid one in front. */
static const unsigned nvtx_num_functions[NVTX_NUM_MODULES] = {0, 16, 9, 15, 7, 16, 7};
/* What the profiler writes, and pointers to it. */
static kiln_os_function nvtx_functions[NVTX_NUM_MODULES][NVTX_MAX_FUNCTIONS];
static kiln_os_function *nvtx_tables[NVTX_NUM_MODULES][NVTX_MAX_FUNCTIONS + 1];

static int get_module_table(int module, kiln_os_function ***table, unsigned *size) {
  if (module <= 0 || module >= NVTX_NUM_MODULES)
    return 0;
  for (unsigned i = 1; i < nvtx_num_functions[module]; ++i)
    nvtx_tables[module][i] = &nvtx_functions[module][i];
  if (table)
    *table = nvtx_tables[module];
  if (size)
    *size = nvtx_num_functions[module];
  return 1;
}

static void take_injection_version(uint32_t version) { (void)version; }

static const void *get_export_table(uint32_t id) {
  static const struct {
    size_t size;
    int (*get_module_table)(int, kiln_os_function ***, unsigned *);
  } callbacks = {sizeof callbacks, get_module_table};
  static const struct {
    size_t size;
    uint32_t version, reserved;
    void (*take_injection_version)(uint32_t);
  } version = {sizeof version, 3, 0, take_injection_version};
  return id == NVTX_CALLBACKS_TABLE ? (const void *)&callbacks
         : id == NVTX_VERSION_TABLE ? (const void *)&version
                                    : NULL;
}

/* A profiler that runs this program says where its library is. */
static void find_nvtx_injection(range_functions *found) {
  static const char name[] = "InitializeInjectionNvtx2";
  typedef int (*initialize_function)(const void *(*)(uint32_t));
  kiln_os_function initialize = kiln_os_find_function(NULL, name);
  const char *path = getenv("NVTX_INJECTION64_PATH");
  void *library = !initialize && path ? kiln_os_open_library(path, false) : NULL;
  if (library)
    initialize = kiln_os_find_function(library, name);
  if (!initialize || !((initialize_function)initialize)(get_export_table))
    return;
  found->push = (push_function)nvtx_functions[NVTX_CORE_MODULE][NVTX_RANGE_PUSH_A];
  found->pop = (pop_function)nvtx_functions[NVTX_CORE_MODULE][NVTX_RANGE_POP];
}

/* --- libraries with functions of their own --- */

static void find_in_libraries(const char *const *libraries, const char *push, const char *pop,
                              range_functions *found) {
  for (; *libraries && !(found->push && found->pop); ++libraries) {
    void *library = kiln_os_open_library(*libraries, false);
    if (!library)
      continue;
    found->push = (push_function)kiln_os_find_function(library, push);
    found->pop = (pop_function)kiln_os_find_function(library, pop);
  }
}

/* Under the mutex. */
static bool find_functions(kiln_profiler profiler) {
  static const char *const nvtx_libraries[] = {KILN_OS_NVTX_LIBRARIES, NULL};
  static const char *const roctx_libraries[] = {KILN_OS_ROCTX_LIBRARIES, NULL};
  range_functions *found = &known[profiler];
  if (profiler == KILN_PROFILER_NVTX && !found->push)
    find_nvtx_injection(found);
  if (profiler == KILN_PROFILER_NVTX)
    find_in_libraries(nvtx_libraries, "nvtxRangePushA", "nvtxRangePop", found);
  else
    find_in_libraries(roctx_libraries, "roctxRangePushA", "roctxRangePop", found);
  return found->push && found->pop;
}

/* --- the hook --- */

static void push_range(void *user, kiln_launch_info *launch) {
  char label[LABEL_CAPACITY];
  snprintf(label, sizeof label, "%s %s", launch->name, launch->variant_name);
  ((const range_functions *)user)->push(label);
}

static void pop_range(void *user, kiln_launch_info *launch) {
  (void)launch;
  ((const range_functions *)user)->pop();
}

kiln_status kiln_set_launch_ranges(kiln_profiler profiler) {
  if (profiler == KILN_PROFILER_NONE)
    return kiln_set_launch_hook(NULL, NULL, NULL);
  if (profiler != KILN_PROFILER_NVTX && profiler != KILN_PROFILER_ROCTX)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_set_launch_ranges: there is no profiler %d", (int)profiler);
  kiln_lock(&mutex);
  bool is_found = find_functions(profiler);
  kiln_unlock(&mutex);
  if (!is_found)
    return kiln_error(
        KILN_ERROR_NO_DRIVER, "kiln_set_launch_ranges: %s",
        profiler == KILN_PROFILER_NVTX
            ? "no profiler has set NVTX_INJECTION64_PATH, and libnvToolsExt.so.1 "
              "cannot be opened"
            : "neither librocprofiler-sdk-roctx.so.1 nor libroctx64.so.4 can be opened");
  return kiln_set_launch_hook(push_range, pop_range, &known[profiler]);
}
