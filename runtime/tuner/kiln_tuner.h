/*
 * Kiln's tuner: times the variants of a generated library on the device at hand.
 *
 * `kiln tune SPEC -o FOLDER` writes LIBRARY_tuner.c beside the library: tables of the calls to
 * time, in the records below, and a main() that hands them to kiln_tuner_main(). Link it with the
 * library, the runtime and the files of this folder. docs/tuning.md describes the program.
 *
 * How it works. The parent process keeps the file of results and never touches a driver. It forks a
 * worker that does the work and says through a pipe what it is about to run; a worker that crashes,
 * or is silent for longer than the limit, is the fault of that variant: it is noted as failed and
 * another worker goes on without it. After each call the file is replaced as a whole, so that it is
 * good whenever the tuner is killed, and the next start goes on behind it.
 */
#ifndef KILN_RUNTIME_TUNER_KILN_TUNER_H
#define KILN_RUNTIME_TUNER_KILN_TUNER_H

#include "kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The types of element_types.def, in its order. */
typedef enum kiln_tuner_element {
#define KILN_ELEMENT_TYPE(NAME, ...) KILN_TUNER_##NAME,
#include "element_types.def"
  KILN_TUNER_ELEMENTS
} kiln_tuner_element;

typedef struct kiln_tuner_argument {
  const char *name;
  uint16_t element; /* kiln_tuner_element: of a scalar, or of an array's elements */
  uint8_t is_array;
  uint8_t is_const; /* an array that the kernel does not write */
} kiln_tuner_argument;

/* What an argument is in a call. */
typedef struct kiln_tuner_value {
  int64_t integer; /* an integer's value; how many elements an array has */
  double real;     /* a float's value */
  /* An array's elements: low + i * step, or where step is 0 random, from low to below high. */
  int64_t low, high, step;
} kiln_tuner_value;

/* The same when it is passed. */
typedef struct kiln_tuner_actual {
  void *address;
  int64_t integer;
  double real;
} kiln_tuner_actual;

typedef struct kiln_tuner_entry {
  const kiln_entry *entry;
  /* Of each variant a name for the file; of each of the entry's targets too. As JSON has them
   * between its quotes. */
  const char *const *variants;
  const char *const *targets;
  /* num_variants rows of num_targets: what tells the code from other code, "" where there is none.
   */
  const char *const *code;
  const kiln_tuner_argument *arguments;
  /* num_calls rows of num_arguments. */
  const kiln_tuner_value *values;
  uint32_t num_arguments;
  uint32_t num_calls;
  /* How far results of two variants may differ, as a share of the largest; below 0: by their type.
   */
  double tolerance;
  kiln_status (*run)(uint32_t variant, kiln_stream stream, const kiln_tuner_actual *arguments);
  /* The variant that the library takes by itself, without measurements. */
  kiln_status (*choose)(kiln_stream stream, const kiln_tuner_actual *arguments, uint32_t *variant);
} kiln_tuner_entry;

typedef struct kiln_tuner_library {
  const char *name;
  const char *version; /* Kiln's */
  uint32_t num_entries;
  const kiln_tuner_entry *entries;
} kiln_tuner_library;

/* The whole program. Its exit status: 0 all calls are measured, 1 not all, 2 a mistake on the
 * command line. */
int kiln_tuner_main(const kiln_tuner_library *library, int argc, char **argv);

/* For generated code: the bits of `value` in a small float's format; a tensor of its parts (base,
 * shape, strides but the last). */
uint16_t kiln_tuner_bits(kiln_tuner_element element, double value);
kiln_tensor kiln_tuner_tensor(const kiln_tuner_actual *parts, uint32_t rank);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RUNTIME_TUNER_KILN_TUNER_H */
