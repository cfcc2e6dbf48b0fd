/* Adds on the CPU and on emulated GPUs of both vendors. */
#include "add.h"

#include <stdio.h>

static int add(kiln_stream stream, const char *where) {
  static float x[1000], y[1000], out[1000];
  for (int i = 0; i < 1000; ++i)
    x[i] = (float)i, y[i] = 1.0f, out[i] = 0.0f;
  if (add_f32(stream, x, y, out, 1000) != KILN_SUCCESS) {
    fprintf(stderr, "%s: %s\n", where, kiln_last_error());
    return 1;
  }
  for (int i = 0; i < 1000; ++i)
    if (out[i] != (float)i + 1.0f) {
      fprintf(stderr, "%s: out[%d] is %g\n", where, i, out[i]);
      return 1;
    }
  return 0;
}

int main(void) {
  int failures = add(kiln_cpu_stream(NULL), "cpu");
  const char *gpus[] = {"sm_90a", "gfx942"};
  for (int i = 0; i < 2; ++i) {
    kiln_emulator *emulator = NULL;
    if (kiln_emulator_create(gpus[i], NULL, &emulator) != KILN_SUCCESS) {
      fprintf(stderr, "%s: %s\n", gpus[i], kiln_last_error());
      return 1;
    }
    failures += add(kiln_emulator_stream(emulator), gpus[i]);
    kiln_emulator_destroy(emulator);
  }
  return failures;
}
