/* The file's lines. */
#include "tuner/tuner.h"

#include <inttypes.h>
#include <string.h>

const kiln_tuner_entry *kiln_tuner_entry_of(const tuner *tuner, const kiln_tuner_job *job) {
  return &tuner->library->entries[job->entry];
}

const kiln_tuner_job *kiln_tuner_current(const tuner *tuner) {
  return &tuner->jobs[tuner->next_job];
}

void kiln_tuner_add_shape(kiln_tuner_text *text, const tuner *tuner, const kiln_tuner_job *job,
                          bool is_json) {
  const kiln_tuner_entry *entry = kiln_tuner_entry_of(tuner, job);
  const kiln_tuner_value *values = entry->values + (size_t)job->call * entry->num_arguments;
  const char *separator = is_json ? "{" : "";
  for (uint32_t i = 0; i < entry->num_arguments; ++i) {
    const kiln_tuner_argument *argument = &entry->arguments[i];
    if (argument->is_array || argument->element >= KILN_TUNER_FP8E4B15)
      continue; /* the table's floats come last */
    kiln_tuner_add(text, is_json ? "%s\"%s\": %" PRId64 : "%s%s=%" PRId64, separator,
                   argument->name, values[i].integer);
    separator = is_json ? ", " : " ";
  }
  if (is_json)
    kiln_tuner_add(text, "%s}", *separator == '{' ? "{" : "");
}

void kiln_tuner_add_beginning(kiln_tuner_text *text, const tuner *tuner,
                              const kiln_tuner_job *job) {
  const kiln_tuner_entry *entry = kiln_tuner_entry_of(tuner, job);
  kiln_tuner_add(text, "{\"entry\": \"%s\", \"target\": \"%s\", \"shape\": ", entry->entry->name,
                 entry->targets[tuner->targets[job->entry]]);
  kiln_tuner_add_shape(text, tuner, job, true);
  kiln_tuner_add(text, ", \"times_us\": ");
}

void kiln_tuner_add_line(tuner *tuner) {
  const kiln_tuner_job *job = kiln_tuner_current(tuner);
  const kiln_tuner_entry *entry = kiln_tuner_entry_of(tuner, job);
  kiln_tuner_text *text = &tuner->results.lines;
  const char *separator = "{";
  kiln_tuner_add_beginning(text, tuner, job);
  for (uint32_t v = 0; v < entry->entry->num_variants; ++v)
    if (tuner->times[v] > 0) {
      kiln_tuner_add(text, "%s\"%s\": %.3f", separator, entry->variants[v], tuner->times[v]);
      separator = ", ";
    }
  kiln_tuner_add(text, "%s}, \"failures\": ", *separator == '{' ? "{" : "");
  separator = "{";
  for (uint32_t v = 0; v < entry->entry->num_variants; ++v)
    if (tuner->failures[v]) {
      kiln_tuner_add(text, "%s\"%s\": ", separator, entry->variants[v]);
      kiln_tuner_add_string(text, tuner->failures[v]);
      separator = ", ";
    }
  kiln_tuner_add(text, "%s}", *separator == '{' ? "{" : "");
  if (tuner->model != NO_VARIANT)
    kiln_tuner_add(text, ", \"model\": \"%s\"", entry->variants[tuner->model]);
  kiln_tuner_add(text, "}\n");
}

static void add_code(kiln_tuner_text *text, const tuner *tuner, uint32_t e) {
  const kiln_tuner_entry *entry = &tuner->library->entries[e];
  const char *separator = "";
  uint32_t target = tuner->targets[e];
  kiln_tuner_add(text, "{\"entry\": \"%s\", \"target\": \"%s\", \"variants\": {",
                 entry->entry->name, entry->targets[target]);
  for (uint32_t v = 0; v < entry->entry->num_variants; ++v) {
    const char *code = entry->code[v * entry->entry->num_targets + target];
    if (!*code)
      continue;
    kiln_tuner_add(text, "%s\"%s\": \"%s\"", separator, entry->variants[v], code);
    separator = ", ";
  }
  kiln_tuner_add(text, "}}%s\n", e + 1 < tuner->library->num_entries ? "," : "");
}

void kiln_tuner_write_header(tuner *tuner) {
  kiln_tuner_text *text = &tuner->results.header;
  char *version = strchr(tuner->driver, ' ');
  kiln_tuner_add(text, "{\"kiln_tuning\": 1,\n\"runs\": [\n{\"device\": {\"name\": ");
  kiln_tuner_add_string(text, tuner->device);
  kiln_tuner_add(text, ", \"driver\": \"%.*s\", \"version\": ", (int)(version - tuner->driver),
                 tuner->driver);
  kiln_tuner_add_string(text, version + 1);
  kiln_tuner_add(text,
                 ", \"processors\": %u},\n\"kiln\": \"%s\", \"library\": \"%s\", \"cache\": "
                 "\"%s\",\n\"code\": [\n",
                 tuner->processors, tuner->library->version, tuner->library->name,
                 tuner->options.work.warm ? "warm" : "cold");
  for (uint32_t e = 0; e < tuner->library->num_entries; ++e)
    add_code(text, tuner, e);
  kiln_tuner_add(text, "],\n\"measurements\": [\n");
}
