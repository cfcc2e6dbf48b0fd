/*
 * The chosen variant runs as it would without; before it, the arrays are copied, and behind it
 * another variant runs on the copies. What the kernel may have written is then compared on the
 * host.
 *
 * Copies stand at the addresses of the arrays modulo COPY_ALIGNMENT, so that they meet the same
 * promises. Arguments with one address share a copy: a kernel that works in place does so there,
 * too. Generated code knows how many elements an array has and how a variant is launched on others
 * (kiln_comparison).
 */
#include "runtime/differential.h"

#include "runtime/element_values.h"
#include "runtime/hook_users.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARRAYS = 32, COPY_ALIGNMENT = 256 };

/* Of one entry. */
typedef struct differential {
  kiln_differential how;
  uint64_t calls;
  kiln_differential_counts counts;
  struct differential *next; /* of those that are to be freed */
} differential;

static kiln_hook_users users = KILN_HOOK_USERS_INITIALIZER;

/* Of this thread's comparisons, and of what their functions call. */
static _Thread_local unsigned depth;

/* --- memory of a place --- */

typedef struct memory_space {
  const kiln_driver_table *driver;
  const kiln_place *place;
  kiln_stream stream;
} memory_space;

static memory_space space_of(const kiln_call *call) {
  const kiln_binding *binding = call->binding;
  return (memory_space){binding->driver, binding->place, call->stream};
}

static void *allocate(const memory_space *space, uint64_t bytes) {
  void *memory = NULL;
  if (!space->driver->allocate)
    return kiln_os_allocate_aligned(COPY_ALIGNMENT, (size_t)bytes);
  return space->driver->allocate(space->place, space->stream, bytes, &memory) == KILN_SUCCESS
             ? memory
             : NULL;
}

static void release(const memory_space *space, void *memory) {
  if (!memory)
    return;
  if (space->driver->release)
    space->driver->release(space->stream, memory);
  else
    kiln_os_free_aligned(memory);
}

/* In the order of `space`, which has one side; the other is the same or the host's. */
static bool copy(const memory_space *space, void *to, const void *from, uint64_t bytes) {
  if (space->driver->copy)
    return space->driver->copy(space->stream, to, from, bytes) == KILN_SUCCESS;
  memcpy(to, from, (size_t)bytes);
  return true;
}

static bool synchronize(const memory_space *space) {
  return !space->driver->synchronize || space->driver->synchronize(space->stream) == KILN_SUCCESS;
}

/* --- one comparison --- */

typedef struct compared {
  char *address;
  uint64_t elements, bytes;
  uint32_t same_as; /* the first array with this address: itself, mostly */
  char *memory;     /* that the copy is in; null: the copy is another's, or there is nothing */
  char *copy;
} compared;

typedef struct comparison {
  const kiln_comparison *record;
  const void *arguments;
  differential *state;
  kiln_differential how;
  kiln_call call, reference_call;
  memory_space space, reference_space;
  uint32_t variant, reference;
  compared arrays[MAX_ARRAYS];
} comparison;

static bool overlap(const compared *a, const compared *b) {
  return a->bytes && b->bytes && a->address < b->address + b->bytes &&
         b->address < a->address + a->bytes;
}

/* False: the size of an array cannot be told, or two share a part. */
static bool find_arrays(comparison *c) {
  if (c->record->num_arrays > MAX_ARRAYS)
    return false;
  for (uint32_t i = 0; i < c->record->num_arrays; ++i) {
    compared *array = &c->arrays[i];
    int64_t elements = c->record->elements(c->arguments, i);
    uint32_t size = kiln_element_bytes(c->record->arrays[i].kind);
    if (elements < 0 || !size || (uint64_t)elements > (uint64_t)(INT64_MAX / 2) / size)
      return false;
    *array = (compared){.address = c->record->address(c->arguments, i),
                        .elements = (uint64_t)elements,
                        .bytes = (uint64_t)elements * size,
                        .same_as = i};
    if (!array->address)
      array->elements = array->bytes = 0;
    for (uint32_t j = 0; j < i && array->same_as == i; ++j)
      if (array->bytes && c->arrays[j].address == array->address)
        array->same_as = j;
    compared *first = &c->arrays[array->same_as];
    if (first->bytes < array->bytes)
      first->bytes = array->bytes;
  }
  for (uint32_t i = 0; i < c->record->num_arrays; ++i)
    for (uint32_t j = 0; j < i; ++j)
      if (c->arrays[i].same_as == i && c->arrays[j].same_as == j &&
          overlap(&c->arrays[i], &c->arrays[j]))
        return false;
  return true;
}

static bool make_copies(comparison *c) {
  for (uint32_t i = 0; i < c->record->num_arrays; ++i) {
    compared *array = &c->arrays[i];
    if (array->same_as != i) {
      array->copy = c->arrays[array->same_as].copy;
      continue;
    }
    array->copy = array->address;
    if (!array->bytes)
      continue;
    array->memory = allocate(&c->reference_space, array->bytes + COPY_ALIGNMENT);
    if (!array->memory)
      return false;
    array->copy =
        array->memory + ((uintptr_t)array->address - (uintptr_t)array->memory) % COPY_ALIGNMENT;
    if (!copy(&c->space, array->copy, array->address, array->bytes))
      return false;
  }
  /* Copies that another place's code reads have to be there. */
  return c->space.place == c->reference_space.place || synchronize(&c->space);
}

static void release_copies(comparison *c) {
  for (uint32_t i = 0; i < c->record->num_arrays; ++i)
    release(&c->reference_space, c->arrays[i].memory);
}

static uint32_t num_needs(const kiln_entry *entry, uint32_t variant) {
  const kiln_signature *signature = entry->signature;
  uint32_t words = signature ? (signature->num_conditions + 63) / 64 : 0, count = 0;
  for (uint32_t i = 0; i < words; ++i)
    for (uint64_t left = signature->needs[(size_t)variant * words + i]; left; left &= left - 1)
      ++count;
  return count;
}

/* The legal variant that relies on least, of the target of the reference's call; not the chosen one
 * itself. */
static bool find_reference(comparison *c) {
  const kiln_call *call = &c->reference_call;
  const kiln_entry *entry = call->entry;
  uint32_t fewest = UINT32_MAX;
  bool is_same_target = call->binding == c->call.binding;
  for (uint32_t v = 0; v < entry->num_variants; ++v) {
    if (!kiln_variant_exists(entry, call->binding, v) || (is_same_target && v == c->variant) ||
        num_needs(entry, v) >= fewest || !c->record->admits(c->arguments, v))
      continue;
    fewest = num_needs(entry, v);
    c->reference = v;
  }
  /* Beside the variant that itself relies on least there is nothing more generic. */
  return fewest != UINT32_MAX && (!is_same_target || fewest <= num_needs(entry, c->variant));
}

static bool begin(comparison *c) {
  bool is_capturing = false;
  c->space = space_of(&c->call);
  if (c->space.driver->is_capturing &&
      (c->space.driver->is_capturing(c->call.stream, &is_capturing) != KILN_SUCCESS ||
       is_capturing))
    return false;
  c->reference_call = c->call;
  if (c->how.reference == KILN_REFERENCE_CPU &&
      kiln_begin(c->call.entry, kiln_cpu_stream(NULL), &c->reference_call) != KILN_SUCCESS)
    return false;
  c->reference_space = space_of(&c->reference_call);
  return find_arrays(c) && find_reference(c) && make_copies(c);
}

/* The array's bytes on the host: themselves, or `*fetched`, which the caller frees. */
static const char *on_host(const memory_space *space, const char *address, uint64_t bytes,
                           char **fetched) {
  *fetched = NULL;
  if (!space->driver->copy)
    return address;
  *fetched = malloc((size_t)bytes);
  if (*fetched && copy(space, *fetched, address, bytes) && synchronize(space))
    return *fetched;
  return NULL;
}

static kiln_status report(comparison *c, const kiln_mismatch *mismatch) {
  if (c->how.mismatch) {
    c->how.mismatch(c->how.user, mismatch);
    return KILN_SUCCESS;
  }
  return kiln_error(KILN_ERROR_MISMATCH,
                    "%s: variant %u (%s): %s[%llu] is %.9g, expected %.9g as %svariant %u (%s) has "
                    "it; %llu of %llu elements differ",
                    mismatch->name, mismatch->variant, mismatch->variant_name, mismatch->argument,
                    (unsigned long long)mismatch->index, mismatch->value, mismatch->expected,
                    c->how.reference == KILN_REFERENCE_CPU ? "the CPU's " : "", mismatch->reference,
                    mismatch->reference_name, (unsigned long long)mismatch->num_different,
                    (unsigned long long)mismatch->elements);
}

static kiln_status compare_values(comparison *c, uint32_t i, const char *values,
                                  const char *expected) {
  const kiln_compared_array *record = &c->record->arrays[i];
  const kiln_entry *entry = c->call.entry;
  kiln_mismatch mismatch = {.entry = entry,
                            .name = entry->name,
                            .variant = c->variant,
                            .variant_name = entry->variants[c->variant].name,
                            .reference = c->reference,
                            .reference_name = entry->variants[c->reference].name,
                            .argument = record->name,
                            .elements = c->arrays[i].elements};
  for (uint64_t e = 0; e < mismatch.elements; ++e) {
    if (kiln_elements_agree(record->kind, values, expected, e, c->how.absolute, c->how.relative))
      continue;
    if (mismatch.num_different++ == 0) {
      mismatch.index = e;
      mismatch.value = kiln_element_value(record->kind, values, e);
      mismatch.expected = kiln_element_value(record->kind, expected, e);
    }
  }
  if (!mismatch.num_different)
    return KILN_SUCCESS;
  __atomic_fetch_add(&c->state->counts.mismatches, 1, __ATOMIC_RELAXED);
  return report(c, &mismatch);
}

/* KILN_ERROR_STATE: the array could not be fetched. */
static kiln_status compare_array(comparison *c, uint32_t i) {
  const compared *array = &c->arrays[i];
  char *fetched, *fetched_copy;
  const char *values = on_host(&c->space, array->address, array->bytes, &fetched);
  const char *expected = on_host(&c->reference_space, array->copy, array->bytes, &fetched_copy);
  kiln_status status =
      values && expected ? compare_values(c, i, values, expected) : KILN_ERROR_STATE;
  free(fetched);
  free(fetched_copy);
  return status;
}

/* The first mismatch that is the launch's status. False: nothing could be compared. */
static bool compare_all(comparison *c, kiln_status *status) {
  if (!synchronize(&c->space) || !synchronize(&c->reference_space))
    return false;
  kiln_first_error first = {.status = KILN_SUCCESS};
  for (uint32_t i = 0; i < c->record->num_arrays; ++i) {
    if (c->record->arrays[i].is_const || !c->arrays[i].elements)
      continue;
    kiln_status compared_status = compare_array(c, i);
    if (compared_status == KILN_ERROR_STATE)
      return false;
    kiln_note_error(&first, compared_status);
  }
  *status = kiln_first_error_of(&first);
  return true;
}

static kiln_status launch_chosen(const comparison *c) {
  return c->record->launch(&c->call, c->arguments, c->variant, NULL);
}

static bool launch_reference(const comparison *c) {
  void *copies[MAX_ARRAYS];
  for (uint32_t i = 0; i < c->record->num_arrays; ++i)
    copies[i] = c->arrays[i].copy;
  return c->record->launch(&c->reference_call, c->arguments, c->reference, copies) == KILN_SUCCESS;
}

/* What fails but the launch itself makes it a launch that was not compared. */
static kiln_status compare(comparison *c) {
  bool can_compare = begin(c);
  kiln_status status = launch_chosen(c);
  if (status == KILN_SUCCESS) {
    bool is_compared = can_compare && launch_reference(c) && compare_all(c, &status);
    uint64_t *count = is_compared ? &c->state->counts.compared : &c->state->counts.skipped;
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  }
  release_copies(c);
  return status;
}

/* The entry's settings, which stay until end_use; null: this launch is not to be compared. */
static differential *begin_use(const kiln_entry *entry) {
  kiln_lock(&users.mutex);
  differential *state = entry->state->differential;
  if (state && state->calls++ % state->how.every == 0)
    kiln_add_hook_user(&users);
  else
    state = NULL;
  kiln_unlock(&users.mutex);
  depth += state != NULL;
  return state;
}

kiln_status kiln_run_compared(const kiln_call *call, const void *arguments, uint32_t variant) {
  const kiln_comparison *record = call->entry->comparison;
  differential *state = depth ? NULL : begin_use(call->entry);
  if (!state)
    return record->launch(call, arguments, variant, NULL);
  comparison c = {.record = record,
                  .arguments = arguments,
                  .state = state,
                  .how = state->how,
                  .call = *call,
                  .variant = variant};
  kiln_status status = compare(&c);
  kiln_remove_hook_user(&users);
  --depth;
  return status;
}

/* --- settings --- */

void kiln_free_differential(void *state) { free(state); }

static kiln_status check_settings(const kiln_library *library, const kiln_differential *how) {
  if (how->reference != KILN_REFERENCE_GENERIC && how->reference != KILN_REFERENCE_CPU)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_set_differential: there is no reference %d", (int)how->reference);
  if (!how->every || !(how->absolute >= 0) || !(how->relative >= 0))
    return kiln_error(
        KILN_ERROR_INVALID_ARGUMENT,
        "kiln_set_differential: expected every launch or every so many, and tolerances "
        "that are not negative");
  bool any = false;
  for (uint32_t i = 0; i < library->num_entries; ++i)
    any |= library->entries[i]->comparison != NULL;
  return any ? KILN_SUCCESS
             : kiln_error(KILN_ERROR_UNSUPPORTED,
                          "%s: no kernel of it can be compared: its spec has to say how many "
                          "elements each array has (\"arrays\" of \"dispatch\")",
                          library->name);
}

/* Under the mutex: what the entries had, which launches may still use. */
static differential *take_all(const kiln_library *library) {
  differential *all = NULL;
  for (uint32_t i = 0; i < library->num_entries; ++i) {
    differential *state = library->entries[i]->state->differential;
    if (!state)
      continue;
    kiln_store_release(&library->entries[i]->state->differential, NULL);
    state->next = all;
    all = state;
  }
  return all;
}

/* Under the mutex. */
static kiln_status set_entry(const kiln_entry *entry, const kiln_differential *how) {
  differential *fresh = calloc(1, sizeof *fresh);
  if (!fresh)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "%s: no memory for its comparisons", entry->name);
  fresh->how = *how;
  kiln_free_differential(entry->state->differential);
  kiln_store_release(&entry->state->differential, (void *)fresh);
  return KILN_SUCCESS;
}

kiln_status kiln_set_differential(const kiln_library *library, const kiln_differential *how) {
  kiln_status status = kiln_check_abi(library);
  if (status == KILN_SUCCESS && depth)
    status = kiln_error(KILN_ERROR_STATE,
                        "kiln_set_differential: called within a launch that is being compared");
  if (status == KILN_SUCCESS && how)
    status = check_settings(library, how);
  if (status != KILN_SUCCESS)
    return status;
  kiln_lock(&users.mutex);
  differential *old = take_all(library);
  kiln_await_hook_users(&users);
  while (old) {
    differential *next = old->next;
    kiln_free_differential(old);
    old = next;
  }
  for (uint32_t i = 0; status == KILN_SUCCESS && how && i < library->num_entries; ++i)
    if (library->entries[i]->comparison)
      status = set_entry(library->entries[i], how);
  kiln_unlock(&users.mutex);
  return status;
}

kiln_status kiln_differential_count(const kiln_library *library, kiln_differential_counts *counts) {
  kiln_status status = kiln_check_abi(library);
  if (status == KILN_SUCCESS && !counts)
    status = kiln_error(KILN_ERROR_INVALID_ARGUMENT, "kiln_differential_count: the result is null");
  if (status != KILN_SUCCESS)
    return status;
  *counts = (kiln_differential_counts){0};
  kiln_lock(&users.mutex);
  for (uint32_t i = 0; i < library->num_entries; ++i) {
    differential *state = library->entries[i]->state->differential;
    if (!state)
      continue;
    counts->compared += __atomic_load_n(&state->counts.compared, __ATOMIC_RELAXED);
    counts->skipped += __atomic_load_n(&state->counts.skipped, __ATOMIC_RELAXED);
    counts->mismatches += __atomic_load_n(&state->counts.mismatches, __ATOMIC_RELAXED);
  }
  kiln_unlock(&users.mutex);
  return KILN_SUCCESS;
}
