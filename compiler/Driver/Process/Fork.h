// The one way in which kiln makes processes of its own code: workers, and steps that may crash.

#ifndef KILN_COMPILER_DRIVER_PROCESS_FORK_H
#define KILN_COMPILER_DRIVER_PROCESS_FORK_H

#include <functional>
#include <sys/types.h>

namespace kiln {

/// Forks a child that calls `body` and ends with the status that it returns, without destructors
/// and atexit handlers, which belong to this process's state. It never outlives this process, and
/// signals end it at once (Interrupt.h). -1, with errno set, if no process could be made. The
/// calling process must have no other threads.
pid_t forkChild(const std::function<int()> &body);

/// Waits for the child's end: its status as waitpid has it.
int waitForChild(pid_t child);

} // namespace kiln

#endif
