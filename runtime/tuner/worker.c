/* Preparing calls, comparing the variants' results, and timing them in turns. */
#include "tuner/worker.h"
#include "tuner/elements.h"
#include "tuner/samples.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  MAX_GROUPS = 8,  /* of variants whose results agree */
  MIN_SAMPLES = 5, /* of a variant; of one that is far behind */
  FEW_SAMPLES = 3,
  FAR_BEHIND = 4, /* times slower than the best */
  FLUSH_FACTOR = 2
};

/* An array of a call, on the device and as it was at first. */
typedef struct call_array {
  uint32_t argument;
  size_t bytes, count;
  void *memory;
  char *initial; /* null: nobody writes it */
} call_array;

/* Variants with the same results. */
typedef struct result_group {
  uint32_t first, size; /* a variant, and how many there are */
  char **results;       /* of each array that is written */
} result_group;

typedef struct call_state {
  const kiln_tuner_work *work;
  const kiln_tuner_entry *entry;
  const kiln_tuner_value *values;
  kiln_tuner_device device;
  void *flush; /* null: caches stay warm */
  size_t flush_bytes;
  call_array *arrays;
  uint32_t num_arrays;
  kiln_tuner_actual *actual;
  result_group groups[MAX_GROUPS];
  uint32_t num_groups;
  uint32_t *group_of; /* of each variant; MAX_GROUPS: it has none */
} call_state;

/* One line, in one write. */
static void say(const kiln_tuner_work *work, const char *format, ...) {
  char line[2048];
  va_list arguments;
  size_t length, written = 0;
  va_start(arguments, format);
  vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  for (char *c = line; *c; ++c)
    if (*c == '\n' || *c == '\r')
      *c = ' ';
  length = strlen(line);
  line[length++] = '\n';
  while (written < length) {
    ssize_t count = write(work->pipe, line + written, length - written);
    if (count <= 0)
      _exit(1); /* nobody listens */
    written += (size_t)count;
  }
}

static void *allocate(const kiln_tuner_work *work, size_t bytes) {
  void *memory = calloc(bytes ? bytes : 1, 1);
  if (!memory) {
    say(work, "fatal not enough memory of the host");
    _exit(1);
  }
  return memory;
}

/* --- the device --- */

static bool open_device(call_state *state) {
  const kiln_tuner_work *work = state->work;
  const char *error =
      work->driver->open(&state->device, work->driver_path, work->ordinal, work->threads);
  if (error)
    say(work, "fatal %s", error);
  return !error;
}

int kiln_tuner_probe(const kiln_tuner_work *work) {
  call_state state = {.work = work};
  uint32_t processors;
  if (!open_device(&state))
    return 1;
  processors = state.device.processors;
  for (uint32_t e = 0; e < work->library->num_entries; ++e) {
    kiln_call call;
    const kiln_tuner_entry *entry = &work->library->entries[e];
    if (kiln_begin(entry->entry, state.device.stream, &call) != KILN_SUCCESS) {
      say(work, "fatal %s", kiln_last_error());
      return 1;
    }
    if (!processors)
      processors = call.processors;
    say(work, "target %u %u", e, call.target);
  }
  say(work, "device %s", state.device.name);
  say(work, "driver %s %s", state.device.driver, state.device.version);
  say(work, "processors %u", processors);
  return 0;
}

/* --- a call's arguments --- */

/* What went wrong, or null. */
static const char *place(call_state *state, uint32_t argument) {
  const kiln_tuner_driver *driver = state->work->driver;
  const kiln_tuner_argument *about = &state->entry->arguments[argument];
  const kiln_tuner_value *value = &state->values[argument];
  call_array *array = &state->arrays[state->num_arrays];
  const char *error;
  char *contents;
  array->argument = argument;
  array->count = (size_t)value->integer;
  array->bytes = array->count * kiln_tuner_element_bytes(about->element);
  array->memory = NULL;
  array->initial = NULL;
  /* Never null: the generated function refuses that. */
  error = driver->allocate(array->bytes ? array->bytes : 256, &array->memory);
  if (error)
    return error;
  ++state->num_arrays;
  state->actual[argument].address = array->memory;
  contents = malloc(array->bytes ? array->bytes : 1);
  if (!contents)
    return "not enough memory of the host";
  kiln_tuner_fill(contents, about->element, value, argument + 1);
  error = array->bytes ? driver->to_device(array->memory, contents, array->bytes) : NULL;
  if (about->is_const || error)
    free(contents);
  else
    array->initial = contents;
  return error;
}

static const char *prepare(call_state *state, const kiln_tuner_job *job) {
  const kiln_tuner_entry *entry = &state->work->library->entries[job->entry];
  state->entry = entry;
  state->values = entry->values + (size_t)job->call * entry->num_arguments;
  state->num_arrays = 0;
  state->num_groups = 0;
  state->arrays = allocate(state->work, entry->num_arguments * sizeof *state->arrays);
  state->actual = allocate(state->work, entry->num_arguments * sizeof *state->actual);
  state->group_of = allocate(state->work, entry->entry->num_variants * sizeof *state->group_of);
  for (uint32_t v = 0; v < entry->entry->num_variants; ++v)
    state->group_of[v] = MAX_GROUPS;
  for (uint32_t i = 0; i < entry->num_arguments; ++i) {
    const char *error = entry->arguments[i].is_array ? place(state, i) : NULL;
    if (error)
      return error;
    state->actual[i].integer = state->values[i].integer;
    state->actual[i].real = state->values[i].real;
    say(state->work, "call %u", job->call); /* large arrays take their time */
  }
  return NULL;
}

static void free_results(call_state *state, char **results) {
  for (uint32_t a = 0; results && a < state->num_arrays; ++a)
    free(results[a]);
  free(results);
}

static void clean(call_state *state) {
  for (uint32_t g = 0; g < state->num_groups; ++g)
    free_results(state, state->groups[g].results);
  for (uint32_t a = 0; a < state->num_arrays; ++a) {
    state->work->driver->release(state->arrays[a].memory);
    free(state->arrays[a].initial);
  }
  free(state->arrays);
  free(state->actual);
  free(state->group_of);
}

/* --- results --- */

static void fail(const call_state *state, uint32_t variant, const char *reason) {
  say(state->work, "failed %u %s", variant, reason);
  _exit(1);
}

/* Where `a` is not what `b` is: the array's index, or num_arrays. */
static uint32_t difference(const call_state *state, char **a, char **b, size_t *index) {
  for (uint32_t i = 0; i < state->num_arrays; ++i) {
    const call_array *array = &state->arrays[i];
    uint32_t element = state->entry->arguments[array->argument].element;
    double tolerance =
        state->entry->tolerance >= 0 ? state->entry->tolerance : kiln_tuner_tolerance(element);
    if (array->initial && !kiln_tuner_agree(a[i], b[i], array->count, element, tolerance, index))
      return i;
  }
  return state->num_arrays;
}

static void join_group(call_state *state, uint32_t variant, char **results) {
  size_t index;
  for (uint32_t g = 0; g < state->num_groups; ++g)
    if (difference(state, results, state->groups[g].results, &index) == state->num_arrays) {
      ++state->groups[g].size;
      state->group_of[variant] = g;
      free_results(state, results);
      return;
    }
  if (state->num_groups == MAX_GROUPS) {
    free_results(state, results);
    say(state->work, "wrong %u its results are like those of no other", variant);
    return;
  }
  state->group_of[variant] = state->num_groups;
  state->groups[state->num_groups++] = (result_group){variant, 1, results};
}

/* Runs the variant once, on the arrays as they were at first, and keeps what it writes. */
static void run_for_results(call_state *state, uint32_t variant) {
  const kiln_tuner_driver *driver = state->work->driver;
  const char *error = NULL;
  kiln_status status;
  char **results;
  say(state->work, "run %u", variant);
  for (uint32_t a = 0; a < state->num_arrays && !error; ++a)
    if (state->arrays[a].initial && state->arrays[a].bytes)
      error = driver->to_device(state->arrays[a].memory, state->arrays[a].initial,
                                state->arrays[a].bytes);
  if (error)
    fail(state, variant, error);
  status = state->entry->run(variant, state->device.stream, state->actual);
  if (status == KILN_ERROR_NO_VARIANT || status == KILN_ERROR_NO_BINARY) {
    say(state->work, "illegal %u", variant);
    return;
  }
  error = status == KILN_SUCCESS ? driver->finish() : kiln_last_error();
  if (error)
    fail(state, variant, error);
  results = allocate(state->work, state->num_arrays * sizeof *results);
  for (uint32_t a = 0; a < state->num_arrays && !error; ++a) {
    const call_array *array = &state->arrays[a];
    if (!array->initial)
      continue;
    results[a] = allocate(state->work, array->bytes);
    error = array->bytes ? driver->to_host(results[a], array->memory, array->bytes) : NULL;
  }
  if (error)
    fail(state, variant, error);
  join_group(state, variant, results);
}

/* The group of most variants, the first of equals, is right. */
static uint32_t right_group(const call_state *state) {
  uint32_t right = 0;
  for (uint32_t g = 1; g < state->num_groups; ++g)
    if (state->groups[g].size > state->groups[right].size)
      right = g;
  return right;
}

static void say_what_is_wrong(const call_state *state, uint32_t variant, uint32_t right) {
  char **its = state->groups[state->group_of[variant]].results;
  char **others = state->groups[right].results;
  size_t index = 0;
  uint32_t a = difference(state, its, others, &index);
  const kiln_tuner_argument *argument;
  if (a == state->num_arrays) /* agreement is not transitive */
    return;
  argument = &state->entry->arguments[state->arrays[a].argument];
  say(state->work,
      "wrong %u its results are not those of %s (%u of the variants): %s[%zu] is %g, not %g",
      variant, state->entry->entry->variants[state->groups[right].first].name,
      state->groups[right].size, argument->name, index,
      kiln_tuner_number(its[a], index, argument->element),
      kiln_tuner_number(others[a], index, argument->element));
}

/* --- times --- */

static double sample(call_state *state, uint32_t variant) {
  const kiln_tuner_driver *driver = state->work->driver;
  double microseconds = 0;
  const char *error;
  say(state->work, "run %u", variant);
  error = state->flush ? driver->overwrite(state->flush, state->flush_bytes) : NULL;
  if (!error)
    error = driver->start();
  if (!error && state->entry->run(variant, state->device.stream, state->actual) != KILN_SUCCESS)
    error = kiln_last_error();
  if (!error)
    error = driver->stop();
  if (!error)
    error = driver->elapsed(&microseconds);
  if (error)
    fail(state, variant, error);
  return microseconds;
}

/* The least of three, for what interrupts a launch makes it no slower than it is. */
static double quick_time(call_state *state, uint32_t variant) {
  double least = sample(state, variant);
  for (int i = 0; i < 2; ++i) {
    double next = sample(state, variant);
    least = next < least ? next : least;
  }
  return least;
}

/* Warms up, and finds out how many samples there is time for. */
static uint32_t estimate(call_state *state, kiln_tuner_samples *samples, uint32_t count) {
  double best = 0, budget = state->work->milliseconds * 1e3;
  uint32_t rounds = 0;
  for (uint32_t i = 0; i < count; ++i) {
    samples[i].microseconds[0] = quick_time(state, samples[i].variant);
    if (i == 0 || samples[i].microseconds[0] < best)
      best = samples[i].microseconds[0];
  }
  for (uint32_t i = 0; i < count; ++i) {
    double its = samples[i].microseconds[0], fit = budget / (its > 1e-3 ? its : 1e-3);
    bool is_behind = its > FAR_BEHIND * best;
    uint32_t least = is_behind ? FEW_SAMPLES : MIN_SAMPLES;
    samples[i].wanted = is_behind || fit < least       ? least
                        : fit > KILN_TUNER_MAX_SAMPLES ? KILN_TUNER_MAX_SAMPLES
                                                       : (uint32_t)fit;
    if (samples[i].wanted > rounds)
      rounds = samples[i].wanted;
  }
  return rounds;
}

/* In turns, so that what drifts (clocks, heat, neighbours) is everyone's. */
static void time_variants(call_state *state, kiln_tuner_samples *samples, uint32_t count) {
  uint32_t rounds = estimate(state, samples, count);
  double *times = allocate(state->work, count * sizeof *times);
  for (uint32_t round = 0; round < rounds; ++round)
    for (uint32_t i = 0; i < count; ++i)
      if (round < samples[i].wanted)
        samples[i].microseconds[samples[i].count++] = sample(state, samples[i].variant);
  kiln_tuner_fit(samples, count, times);
  for (uint32_t i = 0; i < count; ++i)
    say(state->work, "time %u %.3f", samples[i].variant, times[i]);
  free(times);
}

static void say_what_the_model_takes(const call_state *state) {
  uint32_t variant = 0;
  if (state->entry->choose(state->device.stream, state->actual, &variant) == KILN_SUCCESS)
    say(state->work, "model %u", variant);
}

static bool is_given_up(const call_state *state, const kiln_tuner_job *job, uint32_t variant) {
  if (state->work->strikes[job->entry][variant] < KILN_TUNER_STRIKES)
    return false;
  say(state->work, "wrong %u ended the process in %d calls before", variant, KILN_TUNER_STRIKES);
  return true;
}

static void measure(call_state *state, const kiln_tuner_job *job, const bool *left_out) {
  uint32_t num_variants = state->entry->entry->num_variants, count = 0, right;
  kiln_tuner_samples *samples;
  for (uint32_t v = 0; v < num_variants; ++v)
    if ((!left_out || !left_out[v]) && !is_given_up(state, job, v))
      run_for_results(state, v);
  samples = allocate(state->work, num_variants * sizeof *samples);
  right = right_group(state);
  for (uint32_t v = 0; v < num_variants; ++v)
    if (state->group_of[v] == right)
      samples[count++].variant = v;
    else if (state->group_of[v] != MAX_GROUPS)
      say_what_is_wrong(state, v, right);
  say_what_the_model_takes(state);
  time_variants(state, samples, count);
  free(samples);
}

int kiln_tuner_measure(const kiln_tuner_work *work, const kiln_tuner_job *jobs, uint32_t num_jobs,
                       const bool *left_out) {
  call_state state = {.work = work};
  if (!open_device(&state))
    return 1;
  state.flush_bytes = FLUSH_FACTOR * state.device.cache_bytes;
  if (!work->warm) {
    const char *error = work->driver->allocate(state.flush_bytes, &state.flush);
    if (error) {
      say(work, "fatal %s", error);
      return 1;
    }
  }
  for (uint32_t j = 0; j < num_jobs; ++j) {
    const char *error;
    say(work, "call %u", jobs[j].call);
    error = prepare(&state, &jobs[j]);
    if (error) {
      say(work, "skip %u %s", jobs[j].call, error);
    } else {
      measure(&state, &jobs[j], j == 0 ? left_out : NULL);
      say(work, "done %u", jobs[j].call);
    }
    clean(&state);
  }
  return 0;
}
