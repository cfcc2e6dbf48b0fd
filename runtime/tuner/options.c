/* The command line of a tuner. */
#include "tuner/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "  -o FILE               where the times go; a file with a part of them is completed\n"
    "  --device NAME[:N]     cuda, hip or cpu, and which of them (default: the first that the "
    "library\n"
    "                        has code for)\n"
    "  --threads N           of the CPU (default: all)\n"
    "  --entry NAME          only this function\n"
    "  --time MS             how long a variant is timed in each call, about (100)\n"
    "  --limit SECONDS       a launch that takes longer is a failure of its variant (60)\n"
    "  --warm                leave in the caches what the launch before left there\n"
    "  --restart             measure all again\n"
    "  --list                show the calls, and measure nothing\n"
    "  --driver FILE         the GPU's driver, in place of the system's\n";

static const kiln_tuner_driver *driver_named(const char *name, size_t length) {
  static const kiln_tuner_driver *const all[] = {&kiln_tuner_cuda, &kiln_tuner_hip,
                                                 &kiln_tuner_cpu};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    if (strlen(all[i]->name) == length && strncmp(all[i]->name, name, length) == 0)
      return all[i];
  return NULL;
}

/* Of the first target that this program can run. */
static const kiln_tuner_driver *default_driver(const kiln_tuner_library *library) {
  const kiln_entry *entry = library->entries[0].entry;
  for (uint32_t t = 0; t < entry->num_targets; ++t)
    switch (entry->targets[t].driver) {
    case KILN_DRIVER_CUDA:
      return &kiln_tuner_cuda;
    case KILN_DRIVER_HIP:
      return &kiln_tuner_hip;
    case KILN_DRIVER_CPU:
      return &kiln_tuner_cpu;
    default:
      break;
    }
  return NULL;
}

typedef struct reader {
  int argc, at;
  char **argv;
  const char *mistake;
} reader;

static const char *value_of(reader *reader) {
  if (reader->at + 1 < reader->argc)
    return reader->argv[++reader->at];
  reader->mistake = "needs a value";
  return "0";
}

static double number_of(reader *reader, double low, double high) {
  char *end;
  const char *text = value_of(reader);
  double number = strtod(text, &end);
  if (!reader->mistake && (end == text || *end || !(number >= low && number <= high)))
    reader->mistake = "has a value that it cannot have";
  return number;
}

static void read_device(reader *reader, kiln_tuner_work *work) {
  const char *text = value_of(reader), *colon = strchr(text, ':');
  char *end = NULL;
  work->driver = driver_named(text, colon ? (size_t)(colon - text) : strlen(text));
  if (colon)
    work->ordinal = (int)strtol(colon + 1, &end, 10);
  if (!work->driver || (colon && (end == colon + 1 || *end || work->ordinal < 0)))
    reader->mistake = "expects cuda, hip or cpu, and a number behind a colon";
}

static bool has_entry(const kiln_tuner_library *library, const char *name) {
  for (uint32_t e = 0; e < library->num_entries; ++e)
    if (strcmp(library->entries[e].entry->name, name) == 0)
      return true;
  return false;
}

static void read_option(reader *reader, const kiln_tuner_library *library,
                        kiln_tuner_options *options) {
  const char *option = reader->argv[reader->at];
  if (strcmp(option, "-o") == 0) {
    options->output = value_of(reader);
  } else if (strcmp(option, "--device") == 0) {
    read_device(reader, &options->work);
  } else if (strcmp(option, "--threads") == 0) {
    options->work.threads = (uint32_t)number_of(reader, 1, 4096);
  } else if (strcmp(option, "--entry") == 0) {
    options->entry = value_of(reader);
    if (!reader->mistake && !has_entry(library, options->entry))
      reader->mistake = "names no function that is tuned";
  } else if (strcmp(option, "--time") == 0) {
    options->work.milliseconds = number_of(reader, 0, 1e6);
  } else if (strcmp(option, "--limit") == 0) {
    options->limit = (unsigned)number_of(reader, 1, 1e6);
  } else if (strcmp(option, "--warm") == 0) {
    options->work.warm = true;
  } else if (strcmp(option, "--restart") == 0) {
    options->restart = true;
  } else if (strcmp(option, "--list") == 0) {
    options->list = true;
  } else if (strcmp(option, "--driver") == 0) {
    options->work.driver_path = value_of(reader);
  } else {
    reader->mistake = "is no option (--help shows them)";
  }
}

bool kiln_tuner_read_options(const kiln_tuner_library *library, int argc, char **argv,
                             kiln_tuner_options *options, int *status) {
  reader reader = {argc, 1, argv, NULL};
  *options = (kiln_tuner_options){.limit = 60};
  options->work.library = library;
  options->work.milliseconds = 100;
  *status = 2;
  for (; reader.at < argc; ++reader.at) {
    const char *option = argv[reader.at];
    if (strcmp(option, "--help") == 0) {
      printf("Times the variants of '%s'.\n%s", library->name, help);
      *status = 0;
      return false;
    }
    read_option(&reader, library, options);
    if (!reader.mistake)
      continue;
    fprintf(stderr, "%s: %s %s\n", argv[0], option, reader.mistake);
    return false;
  }
  if (!options->work.driver)
    options->work.driver = default_driver(library);
  if (!options->work.driver || (!options->output && !options->list)) {
    fprintf(stderr, "%s: expected %s\n", argv[0],
            options->work.driver ? "-o FILE, where the times go" : "--device");
    return false;
  }
  return true;
}
