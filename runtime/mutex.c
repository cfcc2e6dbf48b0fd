#include "runtime/mutex.h"

static kiln_os_mutex list_mutex = KILN_OS_MUTEX_INITIALIZER;
static kiln_mutex *list;
static bool is_watching;
static atomic_uint forks;

/* Its address names the thread. */
static _Thread_local char self;

static void give_back(const kiln_mutex *end) {
  for (kiln_mutex *mutex = list; mutex != end; mutex = mutex->next)
    if (atomic_load(&mutex->holder) != &self)
      kiln_os_unlock(&mutex->plain);
}

/* Takes all, or none: a thread that holds one may be waiting for another, in any order. One that
 * the forking thread itself holds it goes on holding, on both sides. */
static bool take_all(void) {
  for (kiln_mutex *mutex = list; mutex; mutex = mutex->next)
    if (!kiln_os_try_lock(&mutex->plain) && atomic_load(&mutex->holder) != &self) {
      give_back(mutex);
      return false;
    }
  return true;
}

static void before_fork(void) {
  for (;;) {
    kiln_os_lock(&list_mutex);
    if (take_all())
      return;
    kiln_os_unlock(&list_mutex);
    kiln_os_yield();
  }
}

static void in_parent(void) {
  give_back(NULL);
  kiln_os_unlock(&list_mutex);
}

static void in_child(void) {
  atomic_fetch_add(&forks, 1);
  in_parent();
}

/* Before it is locked for the first time: no fork is under way that has not taken it. */
static void make_known(kiln_mutex *mutex) {
  kiln_os_lock(&list_mutex);
  if (!atomic_load(&mutex->is_known)) {
    if (!is_watching)
      is_watching = kiln_os_watch_forks(before_fork, in_parent, in_child);
    kiln_os_init_mutex(&mutex->plain);
    mutex->next = list;
    list = mutex;
    atomic_store(&mutex->is_known, true);
  }
  kiln_os_unlock(&list_mutex);
}

void kiln_lock(kiln_mutex *mutex) {
  if (!atomic_load_explicit(&mutex->is_known, memory_order_acquire))
    make_known(mutex);
  kiln_os_lock(&mutex->plain);
  atomic_store_explicit(&mutex->holder, &self, memory_order_relaxed);
}

void kiln_unlock(kiln_mutex *mutex) {
  atomic_store_explicit(&mutex->holder, NULL, memory_order_relaxed);
  kiln_os_unlock(&mutex->plain);
}

void kiln_wait(kiln_os_condition *condition, kiln_mutex *mutex) {
  atomic_store_explicit(&mutex->holder, NULL, memory_order_relaxed);
  kiln_os_wait(condition, &mutex->plain);
  atomic_store_explicit(&mutex->holder, &self, memory_order_relaxed);
}

void kiln_mutex_destroy(kiln_mutex *mutex) {
  if (!atomic_load(&mutex->is_known))
    return;
  kiln_os_lock(&list_mutex);
  kiln_mutex **place = &list;
  while (*place != mutex)
    place = &(*place)->next;
  *place = mutex->next;
  kiln_os_unlock(&list_mutex);
  kiln_os_destroy_mutex(&mutex->plain);
}

unsigned kiln_forks(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }
