/* platform.h for Windows, from Vista on. */
#include "runtime/platform.h"

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <malloc.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(SRWLOCK) == sizeof(kiln_os_mutex), "SRWLOCK is a pointer");
_Static_assert(sizeof(CONDITION_VARIABLE) == sizeof(kiln_os_condition), "so is it");
_Static_assert(sizeof(INIT_ONCE) == sizeof(kiln_os_once), "and it");
_Static_assert(sizeof(DWORD) == sizeof(kiln_os_key), "of FlsAlloc");

void kiln_os_init_mutex(kiln_os_mutex *mutex) { InitializeSRWLock((SRWLOCK *)mutex); }
void kiln_os_destroy_mutex(kiln_os_mutex *mutex) { (void)mutex; }
void kiln_os_lock(kiln_os_mutex *mutex) { AcquireSRWLockExclusive((SRWLOCK *)mutex); }
bool kiln_os_try_lock(kiln_os_mutex *mutex) {
  return TryAcquireSRWLockExclusive((SRWLOCK *)mutex) != 0;
}
void kiln_os_unlock(kiln_os_mutex *mutex) { ReleaseSRWLockExclusive((SRWLOCK *)mutex); }

void kiln_os_init_condition(kiln_os_condition *condition) {
  InitializeConditionVariable((CONDITION_VARIABLE *)condition);
}
void kiln_os_destroy_condition(kiln_os_condition *condition) { (void)condition; }
void kiln_os_wait(kiln_os_condition *condition, kiln_os_mutex *mutex) {
  SleepConditionVariableSRW((CONDITION_VARIABLE *)condition, (SRWLOCK *)mutex, INFINITE, 0);
}
void kiln_os_signal(kiln_os_condition *condition) {
  WakeConditionVariable((CONDITION_VARIABLE *)condition);
}
void kiln_os_broadcast(kiln_os_condition *condition) {
  WakeAllConditionVariable((CONDITION_VARIABLE *)condition);
}

/* Function pointers do not fit the callback's pointer in C: one is passed by its address. */
static BOOL CALLBACK call_once(INIT_ONCE *once, void *parameter, void **context) {
  (void)once, (void)context;
  (*(void (**)(void))parameter)();
  return TRUE;
}

void kiln_os_call_once(kiln_os_once *once, void (*function)(void)) {
  InitOnceExecuteOnce((INIT_ONCE *)once, call_once, &function, NULL);
}

typedef struct thread_start {
  void *(*start)(void *);
  void *argument;
} thread_start;

static unsigned __stdcall thread_main(void *pointer) {
  thread_start own = *(thread_start *)pointer;
  free(pointer);
  own.start(own.argument);
  return 0;
}

static int start_thread(kiln_os_thread *thread, void *(*start)(void *), void *argument) {
  thread_start *started = malloc(sizeof *started);
  if (!started)
    return ENOMEM;
  *started = (thread_start){.start = start, .argument = argument};
  errno = 0;
  uintptr_t handle = _beginthreadex(NULL, 0, thread_main, started, 0, NULL);
  if (!handle) {
    free(started);
    return errno ? errno : EAGAIN;
  }
  *thread = (kiln_os_thread)handle;
  return 0;
}

int kiln_os_start_threads(kiln_os_thread *threads, uint32_t count, void *(*start)(void *),
                          void *argument, uint32_t *num_started) {
  int error = 0;
  while (!error && *num_started < count) {
    error = start_thread(&threads[*num_started], start, argument);
    if (!error)
      ++*num_started;
  }
  return error;
}

void kiln_os_join_thread(kiln_os_thread thread) {
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
}
void kiln_os_yield(void) { SwitchToThread(); }

/* Fibers' slots, not threads': they alone have a function that is called at the end. */
bool kiln_os_create_key(kiln_os_key *key, void (*destroy)(void *)) {
  *key = FlsAlloc((PFLS_CALLBACK_FUNCTION)destroy); /* one calling convention on 64 bits */
  return *key != FLS_OUT_OF_INDEXES;
}
bool kiln_os_set_key(kiln_os_key key, void *value) { return FlsSetValue(key, value) != 0; }
void kiln_os_delete_key(kiln_os_key key) { FlsFree(key); }

bool kiln_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  (void)before, (void)in_parent, (void)in_child;
  return true;
}

uint32_t kiln_os_num_cpus(void) {
  DWORD_PTR own, all;
  uint32_t count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
    for (; own; own &= own - 1)
      ++count;
  return count ? count : 1;
}

uint32_t kiln_os_current_cpu(void) { return GetCurrentProcessorNumber(); }

uint64_t kiln_os_nanoseconds(void) {
  const uint64_t second = 1000000000u;
  LARGE_INTEGER now, frequency;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&frequency);
  uint64_t ticks = (uint64_t)now.QuadPart, rate = (uint64_t)frequency.QuadPart;
  return ticks / rate * second + ticks % rate * second / rate;
}

void *kiln_os_allocate_aligned(size_t alignment, size_t bytes) {
  return _aligned_malloc(bytes, alignment);
}
void kiln_os_free_aligned(void *memory) { _aligned_free(memory); }

/* Null: not UTF-8, or no memory. */
static wchar_t *wide(const char *text) {
  int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
  wchar_t *result = length > 0 ? malloc((size_t)length * sizeof *result) : NULL;
  if (result)
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, result, length);
  return result;
}

int kiln_os_replace_file(const char *from, const char *to) {
  if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING)) /* the names that fopen has taken */
    return 0;
  return GetLastError() == ERROR_ACCESS_DENIED ? EACCES : EIO;
}

bool kiln_os_folder_of(const void *address, char *folder, size_t capacity) {
  HMODULE module;
  DWORD flags =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (!GetModuleHandleExA(flags, address, &module))
    return false;
  DWORD length = GetModuleFileNameA(module, folder, (DWORD)capacity); /* as fopen takes it */
  char *end = length > 0 && length < capacity ? strrchr(folder, '\\') : NULL;
  if (end)
    end[1] = '\0';
  return end != NULL;
}

static _Thread_local char library_error[256];

static void note_library_error(const char *path, DWORD error) {
  int length = snprintf(library_error, sizeof library_error, "%s: error %lu: ", path, error);
  if (length < 0 || (size_t)length >= sizeof library_error)
    return;
  char *rest = library_error + length;
  DWORD written = FormatMessageA(
      FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK,
      NULL, error, 0, rest, (DWORD)(sizeof library_error - (size_t)length), NULL);
  if (!written)
    strcpy(rest - 2, "");
}

/* A bare name is not looked for in the current folder. */
void *kiln_os_open_library(const char *path, bool resolves_now) {
  (void)resolves_now; /* they are, always */
  wchar_t *name = wide(path);
  if (!name) {
    snprintf(library_error, sizeof library_error, "%s: not a name in UTF-8", path);
    return NULL;
  }
  bool is_bare = !strpbrk(path, "/\\");
  HMODULE library = LoadLibraryExW(name, NULL, is_bare ? LOAD_LIBRARY_SEARCH_DEFAULT_DIRS : 0);
  if (!library)
    note_library_error(path, GetLastError());
  free(name);
  return library;
}

const char *kiln_os_library_error(void) { return library_error; }
void kiln_os_close_library(void *library) { FreeLibrary(library); }

kiln_os_function kiln_os_find_function(void *library, const char *name) {
  return (kiln_os_function)GetProcAddress(library ? library : GetModuleHandleW(NULL), name);
}

#endif
