/*
 * Decision trees that a program takes from a file, in place of those that a library was built with.
 *
 * An entry's state has a list of them, newest first. A table is published whole and never changes,
 * so a launch needs one acquire load; older ones stay for calls that have them, until kiln_unload.
 */
#ifndef KILN_RUNTIME_TUNING_TABLE_H
#define KILN_RUNTIME_TUNING_TABLE_H

#include "runtime/driver.h"

#pragma GCC visibility push(hidden)

typedef struct kiln_tuning_table {
  kiln_tuned_trees trees;
  struct kiln_tuning_table *older;
} kiln_tuning_table;

/* Nothing may be under way that uses them. */
void kiln_free_tuning_tables(kiln_tuning_table *table);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_TUNING_TABLE_H */
