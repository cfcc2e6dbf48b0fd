/*
 * What kernels say while they run on the CPU or an emulated GPU.
 *
 * Values come as words, not as variable arguments: generated code then needs no calling convention
 * but C's simplest, and each conversion says how its word is to be read.
 */
#include "runtime/error.h"
#include "runtime/kiln.h"
#include "runtime/mutex.h"

#include <stdio.h>
#include <string.h>

enum { LINE_CAPACITY = 1024, CONVERSION_CAPACITY = 32 };

static kiln_mutex mutex;
static kiln_print_function print_function;
static void *print_user;

kiln_status kiln_set_print_function(kiln_print_function function, void *user) {
  kiln_lock(&mutex);
  print_function = function;
  print_user = user;
  kiln_unlock(&mutex);
  return KILN_SUCCESS;
}

/* Writes `word` as the conversion `spec` ("%5i", "%016llx") says. */
static int write_value(char *to, size_t capacity, const char *spec, size_t length, uint64_t word) {
  switch (spec[length - 1]) {
  case 'f': {
    double value;
    memcpy(&value, &word, sizeof value);
    return snprintf(to, capacity, spec, value);
  }
  case 'p':
    return snprintf(to, capacity, spec, (void *)(uintptr_t)word);
  default:
    return length > 3 && spec[length - 2] == 'l'
               ? snprintf(to, capacity, spec, (unsigned long long)word)
               : snprintf(to, capacity, spec, (unsigned)word);
  }
}

void kiln_device_print(const char *format, const uint64_t *values) {
  char line[LINE_CAPACITY];
  size_t used = 0;
  while (*format && used + 1 < sizeof line) {
    if (format[0] != '%' || format[1] == '%') {
      line[used++] = *format;
      format += format[0] == '%' ? 2 : 1;
      continue;
    }
    size_t length = 1 + strspn(format + 1, "0123456789l") + 1;
    char spec[CONVERSION_CAPACITY];
    if (length >= sizeof spec)
      break;
    memcpy(spec, format, length);
    spec[length] = 0;
    int written = write_value(line + used, sizeof line - used, spec, length, *values++);
    if (written > 0)
      used += (size_t)written < sizeof line - used ? (size_t)written : sizeof line - used - 1;
    format += length;
  }
  kiln_lock(&mutex);
  if (print_function)
    print_function(print_user, line, used);
  else
    fwrite(line, 1, used, stdout);
  kiln_unlock(&mutex);
}
