/*
 * Launches that use functions of the program: who replaces such functions waits until nobody is in
 * the earlier ones, as their code may then be unloaded.
 */
#ifndef KILN_RUNTIME_HOOK_USERS_H
#define KILN_RUNTIME_HOOK_USERS_H

#include "runtime/mutex.h"

#pragma GCC visibility push(hidden)

typedef struct kiln_hook_users {
  kiln_mutex mutex; /* also for the functions that are used */
  kiln_os_condition unused;
  unsigned count;
  unsigned forks; /* kiln_forks() when they were counted */
} kiln_hook_users;

#define KILN_HOOK_USERS_INITIALIZER                                                                \
  { .unused = KILN_OS_CONDITION_INITIALIZER }

/* Under the mutex. */
void kiln_add_hook_user(kiln_hook_users *users);
/* Takes the mutex. */
void kiln_remove_hook_user(kiln_hook_users *users);
/* Under the mutex, which is free while this waits: new users must have been turned away before. */
void kiln_await_hook_users(kiln_hook_users *users);

/* Functions that launches call where they are set. */
typedef struct kiln_hook {
  uint32_t *is_set; /* launches read it without the mutex */
  void *functions;  /* a struct of this many bytes */
  size_t bytes;
  kiln_hook_users users;
} kiln_hook;

#define KILN_HOOK(is_set, functions)                                                               \
  { &(is_set), &(functions), sizeof(functions), KILN_HOOK_USERS_INITIALIZER }

/* Where they are set, copies the functions to `used` and counts this launch among their users. */
bool kiln_begin_hook(kiln_hook *hook, void *used);
void kiln_end_hook(kiln_hook *hook);
/* Waits until nobody uses the earlier functions. */
void kiln_replace_hook(kiln_hook *hook, const void *functions, bool is_set);

#pragma GCC visibility pop

#endif /* KILN_RUNTIME_HOOK_USERS_H */
