/*
 * An entry as it stands in one place: the target chosen there and its loaded kernels.
 *
 * The entry's state holds a list of bindings, newest first. A binding is published whole and never
 * changes but for its kernel pointers, each of which goes once from null to a loaded kernel. So
 * readers need two acquire loads and a walk that is as long as the number of places in use; writers
 * hold a lock.
 */
#ifndef KILN_RUNTIME_BINDING_H
#define KILN_RUNTIME_BINDING_H

#include "runtime/driver.h"

#pragma GCC visibility push(hidden)

typedef struct kiln_binding {
  struct kiln_binding *next;
  const kiln_driver_table *driver;
  const kiln_place *place;
  uint32_t target;
  kiln_divisor waves;           /* kiln_call.waves, unless streams have their own processors */
  uint64_t *choices;            /* those of choice_cache.h */
  const kiln_kernel *kernels[]; /* by variant; null: not loaded */
} kiln_binding;

/* KILN_ERROR_ABI unless `library` was generated for this runtime's records. */
kiln_status kiln_check_abi(const kiln_library *library);

/* Hot: whether `entry` may be read. */
static inline bool kiln_is_entry(const kiln_entry *entry) {
  return entry && entry->library && entry->library->abi_version == KILN_ABI_VERSION;
}
/* KILN_ERROR_INVALID_ARGUMENT or _ABI unless it may be. */
kiln_status kiln_check_entry(const kiln_entry *entry);

/* Hot: the binding if it is there, else null. */
static inline const kiln_binding *kiln_find_binding(const kiln_entry *entry,
                                                    const kiln_place *place) {
  const kiln_binding *binding = (const kiln_binding *)kiln_load_acquire(&entry->state->bindings);
  while (binding && binding->place != place)
    binding = binding->next;
  return binding;
}

/* Finds or makes the binding: chooses the target. KILN_ERROR_NO_BINARY, _OUT_OF_MEMORY. */
kiln_status kiln_bind(const kiln_entry *entry, const kiln_place *place,
                      const kiln_binding **binding);

/* Not for a variant that a target lacks. */
static inline bool kiln_binary_exists(const kiln_binary *binary) {
  return binary->data || binary->frame || binary->host;
}

/* Whether the variant has a binary for the binding's target. */
bool kiln_variant_exists(const kiln_entry *entry, const kiln_binding *binding, uint32_t variant);

/* Finds or loads the kernel. `stream` is asked whether it captures before a load; null: not asked.
 */
kiln_status kiln_load_kernel(const kiln_entry *entry, const kiln_binding *binding, uint32_t variant,
                             const kiln_stream *stream, const kiln_kernel **kernel);

/* Unloads and frees everything of the entry's state. The first failure is returned. */
kiln_status kiln_release_entry(const kiln_entry *entry);
/* The same for every entry that has a binding. */
kiln_status kiln_release_all_entries(void);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_BINDING_H */
