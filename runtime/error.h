/*
 * The message behind kiln_last_error(): a buffer per thread, written only on failures, so that the
 * hot path touches neither heap nor strings.
 */
#ifndef KILN_RUNTIME_ERROR_H
#define KILN_RUNTIME_ERROR_H

#include "runtime/kiln.h"

#include <stdio.h>

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

enum { KILN_ERROR_CAPACITY = 1024 };

/* Writes the message (cut to the buffer) and is `status`, so that a failure is one statement. A
 * macro: readers and static analysers see at the call which status comes out. */
#define kiln_error(status, ...) (kiln_write_error(__VA_ARGS__), (status))

/* MinGW's printf may be C's or Microsoft's; its <stdio.h> says which. */
#ifdef __MINGW_PRINTF_FORMAT
#define KILN_FORMAT __MINGW_PRINTF_FORMAT
#else
#define KILN_FORMAT printf
#endif

void kiln_write_error(const char *format, ...) __attribute__((format(KILN_FORMAT, 1, 2)));

/* Puts "<format>: " before the message that is there and returns `status`; for callers that know
 * more of the context. A function: `status` is often the call that writes the message. */
kiln_status kiln_error_within(kiln_status status, const char *format, ...)
    __attribute__((format(KILN_FORMAT, 2, 3)));

/* The first failure of several steps that are all taken: its message outlives those of later ones.
 */
typedef struct kiln_first_error {
  kiln_status status;
  char message[KILN_ERROR_CAPACITY];
} kiln_first_error;

/* After a step. */
void kiln_note_error(kiln_first_error *first, kiln_status status);
/* Records the first failure's message again and returns its status. */
kiln_status kiln_first_error_of(const kiln_first_error *first);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_ERROR_H */
