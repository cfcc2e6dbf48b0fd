/* kiln_kernel_library gives a header, code and images that a C99 program links. */
#include "rule_library.h"
#include <stdio.h>
#include <string.h>

int main(void) {
  const kiln_variant *variants = NULL;
  if (axpy_variants(&variants) != 4 || strncmp(variants[0].name, "BLOCK=256", 9) != 0)
    return 1;
  if (rule_library_abi_version() != KILN_ABI_VERSION)
    return 2;
  /* There is no CPU binary in this library: a status, no crash. */
  if (no_arguments(kiln_cpu_stream(NULL)) != KILN_ERROR_NO_BINARY)
    return 3;
  printf("%s\n", kiln_last_error());
  return 0;
}
