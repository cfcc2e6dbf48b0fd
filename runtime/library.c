/* What programs do with whole entries and libraries: prepare, ask, unload. */
#include "runtime/binding.h"
#include "runtime/pack.h"

#include <stddef.h>
#include <string.h>

kiln_device kiln_cuda_device(int ordinal) {
  return (kiln_device){.driver = KILN_DRIVER_CUDA, .ordinal = ordinal};
}

kiln_device kiln_hip_device(int ordinal) {
  return (kiln_device){.driver = KILN_DRIVER_HIP, .ordinal = ordinal};
}

kiln_device kiln_cpu_device(void) { return (kiln_device){.driver = KILN_DRIVER_CPU}; }

kiln_status kiln_stream_device(kiln_stream stream, kiln_device *device) {
  const kiln_driver_table *driver = kiln_driver_of(stream.driver);
  const kiln_place *place;
  void *context;
  if (!driver || !device)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_stream_device: the stream is empty or the device null");
  kiln_status status = driver->stream_place(stream, &place);
  if (status == KILN_SUCCESS)
    status = driver->stream_context(stream, &context);
  if (status == KILN_SUCCESS)
    *device = (kiln_device){.driver = place->driver,
                            .ordinal = place->ordinal,
                            .context = context,
                            .arch = place->arch};
  return status;
}

/* The binding of an entry to a device that the program names. */
static kiln_status bind_device(const kiln_entry *entry, const kiln_device *device,
                               const kiln_binding **binding) {
  const kiln_driver_table *driver = kiln_driver_of(device->driver);
  const kiln_place *place;
  kiln_status status = kiln_check_entry(entry);
  if (status != KILN_SUCCESS)
    return status;
  if (!driver)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: the device is of no driver", entry->name);
  status = driver->device_place(device, &place);
  return status == KILN_SUCCESS ? kiln_bind(entry, place, binding) : status;
}

static kiln_status prepare_kernel(const kiln_entry *entry, const kiln_binding *binding,
                                  uint32_t variant, const kiln_device *device) {
  const kiln_kernel *kernel;
  kiln_status status = kiln_load_kernel(entry, binding, variant, NULL, &kernel);
  if (status != KILN_SUCCESS || !binding->driver->make_resident)
    return status;
  status = binding->driver->make_resident(kernel, device);
  if (status == KILN_SUCCESS && kernel->fallback)
    status = binding->driver->make_resident(kernel->fallback, device);
  return status == KILN_SUCCESS ? status : kiln_error_within_kernel(status, kernel);
}

kiln_status kiln_prepare_variant(const kiln_entry *entry, uint32_t variant, kiln_device device) {
  const kiln_binding *binding;
  kiln_status status = bind_device(entry, &device, &binding);
  if (status != KILN_SUCCESS)
    return status;
  if (variant >= entry->num_variants)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: there is no variant %u: it has %u",
                      entry->name, variant, entry->num_variants);
  return prepare_kernel(entry, binding, variant, &device);
}

kiln_status kiln_prepare(const kiln_entry *entry, kiln_device device) {
  const kiln_binding *binding;
  kiln_status status = bind_device(entry, &device, &binding);
  for (uint32_t i = 0; status == KILN_SUCCESS && i < entry->num_variants; ++i)
    if (kiln_variant_exists(entry, binding, i))
      status = prepare_kernel(entry, binding, i, &device);
  return status;
}

kiln_status kiln_prepare_library(const kiln_library *library, kiln_device device) {
  bool any = false;
  kiln_status status = kiln_check_abi(library);
  for (uint32_t i = 0; status == KILN_SUCCESS && i < library->num_entries; ++i) {
    status = kiln_prepare(library->entries[i], device);
    any |= status == KILN_SUCCESS;
    if (status == KILN_ERROR_NO_BINARY)
      status = KILN_SUCCESS;
  }
  if (status == KILN_SUCCESS && !any)
    return kiln_error(KILN_ERROR_NO_BINARY, "%s: no kernel of it has a binary for this device",
                      library->name);
  return status;
}

int kiln_is_ready(const kiln_entry *entry, kiln_device device) {
  const kiln_binding *binding;
  if (bind_device(entry, &device, &binding) != KILN_SUCCESS)
    return 0;
  for (uint32_t i = 0; i < entry->num_variants; ++i)
    if (kiln_variant_exists(entry, binding, i) && !kiln_load_acquire(&binding->kernels[i]))
      return 0;
  return 1;
}

kiln_status kiln_unload(const kiln_library *library) {
  kiln_first_error first = {.status = kiln_check_abi(library)};
  if (first.status != KILN_SUCCESS)
    return first.status;
  for (uint32_t i = 0; i < library->num_entries; ++i)
    kiln_note_error(&first, kiln_release_entry(library->entries[i]));
  kiln_forget_packs(library);
  return kiln_first_error_of(&first);
}

kiln_status kiln_shutdown(void) {
  kiln_first_error first = {.status = KILN_SUCCESS};
  kiln_note_error(&first, kiln_release_all_entries());
  kiln_close_drivers();
  kiln_forget_all_packs();
  return kiln_first_error_of(&first);
}

uint64_t kiln_miss_count(const kiln_entry *entry) {
  return kiln_check_entry(entry) == KILN_SUCCESS
             ? __atomic_load_n(&entry->state->misses, __ATOMIC_RELAXED)
             : 0;
}

const char *kiln_entry_name(const kiln_entry *entry) {
  return kiln_check_entry(entry) == KILN_SUCCESS ? entry->name : NULL;
}

uint32_t kiln_variant_count(const kiln_entry *entry) {
  return kiln_check_entry(entry) == KILN_SUCCESS ? entry->num_variants : 0;
}

const char *kiln_variant_name(const kiln_entry *entry, uint32_t variant) {
  if (kiln_check_entry(entry) != KILN_SUCCESS)
    return NULL;
  return variant < entry->num_variants ? entry->variants[variant].name : NULL;
}

const char *kiln_variant_id(const kiln_entry *entry, uint32_t variant) {
  if (kiln_check_entry(entry) != KILN_SUCCESS)
    return NULL;
  return variant < entry->num_variants ? entry->variants[variant].id : NULL;
}

kiln_status kiln_find_variant(const kiln_entry *entry, const char *id, uint32_t *variant) {
  kiln_status status = kiln_check_entry(entry);
  if (status != KILN_SUCCESS)
    return status;
  if (!id || !variant)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: the name or the result is null",
                      entry->name);
  for (uint32_t i = 0; i < entry->num_variants; ++i)
    if (entry->variants[i].id && strcmp(entry->variants[i].id, id) == 0) {
      *variant = i;
      return KILN_SUCCESS;
    }
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "%s: no variant is called '%s'", entry->name, id);
}
