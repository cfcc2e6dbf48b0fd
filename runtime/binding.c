/* The slow path: choosing targets, loading kernels, publishing both. */
#include "runtime/binding.h"

#include "runtime/choice_cache.h"
#include "runtime/differential.h"
#include "runtime/element_values.h"
#include "runtime/mutex.h"
#include "runtime/seen_shapes.h"
#include "runtime/target.h"
#include "runtime/tensor_map.h"
#include "runtime/tuning_table.h"

#include <stdio.h>
#include <stdlib.h>

/* An entry's lock is one of these, by its state's address: records are constant data that nobody
 * initialises, and a mutex inside them would need that. Two entries that share one merely load one
 * after the other. */
enum { NUM_LOCKS = 64 };
static kiln_mutex locks[NUM_LOCKS];

static kiln_mutex *lock_of(const kiln_entry *entry) {
  return &locks[(uintptr_t)entry->state / sizeof(kiln_entry_state) % NUM_LOCKS];
}

/* --- the entries that have bindings, of all libraries --- */

static kiln_mutex used_mutex;
static const kiln_entry *used_entries;

/* With its first binding. */
static void add_used(const kiln_entry *entry) {
  kiln_lock(&used_mutex);
  entry->state->next = used_entries;
  used_entries = entry;
  kiln_unlock(&used_mutex);
}

static void remove_used(const kiln_entry *entry) {
  kiln_lock(&used_mutex);
  const kiln_entry **link = &used_entries;
  while (*link != entry)
    link = &(*link)->state->next;
  *link = entry->state->next;
  kiln_unlock(&used_mutex);
}

static const kiln_entry *first_used(void) {
  kiln_lock(&used_mutex);
  const kiln_entry *entry = used_entries;
  kiln_unlock(&used_mutex);
  return entry;
}

/* --- binding --- */

kiln_status kiln_check_abi(const kiln_library *library) {
  if (!library)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "the library is null");
  if (library->abi_version != KILN_ABI_VERSION)
    return kiln_error(KILN_ERROR_ABI,
                      "the kernel library was generated for version %u of Kiln's binary interface, "
                      "this runtime has version %u: generate it again, or link the runtime it was "
                      "generated for",
                      library->abi_version, KILN_ABI_VERSION);
  return KILN_SUCCESS;
}

kiln_status kiln_check_entry(const kiln_entry *entry) {
  if (!entry)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "the entry is null");
  return kiln_check_abi(entry->library);
}

static kiln_status no_binary(const kiln_entry *entry, const kiln_place *place) {
  char targets[KILN_ERROR_CAPACITY / 2] = "nothing";
  size_t length = 0;
  for (uint32_t i = 0; i < entry->num_targets && length < sizeof targets; ++i) {
    const kiln_driver_table *driver = kiln_driver_of(entry->targets[i].driver);
    const char *features = entry->targets[i].features;
    int written =
        snprintf(targets + length, sizeof targets - length, "%s%s:%s%s", i ? ", " : "",
                 driver ? driver->name : "?", entry->targets[i].arch, features ? features : "");
    length += written > 0 ? (size_t)written : 0;
  }
  return kiln_error(KILN_ERROR_NO_BINARY, "%s: no binary for %s device %d (%s); built for %s",
                    entry->name, kiln_driver_of(place->driver)->name, place->ordinal,
                    place->arch_name, targets);
}

/* Under the entry's lock. */
static kiln_status add_binding(const kiln_entry *entry, const kiln_place *place,
                               const kiln_binding **result) {
  int64_t target = kiln_best_target(entry, place);
  if (target < 0)
    return no_binary(entry, place);
  size_t size = sizeof(kiln_binding) + entry->num_variants * sizeof(kiln_kernel *);
  size = (size + 15) / 16 * 16; /* as choice_cache.h asks */
  kiln_binding *binding = calloc(1, size + kiln_choice_cache_words(entry) * sizeof(uint64_t));
  if (!binding)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "%s: no memory to bind it to a device",
                      entry->name);
  binding->next = entry->state->bindings;
  binding->driver = kiln_driver_of(place->driver);
  binding->place = place;
  binding->target = (uint32_t)target;
  binding->waves = kiln_divisor_of(place->processors);
  binding->choices = (uint64_t *)((char *)binding + size);
  if (!binding->next)
    add_used(entry);
  kiln_store_release(&entry->state->bindings, (void *)binding);
  *result = binding;
  return KILN_SUCCESS;
}

kiln_status kiln_bind(const kiln_entry *entry, const kiln_place *place,
                      const kiln_binding **binding) {
  *binding = kiln_find_binding(entry, place);
  if (*binding)
    return KILN_SUCCESS;
  kiln_status status = KILN_SUCCESS;
  kiln_lock(lock_of(entry));
  *binding = kiln_find_binding(entry, place);
  if (!*binding)
    status = add_binding(entry, place, binding);
  kiln_unlock(lock_of(entry));
  return status;
}

static const kiln_binary *binary_of(const kiln_entry *entry, const kiln_binding *binding,
                                    uint32_t variant) {
  return &entry->binaries[(size_t)variant * entry->num_targets + binding->target];
}

bool kiln_variant_exists(const kiln_entry *entry, const kiln_binding *binding, uint32_t variant) {
  return kiln_binary_exists(binary_of(entry, binding, variant));
}

/* What the generator must have got right for the driver not to read beyond the arguments. */
static kiln_status check_variant(const kiln_variant *variant) {
  for (uint32_t i = 0; i < variant->num_params; ++i) {
    const kiln_param *param = &variant->params[i];
    if (param->kind > KILN_PARAM_BYTES || param->size == 0 ||
        (param->kind != KILN_PARAM_BYTES && param->size != kiln_element_bytes(param->kind)))
      return kiln_error(KILN_ERROR_ABI, "parameter %u (%s) of kind %u cannot have %u bytes", i,
                        param->name, (unsigned)param->kind, (unsigned)param->size);
  }
  return KILN_SUCCESS;
}

static kiln_status check_scratch(const kiln_binary *binary, const kiln_driver_table *driver) {
  if (binary->scratch_bytes && !driver->has_scratch)
    return kiln_error(KILN_ERROR_UNSUPPORTED,
                      "the kernel wants %llu bytes of scratch memory for each block, which %s does "
                      "not have",
                      (unsigned long long)binary->scratch_bytes, driver->name);
  return KILN_SUCCESS;
}

/* Before a load: it would fail, or spoil the capture. */
static kiln_status check_not_capturing(const kiln_driver_table *driver, kiln_stream stream) {
  bool is_capturing = false;
  kiln_status status =
      driver->is_capturing ? driver->is_capturing(stream, &is_capturing) : KILN_SUCCESS;
  if (status != KILN_SUCCESS || !is_capturing)
    return status;
  return kiln_error(KILN_ERROR_CAPTURE,
                    "the kernel is not loaded yet and the stream is capturing a graph: call "
                    "prepare before the capture");
}

static kiln_status check_tensor_maps(const kiln_kernel *kernel, const kiln_driver_table *driver) {
  if (kernel->binary->num_tensor_maps && !driver->makes_tensor_maps)
    return kiln_error(KILN_ERROR_UNSUPPORTED,
                      "the kernel takes tensor maps, which %s does not have", driver->name);
  return kiln_check_tensor_maps(&kernel->entry->variants[kernel->variant], kernel->binary);
}

static kiln_status load_binary(kiln_kernel *kernel, const kiln_binding *binding,
                               const kiln_stream *stream) {
  const kiln_entry *entry = kernel->entry;
  kiln_status status = check_scratch(kernel->binary, binding->driver);
  if (status == KILN_SUCCESS)
    status = check_tensor_maps(kernel, binding->driver);
  if (status == KILN_SUCCESS && stream)
    status = check_not_capturing(binding->driver, *stream);
  if (status == KILN_SUCCESS) {
    kiln_image *images = entry->state->images;
    status = binding->driver->load(kernel, &entry->targets[binding->target], &images);
    entry->state->images = images;
  }
  return status;
}

static void free_kernel(kiln_kernel *kernel) {
  if (!kernel)
    return;
  free_kernel(kernel->fallback);
  kiln_os_free_aligned(kernel->tensor_maps);
  free(kernel);
}

static kiln_status make_kernel(const kiln_entry *entry, const kiln_binding *binding,
                               uint32_t variant, const kiln_binary *binary, kiln_kernel **result) {
  kiln_kernel *kernel = calloc(1, sizeof *kernel);
  if (!kernel)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to record a loaded kernel");
  kernel->entry = entry;
  kernel->variant = variant;
  kernel->binary = binary;
  kernel->place = binding->place;
  kernel->num_params = entry->variants[variant].num_params;
  kernel->passes_more = binary->num_tensor_maps || binary->scratch_bytes;
  for (int axis = 0; axis < 3; ++axis) {
    kernel->program_blocks[axis] = binary->cluster[axis] ? binary->cluster[axis] : 1;
    kernel->grid_limit[axis] = binding->driver->grid_limit[axis] / kernel->program_blocks[axis];
  }
  *result = kernel;
  return KILN_SUCCESS;
}

/* A launch checks its grid before it knows which of the two it takes. */
static kiln_status check_fallback(const kiln_binary *binary) {
  const kiln_binary *fallback = binary->fallback;
  bool has_same_clusters = true;
  for (int axis = 0; axis < 3; ++axis)
    has_same_clusters &= fallback->cluster[axis] == binary->cluster[axis];
  return has_same_clusters && !fallback->fallback
             ? KILN_SUCCESS
             : kiln_error(KILN_ERROR_ABI,
                          "expected the binary's clusters, and no fallback of its own");
}

/* Beside a kernel with tensor maps: what any of its launches may need, also while a graph is
 * captured. */
static kiln_status load_fallback(kiln_kernel *kernel, const kiln_binding *binding) {
  const kiln_binary *binary = kernel->binary;
  if (!binary->fallback)
    return KILN_SUCCESS;
  kiln_status status = check_fallback(binary);
  if (status == KILN_SUCCESS)
    status =
        make_kernel(kernel->entry, binding, kernel->variant, binary->fallback, &kernel->fallback);
  if (status == KILN_SUCCESS)
    status = load_binary(kernel->fallback, binding, NULL);
  return status == KILN_SUCCESS
             ? status
             : kiln_error_within(status, "the fallback without tensor maps of pointers");
}

static kiln_status load_into(kiln_kernel *kernel, const kiln_binding *binding,
                             const kiln_stream *stream) {
  kiln_status status = check_variant(&kernel->entry->variants[kernel->variant]);
  if (status == KILN_SUCCESS)
    status = load_binary(kernel, binding, stream);
  return status == KILN_SUCCESS ? load_fallback(kernel, binding) : status;
}

/* What a place loads of `binary`: its fallback alone where nobody makes tensor maps. */
static const kiln_binary *loaded_binary(const kiln_binary *binary,
                                        const kiln_driver_table *driver) {
  bool makes_maps = driver->makes_tensor_maps && driver->makes_tensor_maps();
  return binary->fallback && !makes_maps ? binary->fallback : binary;
}

/* Under the entry's lock. */
static kiln_status add_kernel(const kiln_entry *entry, const kiln_binding *binding,
                              uint32_t variant, const kiln_stream *stream,
                              const kiln_kernel **result) {
  const kiln_binary *binary = loaded_binary(binary_of(entry, binding, variant), binding->driver);
  kiln_kernel *kernel = NULL;
  kiln_status status = make_kernel(entry, binding, variant, binary, &kernel);
  if (status == KILN_SUCCESS)
    status = load_into(kernel, binding, stream);
  if (status != KILN_SUCCESS) {
    free_kernel(kernel);
    return kiln_error_within(status, "%s: variant %u (%s) for %s:%s", entry->name, variant,
                             entry->variants[variant].name, binding->driver->name,
                             entry->targets[binding->target].arch);
  }
  kiln_store_release((const kiln_kernel **)&binding->kernels[variant], (const kiln_kernel *)kernel);
  *result = kernel;
  return KILN_SUCCESS;
}

kiln_status kiln_load_kernel(const kiln_entry *entry, const kiln_binding *binding, uint32_t variant,
                             const kiln_stream *stream, const kiln_kernel **kernel) {
  if (!kiln_variant_exists(entry, binding, variant))
    return kiln_error(KILN_ERROR_NO_BINARY, "%s: variant %u (%s) does not exist for %s:%s",
                      entry->name, variant, entry->variants[variant].name, binding->driver->name,
                      entry->targets[binding->target].arch);
  kiln_status status = KILN_SUCCESS;
  kiln_lock(lock_of(entry));
  *kernel = binding->kernels[variant];
  if (!*kernel)
    status = add_kernel(entry, binding, variant, stream, kernel);
  kiln_unlock(lock_of(entry));
  return status;
}

static void free_bindings(const kiln_entry *entry, kiln_binding *binding) {
  while (binding) {
    kiln_binding *next = binding->next;
    for (uint32_t i = 0; i < entry->num_variants; ++i)
      free_kernel((kiln_kernel *)binding->kernels[i]);
    free(binding);
    binding = next;
  }
}

static kiln_status unload_images(kiln_image *image) {
  kiln_first_error first = {.status = KILN_SUCCESS};
  while (image) {
    kiln_image *next = image->next;
    kiln_note_error(&first, kiln_driver_of(image->driver)->unload(image));
    kiln_os_free_aligned(image->unpacked);
    free(image);
    image = next;
  }
  return kiln_first_error_of(&first);
}

kiln_status kiln_release_entry(const kiln_entry *entry) {
  kiln_lock(lock_of(entry));
  kiln_binding *bindings = entry->state->bindings;
  kiln_image *images = entry->state->images;
  kiln_store_release(&entry->state->bindings, NULL);
  entry->state->images = NULL;
  if (bindings)
    remove_used(entry);
  free_bindings(entry, bindings);
  kiln_free_tuning_tables(entry->state->tables);
  kiln_store_release(&entry->state->tables, NULL);
  kiln_free_seen_shapes(entry->state->seen);
  kiln_free_differential(entry->state->differential);
  kiln_store_release(&entry->state->differential, NULL);
  kiln_store_release(&entry->state->seen, NULL);
  kiln_status status = unload_images(images);
  kiln_unlock(lock_of(entry));
  return status == KILN_SUCCESS ? status : kiln_error_within(status, "unloading %s", entry->name);
}

kiln_status kiln_release_all_entries(void) {
  kiln_first_error first = {.status = KILN_SUCCESS};
  for (const kiln_entry *entry; (entry = first_used());)
    kiln_note_error(&first, kiln_release_entry(entry));
  return kiln_first_error_of(&first);
}
