/* Calls with each n of the command line, counted; what was seen goes to seen.json. */
#include "tune.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  static float x[1 << 20], out[1 << 20];
  kiln_status status = kiln_count_shapes(&tune_library, 1);
  for (int i = 1; i < argc && status == KILN_SUCCESS; ++i)
    if (smooth(kiln_cpu_stream(NULL), x, out, atoi(argv[i]), 0.5f) != KILN_SUCCESS)
      puts(kiln_last_error());
  if (status == KILN_SUCCESS)
    status = kiln_dump_shapes(&tune_library, "seen.json");
  if (status != KILN_SUCCESS)
    puts(kiln_last_error());
  return status;
}
