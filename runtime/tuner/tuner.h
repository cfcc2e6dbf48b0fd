/* What the process that keeps the results knows, and the lines of its file. */
#ifndef KILN_RUNTIME_TUNER_TUNER_H
#define KILN_RUNTIME_TUNER_TUNER_H

#include "tuner/options.h"
#include "tuner/results.h"

#include <sys/types.h>

enum { NO_VARIANT = -1 };

typedef struct tuner {
  const kiln_tuner_library *library;
  kiln_tuner_options options;
  kiln_tuner_results results;
  kiln_tuner_job *jobs; /* what is still to do */
  uint32_t num_jobs, next_job, num_skipped;
  uint32_t *targets; /* of each entry: the row that runs */
  char device[256], driver[128];
  unsigned processors;
  double start;

  /* The job in work: of each variant a time, or why there is none. */
  double *times;
  char **failures;
  bool *left_out;
  unsigned char **strikes;
  int running, model; /* variants, or NO_VARIANT: what runs, what the library takes by itself */

  /* Over all jobs: the logarithms of how many times slower than the fastest the model's choices
   * are, and the largest. */
  double model_losses, worst_model;
  uint32_t num_model;

  pid_t worker;
  bool is_fatal, has_reported; /* the latter: of this worker something was heard that counts */
  char line[4096];             /* what has come of the worker's next line */
  size_t length;
} tuner;

/* Of the job in work. */
const kiln_tuner_job *kiln_tuner_current(const tuner *tuner);
const kiln_tuner_entry *kiln_tuner_entry_of(const tuner *tuner, const kiln_tuner_job *job);

/* The integers of a call: {"M": 16, "N": 64}, or for people M=16 N=64. */
void kiln_tuner_add_shape(kiln_tuner_text *text, const tuner *tuner, const kiln_tuner_job *job,
                          bool is_json);
/* What the line of a job begins with, up to its times. */
void kiln_tuner_add_beginning(kiln_tuner_text *text, const tuner *tuner, const kiln_tuner_job *job);
/* The line of the job in work, behind those that there are. */
void kiln_tuner_add_line(tuner *tuner);
/* All before the first line; the device is known. */
void kiln_tuner_write_header(tuner *tuner);

#endif /* KILN_RUNTIME_TUNER_TUNER_H */
