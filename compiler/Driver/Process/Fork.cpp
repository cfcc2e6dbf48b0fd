#include "compiler/Driver/Process/Fork.h"
#include "compiler/Driver/Process/Interrupt.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln {

pid_t forkChild(const std::function<int()> &body) {
  constexpr int orphaned = 3;
  std::fflush(nullptr); // else both write what is buffered
  pid_t parent = getpid(), child = fork();
  if (child != 0)
    return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(orphaned);
  resetInterrupts();
  int status = body();
  std::fflush(nullptr);
  _exit(status);
}

int waitForChild(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return status;
}

} // namespace kiln
