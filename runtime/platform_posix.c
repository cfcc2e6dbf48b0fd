/* platform.h for POSIX systems. What only Linux has is for Linux alone; others do with less. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity, sched_getcpu, RTLD_DEFAULT */
#endif
#include "runtime/platform.h"

#ifndef _WIN32

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void kiln_os_init_mutex(kiln_os_mutex *mutex) { pthread_mutex_init(mutex, NULL); }
void kiln_os_destroy_mutex(kiln_os_mutex *mutex) { pthread_mutex_destroy(mutex); }
void kiln_os_lock(kiln_os_mutex *mutex) { pthread_mutex_lock(mutex); }
bool kiln_os_try_lock(kiln_os_mutex *mutex) { return pthread_mutex_trylock(mutex) == 0; }
void kiln_os_unlock(kiln_os_mutex *mutex) { pthread_mutex_unlock(mutex); }

void kiln_os_init_condition(kiln_os_condition *condition) { pthread_cond_init(condition, NULL); }
void kiln_os_destroy_condition(kiln_os_condition *condition) { pthread_cond_destroy(condition); }
void kiln_os_wait(kiln_os_condition *condition, kiln_os_mutex *mutex) {
  pthread_cond_wait(condition, mutex);
}
void kiln_os_signal(kiln_os_condition *condition) { pthread_cond_signal(condition); }
void kiln_os_broadcast(kiln_os_condition *condition) { pthread_cond_broadcast(condition); }

void kiln_os_call_once(kiln_os_once *once, void (*function)(void)) { pthread_once(once, function); }

int kiln_os_start_threads(kiln_os_thread *threads, uint32_t count, void *(*start)(void *),
                          void *argument, uint32_t *num_started) {
  sigset_t all, previous;
  sigfillset(&all);
  int error = pthread_sigmask(SIG_SETMASK, &all, &previous);
  if (error)
    return error;
  while (!error && *num_started < count) {
    error = pthread_create(&threads[*num_started], NULL, start, argument);
    if (!error)
      ++*num_started;
  }
  pthread_sigmask(SIG_SETMASK, &previous, NULL);
  return error;
}

void kiln_os_join_thread(kiln_os_thread thread) { pthread_join(thread, NULL); }
void kiln_os_yield(void) { sched_yield(); }

bool kiln_os_create_key(kiln_os_key *key, void (*destroy)(void *)) {
  return pthread_key_create(key, destroy) == 0;
}
bool kiln_os_set_key(kiln_os_key key, void *value) { return pthread_setspecific(key, value) == 0; }
void kiln_os_delete_key(kiln_os_key key) { pthread_key_delete(key); }

bool kiln_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  return pthread_atfork(before, in_parent, in_child) == 0;
}

uint32_t kiln_os_num_cpus(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return (uint32_t)CPU_COUNT(&set);
#endif
#ifdef _SC_NPROCESSORS_ONLN
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (online > 0 && online <= INT32_MAX)
    return (uint32_t)online;
#endif
  return 1;
}

uint32_t kiln_os_current_cpu(void) {
#ifdef __linux__
  int number = sched_getcpu();
  return number < 0 ? 0 : (uint32_t)number;
#else
  return 0;
#endif
}

uint64_t kiln_os_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void *kiln_os_allocate_aligned(size_t alignment, size_t bytes) {
  void *memory;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}
void kiln_os_free_aligned(void *memory) { free(memory); }

int kiln_os_replace_file(const char *from, const char *to) {
  return rename(from, to) == 0 ? 0 : errno;
}

/* Up to the last slash; false where there is none, or no room. */
static bool keep_folder(char *folder, const char *path, size_t length, size_t capacity) {
  while (length > 0 && path[length - 1] != '/')
    --length;
  if (length == 0 || length >= capacity)
    return false;
  memmove(folder, path, length);
  folder[length] = '\0';
  return true;
}

/* The loader knows a program by the word that it was called by, which need not be a path. */
bool kiln_os_folder_of(const void *address, char *folder, size_t capacity) {
#if defined(__linux__) || defined(__APPLE__)
  Dl_info info;
  if (dladdr((void *)address, &info) && info.dli_fname &&
      keep_folder(folder, info.dli_fname, strlen(info.dli_fname), capacity))
    return true;
#else
  (void)address;
#endif
#ifdef __linux__
  ssize_t length = readlink("/proc/self/exe", folder, capacity);
  return length > 0 && (size_t)length < capacity &&
         keep_folder(folder, folder, (size_t)length, capacity);
#else
  (void)keep_folder;
  (void)folder, (void)capacity;
  return false;
#endif
}

void *kiln_os_open_library(const char *path, bool resolves_now) {
  return dlopen(path, (resolves_now ? RTLD_NOW : RTLD_LAZY) | RTLD_LOCAL);
}

const char *kiln_os_library_error(void) {
  const char *reason = dlerror();
  return reason ? reason : "it cannot be opened";
}

void kiln_os_close_library(void *library) { dlclose(library); }

/* POSIX has the program's own names at a null path; glibc, by RTLD_DEFAULT, without opening it. */
kiln_os_function kiln_os_find_function(void *library, const char *name) {
#ifdef RTLD_DEFAULT
  void *address = dlsym(library ? library : RTLD_DEFAULT, name);
#else
  void *program = library ? NULL : dlopen(NULL, RTLD_LAZY | RTLD_LOCAL);
  void *address = dlsym(library ? library : program, name);
  if (program)
    dlclose(program);
#endif
  kiln_os_function function; /* dlsym's answer is an object pointer */
  memcpy(&function, &address, sizeof function);
  return function;
}

#endif
