/*
 * What the runtime takes from the operating system beyond C11: threads, shared libraries, aligned
 * memory, files that are replaced, a clock. platform_posix.c and platform_windows.c have it; no
 * other file of the runtime includes a header of an operating system.
 */
#ifndef KILN_RUNTIME_PLATFORM_H
#define KILN_RUNTIME_PLATFORM_H

#include "runtime/kiln.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef _WIN32
#include <pthread.h>
#endif

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

#ifdef _WIN32
/* SRWLOCK, CONDITION_VARIABLE and INIT_ONCE: a pointer each, null when unused. */
typedef struct kiln_os_word {
  void *word;
} kiln_os_word;
typedef kiln_os_word kiln_os_mutex;
typedef kiln_os_word kiln_os_condition;
typedef kiln_os_word kiln_os_once;
typedef void *kiln_os_thread;
typedef unsigned long kiln_os_key;
#define KILN_OS_MUTEX_INITIALIZER                                                                  \
  { NULL }
#define KILN_OS_CONDITION_INITIALIZER                                                              \
  { NULL }
#define KILN_OS_ONCE_INITIALIZER                                                                   \
  { NULL }
#else
typedef pthread_mutex_t kiln_os_mutex;
typedef pthread_cond_t kiln_os_condition;
typedef pthread_once_t kiln_os_once;
typedef pthread_t kiln_os_thread;
typedef pthread_key_t kiln_os_key;
#define KILN_OS_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define KILN_OS_CONDITION_INITIALIZER PTHREAD_COND_INITIALIZER
#define KILN_OS_ONCE_INITIALIZER PTHREAD_ONCE_INIT
#endif

/* --- threads --- */

void kiln_os_init_mutex(kiln_os_mutex *mutex);
void kiln_os_destroy_mutex(kiln_os_mutex *mutex);
void kiln_os_lock(kiln_os_mutex *mutex);
bool kiln_os_try_lock(kiln_os_mutex *mutex);
void kiln_os_unlock(kiln_os_mutex *mutex);

void kiln_os_init_condition(kiln_os_condition *condition);
void kiln_os_destroy_condition(kiln_os_condition *condition);
void kiln_os_wait(kiln_os_condition *condition, kiln_os_mutex *mutex);
void kiln_os_signal(kiln_os_condition *condition);
void kiln_os_broadcast(kiln_os_condition *condition);

void kiln_os_call_once(kiln_os_once *once, void (*function)(void));

/* Threads that take none of the program's signals. Returns 0, else an errno. */
int kiln_os_start_threads(kiln_os_thread *threads, uint32_t count, void *(*start)(void *),
                          void *argument, uint32_t *num_started);
void kiln_os_join_thread(kiln_os_thread thread);
void kiln_os_yield(void);

/* A value of each thread, which `destroy` gets when the thread ends and, on Windows, when the key
 * is deleted. False: there is no room for one. */
bool kiln_os_create_key(kiln_os_key *key, void (*destroy)(void *));
bool kiln_os_set_key(kiln_os_key key, void *value);
void kiln_os_delete_key(kiln_os_key key);

/* Has these called around each fork; where there is no fork, never. */
bool kiln_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* Those that the process may use; at least 1. */
uint32_t kiln_os_num_cpus(void);
/* That runs the caller; 0 where the system does not tell. */
uint32_t kiln_os_current_cpu(void);
/* Never goes back. */
uint64_t kiln_os_nanoseconds(void);

/* setjmp and longjmp that leave the mask of signals alone: to save it is a system call. */
#ifdef __APPLE__
#define kiln_os_setjmp(place) _setjmp(place)
#define kiln_os_longjmp(place) _longjmp(place, 1)
#else
#define kiln_os_setjmp(place) setjmp(place)
#define kiln_os_longjmp(place) longjmp(place, 1)
#endif

/* --- memory, files --- */

/* `alignment` is a power of two, at least that of a pointer. Null: no memory. */
void *kiln_os_allocate_aligned(size_t alignment, size_t bytes);
void kiln_os_free_aligned(void *memory);

/* Gives the file `from` the name `to`, in place of what has it. Returns 0, else an errno. */
int kiln_os_replace_file(const char *from, const char *to);

/* The folder, with what separates it from a name, of the program or shared library that `address`
 * is of. False: the system does not tell. */
bool kiln_os_folder_of(const void *address, char *folder, size_t capacity);

/* --- shared libraries --- */

typedef void (*kiln_os_function)(void);

/* The names that drivers and profilers are installed by. */
#ifdef _WIN32
#define KILN_OS_CUDA_LIBRARIES "nvcuda.dll"
#define KILN_OS_HIP_LIBRARIES "amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"
#define KILN_OS_NVTX_LIBRARIES "nvToolsExt64_1.dll"
#define KILN_OS_ROCTX_LIBRARIES "roctx64.dll"
#else
#define KILN_OS_CUDA_LIBRARIES "libcuda.so.1", "libcuda.so"
#define KILN_OS_HIP_LIBRARIES                                                                      \
  "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"
#define KILN_OS_NVTX_LIBRARIES "libnvToolsExt.so.1"
#define KILN_OS_ROCTX_LIBRARIES "librocprofiler-sdk-roctx.so.1", "libroctx64.so.4", "libroctx64.so"
#endif

/* Null: kiln_os_library_error() says why, to the same thread. Paths are in UTF-8. With
 * `resolves_now` a library that lacks something is not opened. */
void *kiln_os_open_library(const char *path, bool resolves_now);
const char *kiln_os_library_error(void);
void kiln_os_close_library(void *library);
/* Null where there is none; a null library stands for the program and what it has loaded (on
 * Windows: the program alone). */
kiln_os_function kiln_os_find_function(void *library, const char *name);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_PLATFORM_H */
