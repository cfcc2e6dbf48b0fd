#include "runtime/hook_users.h"

#include <string.h>

/* In the child of a fork the launches of other threads never end. */
static void forget_lost_users(kiln_hook_users *users) {
  if (users->forks == kiln_forks())
    return;
  users->forks = kiln_forks();
  users->count = 0;
  kiln_os_init_condition(&users->unused);
}

void kiln_add_hook_user(kiln_hook_users *users) {
  forget_lost_users(users);
  ++users->count;
}

void kiln_remove_hook_user(kiln_hook_users *users) {
  kiln_lock(&users->mutex);
  forget_lost_users(users);
  if (users->count && --users->count == 0)
    kiln_os_broadcast(&users->unused);
  kiln_unlock(&users->mutex);
}

void kiln_await_hook_users(kiln_hook_users *users) {
  forget_lost_users(users);
  while (users->count)
    kiln_wait(&users->unused, &users->mutex);
}

bool kiln_begin_hook(kiln_hook *hook, void *used) {
  kiln_lock(&hook->users.mutex);
  bool is_set = *hook->is_set;
  if (is_set) {
    kiln_add_hook_user(&hook->users);
    memcpy(used, hook->functions, hook->bytes);
  }
  kiln_unlock(&hook->users.mutex);
  return is_set;
}

void kiln_end_hook(kiln_hook *hook) { kiln_remove_hook_user(&hook->users); }

void kiln_replace_hook(kiln_hook *hook, const void *functions, bool is_set) {
  kiln_lock(&hook->users.mutex);
  __atomic_store_n(hook->is_set, 0, __ATOMIC_RELAXED);
  kiln_await_hook_users(&hook->users);
  memcpy(hook->functions, functions, hook->bytes);
  __atomic_store_n(hook->is_set, is_set, __ATOMIC_RELAXED);
  kiln_unlock(&hook->users.mutex);
}
