/* The process that keeps the results, and looks after the one that runs kernels. */
#define _GNU_SOURCE
#include "tuner/kiln_tuner.h"
#include "tuner/tuner.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t worker_to_end;

/* The file is whole at any time; only the worker must not stay. */
static void end_worker(int number) {
  if (worker_to_end > 0)
    kill((pid_t)worker_to_end, SIGKILL);
  _exit(128 + number);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- what the worker says --- */

static void print_call(const tuner *tuner) {
  kiln_tuner_text text = {0};
  kiln_tuner_add_shape(&text, tuner, kiln_tuner_current(tuner), false);
  fprintf(stderr, "%s %s: ", kiln_tuner_entry_of(tuner, kiln_tuner_current(tuner))->entry->name,
          text.bytes ? text.bytes : "");
  free(text.bytes);
}

static void fail_variant(tuner *tuner, uint32_t variant, const char *reason) {
  tuner->has_reported = true;
  free(tuner->failures[variant]);
  tuner->failures[variant] = strdup(reason);
  tuner->left_out[variant] = true;
  tuner->times[variant] = 0;
  tuner->running = NO_VARIANT;
  print_call(tuner);
  fprintf(stderr, "%s failed: %s\n",
          kiln_tuner_entry_of(tuner, kiln_tuner_current(tuner))->entry->variants[variant].name,
          reason);
}

static void print_progress(const tuner *tuner) {
  const kiln_tuner_entry *entry = kiln_tuner_entry_of(tuner, kiln_tuner_current(tuner));
  uint32_t best = 0, count = 0, failed = 0, done = tuner->next_job + 1;
  double left = (seconds() - tuner->start) / done * (tuner->num_jobs - done);
  for (uint32_t v = 0; v < entry->entry->num_variants; ++v) {
    failed += tuner->failures[v] != NULL;
    if (tuner->times[v] <= 0)
      continue;
    if (!count++ || tuner->times[v] < tuner->times[best])
      best = v;
  }
  fprintf(stderr, "[%u/%u] ", done, tuner->num_jobs);
  print_call(tuner);
  if (count)
    fprintf(stderr, "%.1f us with %s, best of %u", tuner->times[best],
            entry->entry->variants[best].name, count);
  else
    fprintf(stderr, "no variant runs");
  if (failed)
    fprintf(stderr, ", %u failed", failed);
  fprintf(stderr, "; %d:%02d left\n", (int)left / 60, (int)left % 60);
}

static void clear_job(tuner *tuner) {
  uint32_t most = 0;
  for (uint32_t e = 0; e < tuner->library->num_entries; ++e)
    if (tuner->library->entries[e].entry->num_variants > most)
      most = tuner->library->entries[e].entry->num_variants;
  for (uint32_t v = 0; tuner->failures && v < most; ++v)
    free(tuner->failures[v]);
  free(tuner->failures);
  free(tuner->times);
  free(tuner->left_out);
  tuner->failures = calloc(most, sizeof *tuner->failures);
  tuner->times = calloc(most, sizeof *tuner->times);
  tuner->left_out = calloc(most, sizeof *tuner->left_out);
  if (!tuner->failures || !tuner->times || !tuner->left_out) {
    fputs("not enough memory\n", stderr);
    exit(1);
  }
  tuner->running = tuner->model = NO_VARIANT;
}

/* How much the library's own choice loses. */
static void judge_model(tuner *tuner) {
  uint32_t count = kiln_tuner_entry_of(tuner, kiln_tuner_current(tuner))->entry->num_variants;
  double best = 0, loss;
  for (uint32_t v = 0; v < count; ++v)
    if (tuner->times[v] > 0 && (best == 0 || tuner->times[v] < best))
      best = tuner->times[v];
  if (tuner->model == NO_VARIANT || tuner->times[tuner->model] <= 0)
    return;
  loss = tuner->times[tuner->model] / best;
  tuner->model_losses += log(loss);
  if (loss > tuner->worst_model)
    tuner->worst_model = loss;
  ++tuner->num_model;
}

static void finish_job(tuner *tuner) {
  const char *error;
  tuner->has_reported = true;
  kiln_tuner_add_line(tuner);
  error = kiln_tuner_save(&tuner->results);
  if (error) {
    fprintf(stderr, "%s\n", error);
    tuner->is_fatal = true;
    return;
  }
  print_progress(tuner);
  judge_model(tuner);
  ++tuner->next_job;
  clear_job(tuner);
}

static void skip_job(tuner *tuner, const char *reason) {
  tuner->has_reported = true;
  print_call(tuner);
  fprintf(stderr, "not measured: %s\n", reason);
  ++tuner->num_skipped;
  ++tuner->next_job;
  clear_job(tuner);
}

static void hear(tuner *tuner, char *line) {
  char word[16] = "";
  unsigned number = 0, row = 0;
  int rest = 0;
  sscanf(line, "%15s %n", word, &rest);
  if (strcmp(word, "fatal") == 0) {
    fprintf(stderr, "%s: %s\n", tuner->options.work.driver->name, line + rest);
    tuner->is_fatal = true;
  } else if (strcmp(word, "device") == 0) {
    snprintf(tuner->device, sizeof tuner->device, "%s", line + rest);
  } else if (strcmp(word, "driver") == 0) {
    snprintf(tuner->driver, sizeof tuner->driver, "%.100s", line + rest);
  } else if (strcmp(word, "processors") == 0) {
    sscanf(line + rest, "%u", &tuner->processors);
  } else if (strcmp(word, "target") == 0) {
    if (sscanf(line + rest, "%u %u", &number, &row) == 2 && number < tuner->library->num_entries)
      tuner->targets[number] = row;
  } else if (sscanf(line + rest, "%u %n", &number, &row) >= 1) {
    const char *reason = line + rest + strcspn(line + rest, " ");
    reason += *reason == ' ';
    if (strcmp(word, "done") == 0) {
      finish_job(tuner);
    } else if (strcmp(word, "skip") == 0) {
      skip_job(tuner, reason);
    } else if (number <
               kiln_tuner_entry_of(tuner, kiln_tuner_current(tuner))->entry->num_variants) {
      if (strcmp(word, "run") == 0)
        tuner->running = (int)number;
      else if (strcmp(word, "illegal") == 0)
        tuner->running = NO_VARIANT;
      else if (strcmp(word, "failed") == 0 || strcmp(word, "wrong") == 0)
        fail_variant(tuner, number, reason);
      else if (strcmp(word, "model") == 0)
        tuner->model = (int)number;
      else if (strcmp(word, "time") == 0)
        tuner->times[number] = strtod(reason, NULL);
    }
  }
}

/* --- the worker --- */

static int start_worker(tuner *tuner, bool is_probe) {
  int ends[2];
  fflush(NULL);
  if (pipe(ends) != 0) {
    fprintf(stderr, "cannot start a worker: %s\n", strerror(errno));
    return -1;
  }
  tuner->worker = fork();
  if (tuner->worker == 0) {
    close(ends[0]);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    tuner->options.work.pipe = ends[1];
    _exit(is_probe ? kiln_tuner_probe(&tuner->options.work)
                   : kiln_tuner_measure(&tuner->options.work, kiln_tuner_current(tuner),
                                        tuner->num_jobs - tuner->next_job, tuner->left_out));
  }
  close(ends[1]);
  if (tuner->worker < 0) {
    fprintf(stderr, "cannot start a worker: %s\n", strerror(errno));
    close(ends[0]);
    return -1;
  }
  worker_to_end = (sig_atomic_t)tuner->worker;
  tuner->length = 0;
  return ends[0];
}

/* Hears whole lines. False at the end of what the worker says. */
static bool listen_once(tuner *tuner, int pipe) {
  ssize_t count = read(pipe, tuner->line + tuner->length, sizeof tuner->line - 1 - tuner->length);
  char *newline;
  if (count < 0 && errno == EINTR)
    return true;
  if (count <= 0)
    return false;
  tuner->length += (size_t)count;
  tuner->line[tuner->length] = 0;
  while ((newline = strchr(tuner->line, '\n')) != NULL) {
    size_t used = (size_t)(newline + 1 - tuner->line);
    *newline = 0;
    hear(tuner, tuner->line);
    memmove(tuner->line, tuner->line + used, tuner->length + 1 - used);
    tuner->length -= used;
  }
  if (tuner->length == sizeof tuner->line - 1)
    tuner->length = 0; /* no line of a worker is so long */
  return true;
}

/* Until it ends; true where it was silent for too long and was ended. */
static bool listen_to_worker(tuner *tuner, int pipe) {
  struct pollfd wait = {pipe, POLLIN, 0};
  for (;;) {
    int ready =
        poll(&wait, 1,
             (int)(tuner->options.limit * 1000 > 2000000000u ? 2000000000u
                                                             : tuner->options.limit * 1000));
    if (ready == 0) {
      kill(tuner->worker, SIGKILL);
      return true;
    }
    if (ready < 0 && errno == EINTR)
      continue;
    if (!listen_once(tuner, pipe) || tuner->is_fatal)
      return false;
  }
}

/* Lets a worker do what is left, up to its end. False where nothing more can be done. */
static bool run_worker(tuner *tuner, bool is_probe) {
  char reason[256] = "";
  bool hung;
  tuner->has_reported = false;
  int status = 0, pipe = start_worker(tuner, is_probe);
  if (pipe < 0)
    return false;
  hung = listen_to_worker(tuner, pipe);
  if (tuner->is_fatal)
    kill(tuner->worker, SIGKILL);
  while (waitpid(tuner->worker, &status, 0) < 0 && errno == EINTR)
    continue;
  worker_to_end = 0;
  close(pipe);
  if (tuner->is_fatal)
    return false;
  if (hung)
    snprintf(reason, sizeof reason, "took longer than %u seconds", tuner->options.limit);
  else if (WIFSIGNALED(status))
    snprintf(reason, sizeof reason, "crashed with signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status))
    snprintf(reason, sizeof reason, "ended the process with status %d", WEXITSTATUS(status));
  if (is_probe) {
    if (*reason)
      fprintf(stderr, "%s: opening the device %s\n", tuner->options.work.driver->name, reason);
    return !*reason && *tuner->driver;
  }
  if (tuner->running != NO_VARIANT) {
    unsigned char *strikes =
        &tuner->strikes[kiln_tuner_current(tuner)->entry][(uint32_t)tuner->running];
    if (*strikes < KILN_TUNER_STRIKES)
      ++*strikes;
    fail_variant(tuner, (uint32_t)tuner->running, *reason ? reason : "ended the process");
  } else if (!tuner->has_reported && tuner->next_job < tuner->num_jobs)
    skip_job(tuner, *reason ? reason : "the worker ended");
  return true;
}

/* --- the whole --- */

static void list_jobs(tuner *tuner) {
  tuner->jobs = NULL;
  for (uint32_t e = 0; e < tuner->library->num_entries; ++e) {
    const kiln_tuner_entry *entry = &tuner->library->entries[e];
    if (tuner->options.entry && strcmp(tuner->options.entry, entry->entry->name) != 0)
      continue;
    tuner->jobs = realloc(tuner->jobs, (tuner->num_jobs + entry->num_calls) * sizeof *tuner->jobs);
    if (!tuner->jobs) {
      fputs("not enough memory\n", stderr);
      exit(1);
    }
    for (uint32_t c = 0; c < entry->num_calls; ++c)
      tuner->jobs[tuner->num_jobs++] = (kiln_tuner_job){e, c};
  }
}

/* Takes the jobs out that the file has. */
static void drop_done_jobs(tuner *tuner) {
  uint32_t kept = 0, all = tuner->num_jobs;
  for (uint32_t j = 0; j < all; ++j) {
    kiln_tuner_text beginning = {0};
    kiln_tuner_add_beginning(&beginning, tuner, &tuner->jobs[j]);
    if (!kiln_tuner_has(&tuner->results, beginning.bytes))
      tuner->jobs[kept++] = tuner->jobs[j];
    free(beginning.bytes);
  }
  tuner->num_jobs = kept;
  if (kept < all)
    fprintf(stderr, "%u of %u calls are in '%s' already\n", all - kept, all, tuner->results.path);
}

static void *cleared(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) {
    fputs("not enough memory\n", stderr);
    exit(1);
  }
  return memory;
}

static void prepare(tuner *tuner) {
  const kiln_tuner_library *library = tuner->library;
  tuner->targets = cleared(library->num_entries, sizeof *tuner->targets);
  tuner->strikes = cleared(library->num_entries, sizeof *tuner->strikes);
  for (uint32_t e = 0; e < library->num_entries; ++e)
    tuner->strikes[e] = cleared(library->entries[e].entry->num_variants, 1);
  tuner->options.work.strikes = tuner->strikes;
}

static int print_list(tuner *tuner) {
  for (; tuner->next_job < tuner->num_jobs; ++tuner->next_job) {
    kiln_tuner_text text = {0};
    kiln_tuner_add_shape(&text, tuner, kiln_tuner_current(tuner), false);
    printf("%s %s\n", kiln_tuner_entry_of(tuner, kiln_tuner_current(tuner))->entry->name,
           text.bytes ? text.bytes : "");
    free(text.bytes);
  }
  return 0;
}

static int measure(tuner *tuner) {
  const char *error;
  if (!run_worker(tuner, true))
    return 1;
  kiln_tuner_write_header(tuner);
  error = tuner->options.restart ? NULL : kiln_tuner_resume(&tuner->results);
  if (!error)
    drop_done_jobs(tuner);
  if (!error) /* also finds out at once whether it can be written */
    error = kiln_tuner_save(&tuner->results);
  if (error) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  fprintf(stderr, "%s: %u calls\n", tuner->device, tuner->num_jobs);
  tuner->start = seconds();
  while (tuner->next_job < tuner->num_jobs)
    if (!run_worker(tuner, false))
      return 1;
  if (tuner->num_model)
    fprintf(stderr,
            "without measurements the library is %.1f %% slower than the fastest in the mean, %.1f "
            "%% at most\n",
            100 * expm1(tuner->model_losses / tuner->num_model), 100 * (tuner->worst_model - 1));
  return tuner->num_skipped != 0;
}

int kiln_tuner_main(const kiln_tuner_library *library, int argc, char **argv) {
  tuner tuner = {.library = library};
  int status;
  if (!kiln_tuner_read_options(library, argc, argv, &tuner.options, &status))
    return status;
  tuner.results.path = tuner.options.output;
  prepare(&tuner);
  list_jobs(&tuner);
  clear_job(&tuner);
  if (tuner.options.list)
    return print_list(&tuner);
  signal(SIGINT, end_worker);
  signal(SIGTERM, end_worker);
  return measure(&tuner);
}
