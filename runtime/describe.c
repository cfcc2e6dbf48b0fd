/* A library's records as JSON text. */
#include "runtime/binding.h"

#include <string.h>

/* Counts what does not fit, as snprintf does. */
typedef struct writer {
  char *buffer;
  size_t capacity;
  size_t length;
  bool needs_comma;
} writer;

static void put(writer *out, const char *text, size_t length) {
  for (size_t i = 0; i < length; ++i, ++out->length)
    if (out->length < out->capacity)
      out->buffer[out->length] = text[i];
}

static void put_text(writer *out, const char *text) { put(out, text, strlen(text)); }

static void put_string(writer *out, const char *text) {
  static const char digits[] = "0123456789abcdef";
  put(out, "\"", 1);
  for (; *text; ++text) {
    unsigned char byte = (unsigned char)*text;
    char escape[] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    if (byte == '"' || byte == '\\')
      put(out, "\\", 1);
    if (byte < 0x20)
      put(out, escape, sizeof escape);
    else
      put(out, text, 1);
  }
  put(out, "\"", 1);
}

/* --- JSON; a key of null for an array's elements --- */

static void begin_value(writer *out, const char *key) {
  if (out->needs_comma)
    put(out, ",", 1);
  out->needs_comma = true;
  if (key) {
    put_string(out, key);
    put(out, ":", 1);
  }
}

static void open_value(writer *out, const char *key, const char *bracket) {
  begin_value(out, key);
  put_text(out, bracket);
  out->needs_comma = false;
}

static void close_value(writer *out, const char *bracket) {
  put_text(out, bracket);
  out->needs_comma = true;
}

static void text_value(writer *out, const char *key, const char *text) {
  begin_value(out, key);
  if (text)
    put_string(out, text);
  else
    put_text(out, "null");
}

static void json_value(writer *out, const char *key, const char *json) {
  begin_value(out, key);
  put_text(out, json);
}

static void number_value(writer *out, const char *key, uint64_t number) {
  char reversed[20], digits[20];
  size_t count = 0;
  begin_value(out, key);
  do {
    reversed[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  for (size_t i = 0; i < count; ++i)
    digits[i] = reversed[count - 1 - i];
  put(out, digits, count);
}

static void truth_value(writer *out, const char *key, bool truth) {
  begin_value(out, key);
  put_text(out, truth ? "true" : "false");
}

/* --- the records --- */

static const char *kind_name(uint32_t kind) {
  static const char *const names[] = {
      [KILN_PARAM_POINTER] = "pointer",
#define KILN_PARAM_TYPE(KIND, NAME, ...) [KILN_PARAM_##KIND] = (NAME),
#include "runtime/element_types.def"
      [KILN_PARAM_BYTES] = "bytes",
  };
  return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

static const char *form_name(uint32_t form) {
  static const char *const names[] = {[KILN_FORM_CUBIN] = "cubin",
                                      [KILN_FORM_PTX] = "ptx",
                                      [KILN_FORM_HSACO] = "hsaco",
                                      [KILN_FORM_HOST] = "host"};
  return form < sizeof names / sizeof *names ? names[form] : NULL;
}

static void describe_arguments(writer *out, const kiln_signature *signature) {
  open_value(out, "arguments", "[");
  for (uint32_t i = 0; i < signature->num_arguments; ++i) {
    open_value(out, NULL, "{");
    text_value(out, "name", signature->arguments[i].name);
    text_value(out, "type", signature->arguments[i].type);
    close_value(out, "}");
  }
  close_value(out, "]");
}

static void describe_targets(writer *out, const kiln_entry *entry) {
  open_value(out, "targets", "[");
  for (uint32_t i = 0; i < entry->num_targets; ++i) {
    const kiln_driver_table *driver = kiln_driver_of(entry->targets[i].driver);
    open_value(out, NULL, "{");
    text_value(out, "driver", driver ? driver->name : NULL);
    text_value(out, "arch", entry->targets[i].arch);
    text_value(out, "features", entry->targets[i].features);
    text_value(out, "form", form_name(entry->targets[i].form));
    close_value(out, "}");
  }
  close_value(out, "]");
}

static void describe_promises(writer *out, const kiln_signature *signature, uint32_t variant) {
  size_t words = ((size_t)signature->num_conditions + 63) / 64;
  open_value(out, "relies_on", "[");
  for (uint32_t i = 0; i < signature->num_conditions; ++i)
    if (signature->needs[variant * words + i / 64] >> (i % 64) & 1)
      text_value(out, NULL, signature->conditions[i]);
  close_value(out, "]");
}

static void describe_parameters(writer *out, const kiln_variant *variant) {
  open_value(out, "parameters", "[");
  for (uint32_t i = 0; i < variant->num_params; ++i) {
    const kiln_param *param = &variant->params[i];
    open_value(out, NULL, "{");
    text_value(out, "name", param->name);
    text_value(out, "kind", kind_name(param->kind));
    number_value(out, "size", param->size);
    number_value(out, "offset", param->offset);
    close_value(out, "}");
  }
  close_value(out, "]");
}

static void describe_binary(writer *out, const kiln_binary *binary) {
  number_value(out, "bytes", binary->size);
  number_value(out, "threads", binary->threads);
  number_value(out, "shared_bytes", binary->shared_bytes);
  open_value(out, "cluster", "[");
  for (int axis = 0; axis < 3; ++axis)
    number_value(out, NULL, binary->cluster[axis] ? binary->cluster[axis] : 1);
  close_value(out, "]");
  number_value(out, "arena_bytes", binary->arena_bytes);
  number_value(out, "scratch_bytes", binary->scratch_bytes);
  truth_value(out, "cooperative", binary->flags & KILN_LAUNCH_COOPERATIVE);
  truth_value(out, "programmatic_dependent_launch", binary->flags & KILN_LAUNCH_PDL);
  open_value(out, "tensor_maps", "[");
  for (uint32_t i = 0; i < binary->num_tensor_maps; ++i)
    text_value(out, NULL, binary->tensor_maps[i].name);
  close_value(out, "]");
}

static void describe_binaries(writer *out, const kiln_entry *entry, uint32_t variant) {
  open_value(out, "binaries", "[");
  for (uint32_t target = 0; target < entry->num_targets; ++target) {
    const kiln_binary *binary = &entry->binaries[(size_t)variant * entry->num_targets + target];
    if (!kiln_binary_exists(binary))
      continue;
    open_value(out, NULL, "{");
    number_value(out, "target", target);
    describe_binary(out, binary);
    if (binary->fallback) {
      open_value(out, "fallback", "{");
      describe_binary(out, binary->fallback);
      close_value(out, "}");
    }
    close_value(out, "}");
  }
  close_value(out, "]");
}

static void describe_variant(writer *out, const kiln_entry *entry, uint32_t variant) {
  open_value(out, NULL, "{");
  text_value(out, "id", entry->variants[variant].id);
  text_value(out, "name", entry->variants[variant].name);
  if (entry->signature && entry->signature->constants)
    json_value(out, "constants", entry->signature->constants[variant]);
  if (entry->signature)
    describe_promises(out, entry->signature, variant);
  describe_parameters(out, &entry->variants[variant]);
  describe_binaries(out, entry, variant);
  close_value(out, "}");
}

static void describe_entry(writer *out, const kiln_entry *entry) {
  open_value(out, NULL, "{");
  text_value(out, "name", entry->name);
  if (entry->signature)
    describe_arguments(out, entry->signature);
  describe_targets(out, entry);
  open_value(out, "variants", "[");
  for (uint32_t i = 0; i < entry->num_variants; ++i)
    describe_variant(out, entry, i);
  close_value(out, "]");
  close_value(out, "}");
}

static void describe_packs(writer *out, const kiln_library *library) {
  if (!library->num_packs)
    return;
  open_value(out, "packs", "[");
  for (uint32_t i = 0; i < library->num_packs; ++i) {
    open_value(out, NULL, "{");
    text_value(out, "file", library->packs[i]->file);
    text_value(out, "identity", library->packs[i]->identity);
    number_value(out, "bytes", library->packs[i]->size);
    close_value(out, "}");
  }
  close_value(out, "]");
}

kiln_status kiln_describe(const kiln_library *library, char *buffer, size_t capacity,
                          size_t *size) {
  kiln_status status = kiln_check_abi(library);
  if (status != KILN_SUCCESS)
    return status;
  if ((!buffer && capacity) || (!buffer && !size))
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "kiln_describe: the %s is null",
                      capacity ? "buffer" : "result");
  writer out = {.buffer = buffer, .capacity = capacity};
  open_value(&out, NULL, "{");
  text_value(&out, "library", library->name);
  number_value(&out, "abi_version", library->abi_version);
  open_value(&out, "entries", "[");
  for (uint32_t i = 0; i < library->num_entries; ++i)
    describe_entry(&out, library->entries[i]);
  close_value(&out, "]");
  describe_packs(&out, library);
  close_value(&out, "}");
  put(&out, "", 1);
  if (size)
    *size = out.length;
  if (!buffer || out.length <= capacity)
    return KILN_SUCCESS;
  if (capacity)
    buffer[0] = '\0';
  return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                    "kiln_describe: the text of %s has %zu bytes, the buffer %zu", library->name,
                    out.length, capacity);
}
