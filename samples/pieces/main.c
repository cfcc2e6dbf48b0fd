/* Computes 3 * x + 1 on the CPU, by two kernels, and checks it. */
#include "ops.h"

#include <stdio.h>

int main(void) {
  float x[1000];
  for (int i = 0; i < 1000; ++i)
    x[i] = (float)i;
  kiln_stream cpu = kiln_cpu_stream(NULL);
  if (scale_f32(cpu, x, 1000, 3.0f) != KILN_SUCCESS ||
      shift_f32(cpu, x, 1000, 1.0f) != KILN_SUCCESS) {
    fprintf(stderr, "%s\n", kiln_last_error());
    return 1;
  }
  for (int i = 0; i < 1000; ++i)
    if (x[i] != 3.0f * (float)i + 1.0f) {
      fprintf(stderr, "x[%d] is %g\n", i, x[i]);
      return 1;
    }
  return 0;
}
