#include "compiler/Driver/Workers.h"
#include "compiler/Driver/Interrupt.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t maxLogBytes = 64 << 10;

/// A running child and the ends of its pipes that are still open.
struct Child {
  unsigned job;
  pid_t pid;
  int output, log;
  Clock::time_point deadline;
  JobResult result;
};

void writeAll(int fd, const std::string &bytes) {
  size_t written = 0;
  while (written < bytes.size()) {
    ssize_t n = write(fd, bytes.data() + written, bytes.size() - written);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      _exit(3);
    written += n;
  }
}

[[noreturn]] void runChild(int output, int log, pid_t parent,
                           const std::function<std::string()> &work) {
  // A group of its own, so that a timeout also ends the tools it started; and never outlive the
  // parent.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(3);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(signal, SIG_DFL);
  dup2(log, STDERR_FILENO);
  writeAll(output, work());
  // No destructors or atexit handlers: they belong to the parent's state.
  _exit(0);
}

std::optional<Child> start(unsigned job, const WorkerOptions &options,
                           const std::function<std::string(unsigned)> &work) {
  int output[2], log[2];
  if (pipe2(output, O_CLOEXEC) != 0)
    return std::nullopt;
  if (pipe2(log, O_CLOEXEC) != 0) {
    close(output[0]), close(output[1]);
    return std::nullopt;
  }
  std::fflush(nullptr);
  pid_t parent = getpid(), pid = fork();
  if (pid == 0)
    runChild(output[1], log[1], parent, [&] { return work(job); });
  close(output[1]), close(log[1]);
  if (pid < 0) {
    close(output[0]), close(log[0]);
    return std::nullopt;
  }
  return Child{job, pid, output[0], log[0], Clock::now() + options.timeout, {}};
}

/// Reads what is there; closes the descriptor and sets it to -1 at its end.
void drain(int &fd, std::string &into, size_t keepLast) {
  char buffer[1 << 16];
  ssize_t n = read(fd, buffer, sizeof buffer);
  if (n < 0 && errno == EINTR)
    return;
  if (n <= 0) {
    close(fd);
    fd = -1;
    return;
  }
  into.append(buffer, n);
  if (into.size() > keepLast)
    into.erase(0, into.size() - keepLast);
}

/// The child has closed its output: collects its exit status. Processes it left behind are ended
/// with its group, while the child itself is still there as a zombie: once it is collected, its
/// number may be another process's, and another group's.
void reap(Child &child) {
  siginfo_t ended;
  while (waitid(P_PID, child.pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
    ;
  kill(-child.pid, SIGKILL);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
    ;
  if (child.log >= 0) {
    fcntl(child.log, F_SETFL, O_NONBLOCK);
    while (child.log >= 0) {
      ssize_t before = child.result.log.size();
      drain(child.log, child.result.log, maxLogBytes);
      if (child.log >= 0 && ssize_t(child.result.log.size()) == before)
        close(child.log), child.log = -1;
    }
  }
  if (child.result.kind == JobResult::TimedOut)
    return;
  if (WIFSIGNALED(status))
    child.result.kind = JobResult::Crashed, child.result.signal = WTERMSIG(status);
  else if (WEXITSTATUS(status) != 0)
    child.result.kind = JobResult::Crashed, child.result.exitStatus = WEXITSTATUS(status);
}

/// Ends a child and the processes that it started.
void stop(const Child &child) {
  kill(-child.pid, SIGKILL);
  kill(child.pid, SIGKILL);
}

/// Waits until some child has something to say or a deadline passes, and takes it in.
void poll(std::vector<Child> &children) {
  std::vector<pollfd> fds;
  auto nearest = Clock::time_point::max();
  for (Child &child : children) {
    fds.push_back({child.output, POLLIN, 0});
    fds.push_back({child.log, POLLIN, 0});
    nearest = std::min(nearest, child.deadline);
  }
  auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(nearest - Clock::now()).count();
  // A signal between the look at interruptSignal() and here is seen half a second later.
  ::poll(fds.data(), fds.size(), int(std::clamp<long long>(wait + 1, 0, 500)));
  for (size_t i = 0; i < children.size(); ++i) {
    Child &child = children[i];
    if (child.log >= 0 && fds[2 * i + 1].revents)
      drain(child.log, child.result.log, maxLogBytes);
    if (child.output >= 0 && fds[2 * i].revents)
      drain(child.output, child.result.output, std::string::npos);
    if (child.output >= 0 && Clock::now() >= child.deadline) {
      stop(child);
      child.result.kind = JobResult::TimedOut;
      close(child.output);
      child.output = -1;
    }
  }
}

} // namespace

void runJobs(unsigned count, const WorkerOptions &options,
             const std::function<std::string(unsigned)> &work,
             const std::function<void(unsigned, JobResult)> &done) {
  std::vector<Child> children;
  unsigned next = 0;
  while (next < count || !children.empty()) {
    if (interruptSignal()) {
      for (Child &child : children) {
        stop(child);
        reap(child);
        close(child.output);
      }
      return;
    }
    while (next < count && children.size() < std::max(1u, options.parallel)) {
      if (auto child = start(next, options, work)) {
        children.push_back(std::move(*child));
        ++next;
      } else if (children.empty()) {
        JobResult failed;
        failed.kind = JobResult::CouldNotStart;
        done(next++, std::move(failed));
      } else {
        break; // Out of processes or descriptors: go on when one ends.
      }
    }
    if (children.empty())
      continue;
    poll(children);
    for (size_t i = 0; i < children.size();) {
      if (children[i].output >= 0) {
        ++i;
        continue;
      }
      Child child = std::move(children[i]);
      children.erase(children.begin() + i);
      reap(child);
      if (child.result.kind != JobResult::Done)
        child.result.output.clear();
      done(child.job, std::move(child.result));
    }
  }
}

unsigned availableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

} // namespace kiln
