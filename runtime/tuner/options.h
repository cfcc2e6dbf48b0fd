/* The command line of a tuner. */
#ifndef KILN_RUNTIME_TUNER_OPTIONS_H
#define KILN_RUNTIME_TUNER_OPTIONS_H

#include "tuner/worker.h"

typedef struct kiln_tuner_options {
  const char *output;
  const char *entry; /* null: all */
  kiln_tuner_work work;
  unsigned limit; /* seconds that a launch may take */
  bool restart, list;
} kiln_tuner_options;

/* Fills the options. False where the program ends with *status: after --help, or a mistake. */
bool kiln_tuner_read_options(const kiln_tuner_library *library, int argc, char **argv,
                             kiln_tuner_options *options, int *status);

#endif /* KILN_RUNTIME_TUNER_OPTIONS_H */
