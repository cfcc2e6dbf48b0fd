// Calls with values that were not declared; a variant by its lasting name, which -DWIDE gives.
#include "dispatch.h"
#include <stdio.h>

int main(void) {
  static float out[2000];
  kiln_stream stream = kiln_cpu_stream(NULL);
  uint32_t wide = 7;
  float chosen;
  if (fill(stream, out, 1025, 1) == KILN_ERROR_INVALID_ARGUMENT)
    puts(kiln_last_error());
  if (fill(stream, out, 8, 0) == KILN_ERROR_INVALID_ARGUMENT)
    puts(kiln_last_error());
  if (fill(stream, out, 8, 1) != KILN_SUCCESS)
    return 1;
  chosen = out[7];
  if (kiln_find_variant(&fill_entry, WIDE, &wide) != KILN_SUCCESS ||
      fill_variant(wide, stream, out, 110, 2) != KILN_SUCCESS)
    return 2;
  printf("%g %g\n", chosen, out[219]);
  if (kiln_find_variant(&fill_entry, "wide", &wide) == KILN_ERROR_INVALID_ARGUMENT)
    puts(kiln_last_error());
  return 0;
}
