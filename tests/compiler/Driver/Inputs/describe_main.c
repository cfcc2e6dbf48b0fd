/* Prints what the library says of itself. */
#include "softmax.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  size_t size;
  if (kiln_describe(&softmax_library, NULL, 0, &size) != KILN_SUCCESS)
    return 1;
  char *text = malloc(size);
  if (kiln_describe(&softmax_library, text, size, NULL) != KILN_SUCCESS)
    return 1;
  puts(text);
  free(text);
  return 0;
}
