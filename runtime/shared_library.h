/*
 * Opening a vendor's driver library at run time, so that a program with Kiln's kernels starts on
 * hosts that have no driver (nothing links libcuda or libamdhip64).
 */
#ifndef KILN_RUNTIME_SHARED_LIBRARY_H
#define KILN_RUNTIME_SHARED_LIBRARY_H

#include "runtime/error.h"
#include "runtime/kiln.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* One row of a driver's symbol table (*_symbols.def). */
typedef struct kiln_symbol {
  const char *name;
  size_t offset; /* of the function pointer in the driver's API struct */
  bool required;
} kiln_symbol;

/* Opens the path set for `driver`, else the first of `names` (null-terminated) that opens, and
 * fills the function pointers of `api`; those of absent optional symbols become null. Errors:
 * KILN_ERROR_NO_DRIVER, KILN_ERROR_MISSING_SYMBOL. */
kiln_status kiln_open_library(kiln_driver driver, const char *const *names,
                              const kiln_symbol *symbols, size_t num_symbols, void *api,
                              void **handle);

/* NVIDIA's driver stays mapped all the same (580.159 on an H100 does), with its thread. HIP's is
 * left open: its threads must not lose their code. */
void kiln_close_library(kiln_driver driver, void *handle);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_SHARED_LIBRARY_H */
