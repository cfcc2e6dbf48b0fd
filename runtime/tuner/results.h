/*
 * The tuner's file: a run's device and code, and a line for each measured call. It is replaced as a
 * whole after each call, by renaming, so that it is never half written.
 */
#ifndef KILN_RUNTIME_TUNER_RESULTS_H
#define KILN_RUNTIME_TUNER_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

/* Text that grows. */
typedef struct kiln_tuner_text {
  char *bytes;
  size_t length, capacity;
} kiln_tuner_text;

/* As printf, at the end. Ends the process where memory does. */
void kiln_tuner_add(kiln_tuner_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes. */
void kiln_tuner_add_string(kiln_tuner_text *text, const char *string);

typedef struct kiln_tuner_results {
  const char *path;
  kiln_tuner_text header; /* all before the first measurement */
  kiln_tuner_text lines;  /* measurements, each ended by a newline */
} kiln_tuner_results;

/* Takes over the measurements that the file at `path` has, if there is one with the same header.
 * Otherwise null is not returned but what is wrong, which holds until the next call. */
const char *kiln_tuner_resume(kiln_tuner_results *results);

/* Whether a measurement begins with `beginning`. */
bool kiln_tuner_has(const kiln_tuner_results *results, const char *beginning);

/* Replaces the file; what went wrong, or null. */
const char *kiln_tuner_save(const kiln_tuner_results *results);

#endif /* KILN_RUNTIME_TUNER_RESULTS_H */
