#include "compiler/Driver/Process/ChildProcess.h"
#include "compiler/Driver/Process/Fork.h"
#include "compiler/Driver/Process/Interrupt.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits for the end of a child that holds the other end of the pipe `alive`. False when the
/// deadline passed or an interrupt came first.
bool waitForEnd(int alive, Clock::time_point deadline) {
  while (!interruptSignal()) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      return false;
    pollfd end = {alive, 0, 0};
    // A signal between the look at interruptSignal() and here is seen half a second later.
    if (poll(&end, 1, int(std::min<long long>(left, 500))) > 0)
      return true;
  }
  return false;
}

} // namespace

std::optional<ChildEnd> runInChild(std::chrono::seconds timeout, const std::function<int()> &step) {
  int alive[2];
  if (pipe2(alive, O_CLOEXEC) != 0)
    return std::nullopt;
  Clock::time_point deadline = Clock::now() + timeout;
  pid_t child = forkChild(step); // its end closes the other end of the pipe
  close(alive[1]);
  if (child < 0) {
    close(alive[0]);
    return std::nullopt;
  }
  bool ended = waitForEnd(alive[0], deadline);
  if (!ended)
    kill(child, SIGKILL);
  close(alive[0]);
  int status = waitForChild(child);
  ChildEnd end;
  end.exitStatus = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.timedOut = !ended && end.signal && !interruptSignal();
  return end;
}

} // namespace kiln
