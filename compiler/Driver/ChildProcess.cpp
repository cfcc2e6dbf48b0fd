#include "compiler/Driver/ChildProcess.h"
#include "compiler/Driver/Interrupt.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln {

std::optional<ChildEnd> runInChild(const std::function<int()> &step) {
  std::fflush(nullptr);
  pid_t parent = getpid(), child = fork();
  if (child < 0)
    return std::nullopt;
  if (child == 0) {
    // Never outlive the parent.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      std::signal(signal, SIG_DFL);
    int status = step();
    std::fflush(nullptr);
    // No destructors or atexit handlers: they belong to the parent's state.
    _exit(status);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    if (interruptSignal())
      kill(child, SIGKILL);
  ChildEnd end;
  if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  else
    end.exitStatus = WEXITSTATUS(status);
  return end;
}

} // namespace kiln
