/*
 * The message behind kiln_last_error(): a buffer per thread, written only on failures, so that the
 * hot path touches neither heap nor strings.
 */
#ifndef KILN_RUNTIME_ERROR_H
#define KILN_RUNTIME_ERROR_H

#include "runtime/kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { KILN_ERROR_CAPACITY = 1024 };

/* Writes the message (cut to the buffer) and returns `status`, so that a failure is one statement.
 */
kiln_status kiln_error(kiln_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "<format>: " before the message that is there; for callers that know more of the context. */
kiln_status kiln_error_within(kiln_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif /* KILN_RUNTIME_ERROR_H */
