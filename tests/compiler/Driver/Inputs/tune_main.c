/* Which variant a library of tune.json takes for each n of the command line; and it runs it. A name
 * with a dot is a table, which is loaded. */
#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  static float x[1 << 20], out[1 << 20];
  for (int i = 1; i < argc; ++i) {
    smooth_plan plan;
    int n = atoi(argv[i]);
    if (strchr(argv[i], '.')) {
      if (kiln_load_tuning(&tune_library, argv[i]) != KILN_SUCCESS)
        printf("%s\n", kiln_last_error());
      continue;
    }
    kiln_status status = smooth_plan_init(&plan, kiln_cpu_stream(NULL), x, out, n, 0.5f);
    if (status == KILN_SUCCESS)
      status = smooth(kiln_cpu_stream(NULL), x, out, n, 0.5f);
    if (status != KILN_SUCCESS) {
      puts(kiln_last_error());
      return 1;
    }
    printf("%s%s", i > 1 ? " " : "", kiln_variant_name(&smooth_entry, plan.variant));
  }
  puts("");
  return 0;
}
