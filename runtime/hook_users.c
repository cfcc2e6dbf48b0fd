#include "runtime/hook_users.h"

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
