/* What generated functions say when they launch nothing: which argument is to blame, and why. */
#include "runtime/binding.h"

#include <inttypes.h>
#include <stdio.h>

enum { VALUES_CAPACITY = KILN_ERROR_CAPACITY / 2 };

static int print_value(char *out, size_t capacity, const kiln_argument_value *value) {
  if (value->kind == KILN_PARAM_POINTER)
    return snprintf(out, capacity, "%s is 0x%" PRIx64, value->name, (uint64_t)value->value);
  if (value->kind == KILN_PARAM_U64)
    return snprintf(out, capacity, "%s is %" PRIu64, value->name, (uint64_t)value->value);
  return snprintf(out, capacity, "%s is %" PRId64, value->name, value->value);
}

/* "n is 5, m is 7 and k is 9"; what does not fit is cut off. */
static void print_values(char out[VALUES_CAPACITY], const kiln_argument_value *values,
                         uint32_t num_values) {
  size_t length = 0;
  out[0] = 0;
  for (uint32_t i = 0; i < num_values && length < VALUES_CAPACITY; ++i) {
    const char *separator = i == 0 ? "" : i + 1 == num_values ? " and " : ", ";
    length += (size_t)snprintf(out + length, VALUES_CAPACITY - length, "%s", separator);
    if (length < VALUES_CAPACITY)
      length += (size_t)print_value(out + length, VALUES_CAPACITY - length, &values[i]);
  }
}

kiln_status kiln_miss(const kiln_call *call, uint32_t nearest, uint32_t num_lacking,
                      const char *condition, const kiln_argument_value *values,
                      uint32_t num_values) {
  if (!call || !call->binding)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "the call was not begun");
  const kiln_entry *entry = call->entry;
  __atomic_fetch_add(&entry->state->misses, 1, __ATOMIC_RELAXED);
  const kiln_binding *binding = call->binding;
  const char *driver = binding->driver->name, *arch = entry->targets[binding->target].arch;
  if (nearest >= entry->num_variants)
    return kiln_error(KILN_ERROR_NO_VARIANT, "%s: no variant matches on %s:%s", entry->name, driver,
                      arch);
  char given[VALUES_CAPACITY], more[64] = "";
  print_values(given, values, num_values);
  if (num_lacking > 1)
    snprintf(more, sizeof more, "; it lacks %" PRIu32 " conditions in all", num_lacking);
  return kiln_error(KILN_ERROR_NO_VARIANT,
                    "%s: no variant matches on %s:%s: the nearest, %u (%s), needs %s%s%s%s",
                    entry->name, driver, arch, nearest, entry->variants[nearest].name,
                    condition ? condition : "other arguments", num_values ? ", but " : "", given,
                    more);
}

kiln_status kiln_refuse_value(const kiln_entry *entry, const kiln_argument_value *value,
                              const char *expected) {
  char given[VALUES_CAPACITY];
  print_value(given, sizeof given, value);
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: %s, expected %s", entry->name, given,
                    expected);
}

kiln_status kiln_refuse_size(const kiln_entry *entry, const char *name, int64_t value) {
  return kiln_error(KILN_ERROR_GRID, "%s: %s is %" PRId64 ", expected a size of at least 0",
                    entry->name, name, value);
}

kiln_status kiln_refuse_grid(const kiln_entry *entry, uint32_t dimension, const char *expression,
                             const kiln_argument_value *values, uint32_t num_values) {
  char given[VALUES_CAPACITY];
  print_values(given, values, num_values);
  return kiln_error(KILN_ERROR_GRID,
                    "%s: dimension %" PRIu32
                    " of the grid, %s, divides by zero or leaves the range of 64 bits%s%s",
                    entry->name, dimension, expression, num_values ? ": " : "", given);
}

kiln_status kiln_check_array(const kiln_entry *entry, const char *name, const void *array,
                             uint32_t element_bytes) {
  if (!array)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: %s is null, expected an array", entry->name,
                      name);
  if ((uintptr_t)array % element_bytes != 0)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "%s: %s is 0x%" PRIxPTR ", expected a multiple of %" PRIu32
                      ": its elements have %" PRIu32 " bytes",
                      entry->name, name, (uintptr_t)array, element_bytes, element_bytes);
  return KILN_SUCCESS;
}
