/* Status names and the per-thread message of the last failure. */
#include "runtime/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[KILN_ERROR_CAPACITY];

const char *kiln_last_error(void) { return last_error; }

uint32_t kiln_abi_version(void) { return KILN_ABI_VERSION; }

void kiln_write_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
}

kiln_status kiln_error_within(kiln_status status, const char *format, ...) {
  char inner[KILN_ERROR_CAPACITY];
  memcpy(inner, last_error, sizeof inner);
  va_list arguments;
  va_start(arguments, format);
  int written = vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  if (written < 0 || (size_t)written >= sizeof last_error)
    return status;
  /* What does not fit is cut off. */
  if (snprintf(last_error + written, sizeof last_error - (size_t)written, ": %s", inner) < 0)
    last_error[written] = '\0';
  return status;
}

void kiln_note_error(kiln_first_error *first, kiln_status status) {
  if (first->status != KILN_SUCCESS || status == KILN_SUCCESS)
    return;
  first->status = status;
  memcpy(first->message, last_error, sizeof last_error);
}

kiln_status kiln_first_error_of(const kiln_first_error *first) {
  if (first->status != KILN_SUCCESS)
    memcpy(last_error, first->message, sizeof last_error);
  return first->status;
}

const char *kiln_status_string(kiln_status status) {
  switch (status) {
#define CASE(name)                                                                                 \
  case name:                                                                                       \
    return #name;
    CASE(KILN_SUCCESS)
    CASE(KILN_ERROR_INVALID_ARGUMENT)
    CASE(KILN_ERROR_ABI)
    CASE(KILN_ERROR_OUT_OF_MEMORY)
    CASE(KILN_ERROR_NO_DRIVER)
    CASE(KILN_ERROR_MISSING_SYMBOL)
    CASE(KILN_ERROR_INVALID_DEVICE)
    CASE(KILN_ERROR_NO_BINARY)
    CASE(KILN_ERROR_NO_VARIANT)
    CASE(KILN_ERROR_CAPTURE)
    CASE(KILN_ERROR_LOAD)
    CASE(KILN_ERROR_GRID)
    CASE(KILN_ERROR_LAUNCH)
    CASE(KILN_ERROR_DRIVER)
    CASE(KILN_ERROR_UNSUPPORTED)
    CASE(KILN_ERROR_STATE)
    CASE(KILN_ERROR_MISMATCH)
#undef CASE
  }
  return "unknown kiln_status";
}
