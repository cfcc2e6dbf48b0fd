/*
 * The header under -std=c99 -pedantic -Werror, used as generated code uses it: static records, an
 * entry point that dispatches on an argument, a host kernel.
 */
#include "runtime/kiln.h"

#include <stdio.h>

static void add_kernel(void *const *params, const uint32_t program_id[3],
                       const uint32_t num_programs[3], void *arena) {
  const float *x = *(const float *const *)params[0];
  float *y = *(float *const *)params[1];
  int32_t n = *(const int32_t *)params[2];
  int32_t i = (int32_t)program_id[0] * 16, end = i + 16 < n ? i + 16 : n;
  (void)num_programs, (void)arena;
  for (; i < end; ++i)
    y[i] += x[i];
}

extern const kiln_entry add_entry;
extern const kiln_library c99_library;

static const kiln_param add_params[] = {
    {"x", KILN_PARAM_POINTER, 8, 0},
    {"y", KILN_PARAM_POINTER, 8, 8},
    {"n", KILN_PARAM_I32, 4, 16},
};
static const kiln_variant add_variants[] = {{"BLOCK=16", add_params, 3, 0, "0123456789ab"}};
static const kiln_target add_targets[] = {
    {KILN_DRIVER_CPU, KILN_FORM_HOST, "x86-64", NULL},
    {KILN_DRIVER_CPU, KILN_FORM_HOST, "aarch64", NULL},
};
static const kiln_binary add_binaries[] = {
    {NULL, 0, 0, 0, 0, "add_kernel", add_kernel, 0, 0, {0, 0, 0}, 0, 0, 0, NULL, NULL},
    {NULL, 0, 0, 0, 0, "add_kernel", add_kernel, 0, 0, {0, 0, 0}, 0, 0, 0, NULL, NULL},
};
static kiln_entry_state add_state;
const kiln_entry add_entry = {
    &c99_library, "add", add_variants, add_targets, add_binaries, &add_state, 1, 2, NULL, NULL,
    NULL,         0};
static const kiln_entry *const c99_entries[] = {&add_entry};
const kiln_library c99_library = {KILN_ABI_VERSION, 1, "c99", c99_entries, NULL, NULL, 0};

static kiln_status add(kiln_stream stream, const float *x, float *y, int32_t n) {
  kiln_call call;
  kiln_status status = kiln_begin(&add_entry, stream, &call);
  int64_t grid[3];
  void *params[3];
  if (status != KILN_SUCCESS)
    return status;
  if (n % 2 != 0) {
    const kiln_argument_value value = {"n", KILN_PARAM_I32, n};
    return kiln_miss(&call, 0, 1, "n % 2 == 0", &value, 1);
  }
  grid[0] = ((int64_t)n + 15) / 16;
  grid[1] = grid[2] = 1;
  params[0] = (void *)&x;
  params[1] = (void *)&y;
  params[2] = &n;
  return kiln_run(&call, 0, grid, params);
}

static int check(int condition, const char *what) {
  if (!condition)
    fprintf(stderr, "failed: %s: %s\n", what, kiln_last_error());
  return !condition;
}

int main(void) {
  float x[1000], y[1000];
  int failures = 0, wrong = 0, i;
  uint32_t variant = 1;
  for (i = 0; i < 1000; ++i) {
    x[i] = (float)i;
    y[i] = 1.0f;
  }
  failures += check(kiln_abi_version() == KILN_ABI_VERSION, "version");
  failures += check(kiln_prepare(&add_entry, kiln_cpu_device()) == KILN_SUCCESS, "prepare");
  failures += check(add(kiln_cpu_stream(NULL), x, y, 998) == KILN_SUCCESS, "launch");
  for (i = 0; i < 1000; ++i)
    wrong += y[i] != (i < 998 ? 1.0f + (float)i : 1.0f);
  failures += check(wrong == 0, "result");
  failures += check(add(kiln_cpu_stream(NULL), x, y, 7) == KILN_ERROR_NO_VARIANT, "miss");
  failures += check(add(kiln_cpu_stream(NULL), x, y, 0) == KILN_SUCCESS, "empty grid");
  failures += check(kiln_miss_count(&add_entry) == 1, "miss count");
  failures +=
      check(kiln_find_variant(&add_entry, "0123456789ab", &variant) == KILN_SUCCESS && variant == 0,
            "lookup by name");
  failures += check(kiln_unload(&c99_library) == KILN_SUCCESS, "unload");
  return failures != 0;
}
