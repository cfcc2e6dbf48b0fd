/*
 * The process that runs kernels. It says on a pipe, a line each, what it does:
 *
 *   device NAME / driver NAME VERSION / processors N     after the device is open
 *   target ENTRY ROW       the row of the entry's targets that runs
 *   call N                 the call is being prepared
 *   run V                  variant V is about to run
 *   illegal V              it is not for this call, or not for this target
 *   failed V REASON        and no line follows: the device may be unusable
 *   wrong V REASON         its results are not those of most others
 *   model V                the library takes it without measurements
 *   time V MICROSECONDS    in a round of middling speed
 *   done N                 the call is measured
 *   skip N REASON          it cannot be made
 *   fatal REASON           nothing can be
 */
#ifndef KILN_RUNTIME_TUNER_WORKER_H
#define KILN_RUNTIME_TUNER_WORKER_H

#include "tuner/device.h"

#include <stdbool.h>

typedef struct kiln_tuner_job {
  uint32_t entry, call;
} kiln_tuner_job;

/* A variant that has ended so many workers is not run any more: each costs seconds. */
enum { KILN_TUNER_STRIKES = 3 };

typedef struct kiln_tuner_work {
  const kiln_tuner_library *library;
  const kiln_tuner_driver *driver;
  const char *driver_path; /* null: the system's */
  int ordinal;
  uint32_t threads;
  double milliseconds; /* for the samples of one variant */
  bool warm;           /* caches keep what the last launch left there */
  /* For each entry and variant: in how many calls it has ended the worker. */
  unsigned char *const *strikes;
  int pipe;
} kiln_tuner_work;

/* Opens the device and says what it is and which targets run; the exit status. */
int kiln_tuner_probe(const kiln_tuner_work *work);

/* Measures the jobs in turn; variants of the first that `left_out` marks are not run. The exit
 * status: 0 when all is done. */
int kiln_tuner_measure(const kiln_tuner_work *work, const kiln_tuner_job *jobs, uint32_t num_jobs,
                       const bool *left_out);

#endif /* KILN_RUNTIME_TUNER_WORKER_H */
