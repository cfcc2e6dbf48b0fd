/* A program against an early header, with a library that was linked of pieces. */
#include "rule.h"

#include <stdio.h>

int main(void) {
  enum { COUNT = 300 };
  static _Alignas(16) float x[COUNT];
  static double y[COUNT];
  kiln_stream cpu = kiln_cpu_stream(NULL);
  if (fill(cpu, x, COUNT) != KILN_SUCCESS || twice(cpu, x, COUNT) != KILN_SUCCESS ||
      fill_f64(cpu, y, COUNT) != KILN_SUCCESS) {
    fprintf(stderr, "%s\n", kiln_last_error());
    return 1;
  }
  for (int i = 0; i < COUNT; ++i)
    if (x[i] != 2.0f * (float)i || y[i] != (double)i) {
      fprintf(stderr, "%d: got %g and %g\n", i, x[i], y[i]);
      return 1;
    }
  return 0;
}
