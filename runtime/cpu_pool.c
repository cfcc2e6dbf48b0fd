/*
 * The CPU thread pool.
 *
 * A launch is a job on the launching thread's stack. It is queued, the pool's threads help with the
 * oldest job that has instances left, and the launching thread works on its own until nothing is
 * left, then waits for its helpers. So a launch never depends on another thread being free: nested
 * launches and launches from many threads cannot deadlock, and a pool of one needs no thread at
 * all.
 *
 * Instances are claimed from one counter in increasing order, a few at a time, and each thread runs
 * its claim in order: the lowest unfinished instance is always one that a thread is at, so kernels
 * that wait for lower ids make progress. (Work stealing between halves of the grid would be cheaper
 * on the counter and lose that.)
 */
#include "runtime/cpu_pool.h"
#include "runtime/cpu_arena.h"
#include "runtime/mutex.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_THREADS = 4096,
  MAX_CHUNK = 64,
  CHUNKS_A_THREAD = 8,
  FAILURE_CAPACITY = 512,
  ARENA_ALIGNMENT = 64
};

typedef struct job {
  struct job *next; /* in the queue, oldest first */
  kiln_host_function function;
  void *const *params;
  uint32_t grid[3];
  uint32_t chunk; /* instances claimed at once */
  uint64_t total;
  uint64_t arena_bytes;
  char *arenas;        /* one for each thread that takes part; null: they have their own */
  unsigned helpers;    /* pool threads at work; under the pool's mutex */
  unsigned num_joined; /* that ever were, each of them once; under the pool's mutex */
  _Atomic uint64_t next_instance;
  atomic_flag has_failed; /* who sets it writes `failure` */
  bool failed;            /* read when all instances are done */
  char failure[FAILURE_CAPACITY];
} job;

/* Where an instance that fails returns to. */
typedef struct escape {
  jmp_buf place;
  job *running;
} escape;

static _Thread_local escape *current_escape;

struct kiln_cpu_pool {
  kiln_mutex mutex;
  kiln_os_condition work; /* a job was queued, or stop */
  kiln_os_condition done; /* some job lost its last helper */
  job *queue;
  bool stop;
  uint32_t num_threads; /* with the launching one */
  uint32_t num_started;
  atomic_uint forks; /* kiln_forks() when the threads were started */
  kiln_os_thread threads[];
};

/* --- jobs --- */

static bool exhausted(job *j) {
  return atomic_load_explicit(&j->next_instance, memory_order_relaxed) >= j->total;
}

static void run_instances(const job *j, uint64_t begin, uint64_t end, void *base) {
  uint64_t width = j->grid[0], plane = width * j->grid[1];
  uint32_t id[3] = {(uint32_t)(begin % width), (uint32_t)(begin / width % j->grid[1]),
                    (uint32_t)(begin / plane)};
  for (uint64_t i = begin; i < end; ++i) {
    /* The kernel sees its own copy: nothing it does to it moves the next instance. */
    const uint32_t program[3] = {id[0], id[1], id[2]};
    j->function(j->params, program, j->grid, base);
    if (++id[0] == j->grid[0]) {
      id[0] = 0;
      if (++id[1] == j->grid[1]) {
        id[1] = 0;
        ++id[2];
      }
    }
  }
}

/* The rest of the range is left out after an instance that fails. */
static void run_range(job *j, uint64_t begin, uint64_t end, void *base) {
  escape mine, *const outer = current_escape;
  mine.running = j;
  current_escape = &mine;
  if (kiln_os_setjmp(mine.place) == 0)
    run_instances(j, begin, end, base);
  current_escape = outer;
}

void kiln_device_fail(const char *message, const char *reason, const uint32_t program_id[3]) {
  char text[FAILURE_CAPACITY];
  snprintf(text, sizeof text, "%s, program (%u, %u, %u): %s", message, program_id[0], program_id[1],
           program_id[2], reason);
  if (!current_escape) {
    fprintf(stderr, "%s\n", text);
    abort();
  }
  job *j = current_escape->running;
  if (!atomic_flag_test_and_set(&j->has_failed)) {
    memcpy(j->failure, text, sizeof text);
    j->failed = true;
  }
  /* No further instance starts. */
  atomic_store_explicit(&j->next_instance, j->total, memory_order_relaxed);
  kiln_os_longjmp(current_escape->place);
}

static void work_on(job *j, void *base) {
  for (;;) {
    uint64_t begin = atomic_fetch_add_explicit(&j->next_instance, j->chunk, memory_order_relaxed);
    if (begin >= j->total)
      return;
    uint64_t end = begin + j->chunk < j->total ? begin + j->chunk : j->total;
    run_range(j, begin, end, base);
  }
}

static uint64_t arena_stride(uint64_t arena_bytes) {
  return (arena_bytes + ARENA_ALIGNMENT - 1) & ~(uint64_t)(ARENA_ALIGNMENT - 1);
}

/* A thread of the pool, the `number`th that joins. False: it has no memory for that. */
static bool help(job *j, unsigned number) {
  void *base = j->arenas ? j->arenas + number * arena_stride(j->arena_bytes) : NULL;
  if (!base && kiln_acquire_arena(j->arena_bytes, &base) != KILN_SUCCESS)
    return false;
  work_on(j, base);
  if (!j->arenas)
    kiln_release_arena();
  return true;
}

/* The oldest job with instances left. Under the mutex. */
static job *find_work(kiln_cpu_pool *pool) {
  for (job *j = pool->queue; j; j = j->next)
    if (!exhausted(j))
      return j;
  return NULL;
}

static void *thread_main(void *pointer) {
  kiln_cpu_pool *pool = pointer;
  kiln_lock(&pool->mutex);
  while (!pool->stop) {
    job *j = find_work(pool);
    if (!j) {
      kiln_wait(&pool->work, &pool->mutex);
      continue;
    }
    ++j->helpers;
    unsigned number = ++j->num_joined;
    kiln_unlock(&pool->mutex);
    bool helped = help(j, number);
    kiln_lock(&pool->mutex);
    if (--j->helpers == 0)
      kiln_os_broadcast(&pool->done);
    if (!helped) /* no memory here: the launching thread does the work; look again at the next job
                  */
      kiln_wait(&pool->work, &pool->mutex);
  }
  kiln_unlock(&pool->mutex);
  return NULL;
}

static void enqueue(kiln_cpu_pool *pool, job *j) {
  job **tail = &pool->queue;
  while (*tail)
    tail = &(*tail)->next;
  *tail = j;
}

static void dequeue(kiln_cpu_pool *pool, const job *j) {
  job **link = &pool->queue;
  while (*link != j)
    link = &(*link)->next;
  *link = j->next;
}

/* No more threads than there are claims left for. Under the mutex. */
static void wake_helpers(kiln_cpu_pool *pool, const job *j) {
  uint64_t claims = (j->total + j->chunk - 1) / j->chunk;
  if (claims > pool->num_started) {
    kiln_os_broadcast(&pool->work);
    return;
  }
  for (uint64_t i = 1; i < claims; ++i)
    kiln_os_signal(&pool->work);
}

static void run_shared(kiln_cpu_pool *pool, job *j, void *base) {
  kiln_lock(&pool->mutex);
  enqueue(pool, j);
  wake_helpers(pool, j);
  kiln_unlock(&pool->mutex);
  work_on(j, base);
  kiln_lock(&pool->mutex);
  dequeue(pool, j);
  while (j->helpers)
    kiln_wait(&pool->done, &pool->mutex);
  kiln_unlock(&pool->mutex);
}

/* --- threads --- */

/* Without threads, before they are started: also in the child of a fork, which has not inherited
 * them, nor the launches of others. */
static void begin(kiln_cpu_pool *pool) {
  kiln_os_init_condition(&pool->work);
  kiln_os_init_condition(&pool->done);
  pool->queue = NULL;
  pool->num_started = 0;
  atomic_store(&pool->forks, kiln_forks());
}

static bool has_lost_threads(kiln_cpu_pool *pool) {
  return atomic_load_explicit(&pool->forks, memory_order_relaxed) != kiln_forks();
}

static int start_threads(kiln_cpu_pool *pool) {
  return kiln_os_start_threads(pool->threads, pool->num_threads - 1, thread_main, pool,
                               &pool->num_started);
}

/* In the child of a fork, whose first launch this may be. Those that cannot be started are not
 * missed: the launching thread does the work. */
static void replace_lost_threads(kiln_cpu_pool *pool) {
  kiln_lock(&pool->mutex);
  if (has_lost_threads(pool)) {
    begin(pool);
    start_threads(pool);
  }
  kiln_unlock(&pool->mutex);
}

static uint32_t chunk_of(uint64_t total, uint32_t threads) {
  uint64_t chunk = total / ((uint64_t)threads * CHUNKS_A_THREAD);
  return chunk < 1 ? 1 : chunk > MAX_CHUNK ? MAX_CHUNK : (uint32_t)chunk;
}

kiln_status kiln_cpu_pool_run(kiln_cpu_pool *pool, kiln_host_function function,
                              const uint32_t grid[3], void *const *params, uint64_t arena_bytes,
                              void *arenas) {
  job j = {.function = function,
           .params = params,
           .grid = {grid[0], grid[1], grid[2]},
           .total = (uint64_t)grid[0] * grid[1] * grid[2],
           .arena_bytes = arena_bytes,
           .arenas = arenas,
           .has_failed = ATOMIC_FLAG_INIT};
  void *base = arenas;
  kiln_status status = arenas ? KILN_SUCCESS : kiln_acquire_arena(arena_bytes, &base);
  if (status != KILN_SUCCESS)
    return status;
  if (pool->num_threads == 1 || j.total == 1) {
    run_range(&j, 0, j.total, base);
  } else {
    if (has_lost_threads(pool))
      replace_lost_threads(pool);
    j.chunk = chunk_of(j.total, pool->num_threads);
    run_shared(pool, &j, base);
  }
  if (!arenas)
    kiln_release_arena();
  return j.failed ? kiln_error(KILN_ERROR_LAUNCH, "%s", j.failure) : KILN_SUCCESS;
}

uint64_t kiln_cpu_pool_arena_bytes(const kiln_cpu_pool *pool, uint64_t arena_bytes) {
  return pool->num_threads * arena_stride(arena_bytes);
}

/* --- pools --- */

static uint32_t available_cpus(void) {
  uint32_t count = kiln_os_num_cpus();
  return count <= MAX_THREADS ? count : MAX_THREADS;
}

kiln_status kiln_cpu_pool_create(uint32_t num_threads, kiln_cpu_pool **result) {
  if (!result || num_threads > MAX_THREADS)
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT,
                      "kiln_cpu_pool_create: expected a result pointer and at most %d threads, got "
                      "%u threads",
                      MAX_THREADS, num_threads);
  *result = NULL;
  if (num_threads == 0)
    num_threads = available_cpus();
  kiln_cpu_pool *pool = calloc(1, sizeof *pool + (num_threads - 1) * sizeof *pool->threads);
  if (!pool)
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory for a pool of %u threads", num_threads);
  pool->num_threads = num_threads;
  begin(pool);
  int error = start_threads(pool);
  if (error) {
    uint32_t started = pool->num_started;
    kiln_cpu_pool_destroy(pool);
    return kiln_error(KILN_ERROR_STATE, "thread %u of a cpu pool of %u cannot be started: %s",
                      started + 1, num_threads, strerror(error));
  }
  *result = pool;
  return KILN_SUCCESS;
}

void kiln_cpu_pool_destroy(kiln_cpu_pool *pool) {
  if (!pool)
    return;
  kiln_lock(&pool->mutex);
  if (has_lost_threads(pool))
    begin(pool);
  pool->stop = true;
  kiln_os_broadcast(&pool->work);
  kiln_unlock(&pool->mutex);
  for (uint32_t i = 0; i < pool->num_started; ++i)
    kiln_os_join_thread(pool->threads[i]);
  kiln_os_destroy_condition(&pool->done);
  kiln_os_destroy_condition(&pool->work);
  kiln_mutex_destroy(&pool->mutex);
  free(pool);
}

static kiln_mutex default_mutex;
static kiln_cpu_pool *default_pool;

kiln_status kiln_default_pool(kiln_cpu_pool **pool) {
  *pool = __atomic_load_n(&default_pool, __ATOMIC_ACQUIRE);
  if (*pool)
    return KILN_SUCCESS;
  kiln_status status = KILN_SUCCESS;
  kiln_lock(&default_mutex);
  *pool = default_pool;
  if (!*pool) {
    status = kiln_cpu_pool_create(0, pool);
    __atomic_store_n(&default_pool, *pool, __ATOMIC_RELEASE);
  }
  kiln_unlock(&default_mutex);
  return status;
}

uint32_t kiln_cpu_pool_threads(kiln_cpu_pool *pool) {
  if (!pool && kiln_default_pool(&pool) != KILN_SUCCESS)
    return 0;
  return pool->num_threads;
}

void kiln_close_default_pool(void) {
  kiln_lock(&default_mutex);
  kiln_cpu_pool_destroy(default_pool);
  __atomic_store_n(&default_pool, (kiln_cpu_pool *)NULL, __ATOMIC_RELEASE);
  kiln_unlock(&default_mutex);
}
