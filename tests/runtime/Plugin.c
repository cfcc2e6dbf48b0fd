/* A plug-in with a runtime inside, as ShutdownTest opens and closes it: one kernel on the CPU. */
#include "runtime/kiln.h"

#define EXPORTED __attribute__((visibility("default")))

/* Adds the arena's first number, which it has just written there. */
static void add_seven(void *const *params, const uint32_t program_id[3],
                      const uint32_t num_programs[3], void *arena) {
  int *out = *(int *const *)params[0];
  (void)num_programs;
  *(int *)arena = 7;
  out[program_id[0]] += *(int *)arena;
}

static const kiln_library library;
static kiln_entry_state state;
static const kiln_param params[] = {{"out", KILN_PARAM_POINTER, 8, 0}};
static const kiln_variant variants[] = {{"v", params, 1, 0, "0123456789ab"}};
static const kiln_target targets[] = {{KILN_DRIVER_CPU, KILN_FORM_HOST,
#if defined(__aarch64__)
                                       "aarch64",
#else
                                       "x86-64",
#endif
                                       0}};
static const kiln_binary binaries[] = {{.host = add_seven, .symbol = "v", .arena_bytes = 1 << 16}};
static const kiln_entry entry = {&library, "add_seven", variants, targets, binaries, &state,
                                 1,        1,           NULL,     NULL,    NULL,     0};
static const kiln_entry *const entries[] = {&entry};
static const kiln_library library = {KILN_ABI_VERSION, 1, "plugin", entries, NULL, NULL, 0};

/* Not by an exported function: where plug-ins see what others export, that could be another's. */
static kiln_status run(const kiln_entry *any, int *out, uint32_t count) {
  const int64_t grid[3] = {count, 1, 1};
  void *arguments[] = {&out};
  return kiln_launch(any, 0, kiln_cpu_stream(0), grid, arguments);
}

EXPORTED const kiln_entry *plugin_entry(void) { return &entry; }

EXPORTED kiln_status plugin_run(int *out, uint32_t count) { return run(&entry, out, count); }

EXPORTED kiln_status plugin_run_entry(const kiln_entry *any, int *out, uint32_t count) {
  return run(any, out, count);
}

EXPORTED uint32_t plugin_abi_version(void) { return kiln_abi_version(); }

EXPORTED const char *plugin_last_error(void) { return kiln_last_error(); }

EXPORTED kiln_status plugin_shutdown(void) { return kiln_shutdown(); }

EXPORTED int plugin_is_loaded(void) { return kiln_is_ready(&entry, kiln_cpu_device()); }
