/* hosts.test: strict C11, which adds on the CPU, and asks for a GPU that is not there. */
#include "vector_add.h"

#include <stdio.h>

int main(void) {
  static float x[1000], y[1000], out[1000];
  for (int i = 0; i < 1000; ++i) {
    x[i] = (float)i;
    y[i] = 1.0f;
  }
  kiln_status status = vector_add_f32(kiln_cpu_stream(NULL), x, y, out, 1000);
  for (int i = 0; i < 1000 && status == KILN_SUCCESS; ++i)
    if (out[i] != (float)i + 1.0f)
      return 1;
  if (status == KILN_SUCCESS)
    status = kiln_shutdown();
  if (status != KILN_SUCCESS)
    fprintf(stderr, "%s\n", kiln_last_error());
  return status != KILN_SUCCESS;
}
