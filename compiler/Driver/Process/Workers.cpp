#include "compiler/Driver/Process/Workers.h"
#include "compiler/Driver/Process/Fork.h"
#include "compiler/Driver/Process/Interrupt.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <malloc.h>
#include <optional>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t maxLogBytes = 64 << 10;

/// In a child's output, in place of an answer's size.
constexpr uint64_t isWaitingMark = UINT64_MAX, goesOnMark = UINT64_MAX - 1;

/// Where the process writes if it is a child: jobs cannot know.
int ownOutput = -1;

/// Jobs with consecutive numbers.
struct JobRange {
  unsigned begin = 0, end = 0;
};

/// A running child and the ends of its pipes that are still open.
struct Child {
  /// What it has not answered yet; it is at the first.
  JobRange jobs;
  pid_t pid;
  int output, log;
  Clock::time_point deadline;
  /// Answers that have not been taken out: for each its size in bytes, then itself.
  std::string answers;
  bool isWaiting = false;
  JobResult result;
};

void writeAll(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, bytes, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      _exit(3);
    bytes += n;
    size -= n;
  }
}

/// Not all of LLVM and MLIR looks at what malloc returns, and a stack that cannot grow faults, too:
/// where there is no memory left, a fault says so, as a failing `operator new` does.
void explainFault(int signal) {
  constexpr size_t least = 1 << 20;
  void *memory = mmap(nullptr, least, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  constexpr char text[] = "out of memory\n";
  writeAll(STDERR_FILENO, text, sizeof text - 1);
  std::abort();
}

void explainFaults() {
  static char stack[1 << 14];
  stack_t other = {};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = explainFault;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
}

/// Below it a limit is near to what the heap has ahead.
constexpr uint64_t smallLimit = uint64_t(1) << 30;

/// Lowers the limit for this process and what it starts, which may raise it again.
void limitMemory(uint64_t bytes) {
  rlimit limit;
  if (bytes == 0 || getrlimit(RLIMIT_AS, &limit) != 0)
    return;
  if (bytes < smallLimit) { // What nobody has asked for yet is not to escape it.
    mallopt(M_TOP_PAD, 0);
    malloc_trim(0);
  }
  explainFaults();
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, bytes);
  setrlimit(RLIMIT_AS, &limit);
}

int runChild(int output, int log, JobRange jobs, uint64_t memoryBytes,
             const std::function<std::string(unsigned)> &work) {
  setpgid(0, 0); // a group of its own, so that a timeout also ends the tools it started
  limitMemory(memoryBytes);
  dup2(log, STDERR_FILENO);
  ownOutput = output;
  for (unsigned job = jobs.begin; job < jobs.end; ++job) {
    std::string answer = work(job);
    uint64_t size = answer.size();
    writeAll(output, reinterpret_cast<const char *>(&size), sizeof size);
    writeAll(output, answer.data(), answer.size());
  }
  return 0;
}

/// Empty, with errno set, when the system has no process or descriptor to give.
std::optional<Child> start(JobRange jobs, const WorkerOptions &options,
                           const std::function<std::string(unsigned)> &work) {
  int output[2], log[2];
  if (pipe2(output, O_CLOEXEC) != 0)
    return std::nullopt;
  if (pipe2(log, O_CLOEXEC) != 0) {
    int error = errno;
    close(output[0]), close(output[1]);
    errno = error;
    return std::nullopt;
  }
  pid_t pid =
      forkChild([&] { return runChild(output[1], log[1], jobs, options.memoryBytes, work); });
  int error = errno;
  close(output[1]), close(log[1]);
  if (pid < 0) {
    close(output[0]), close(log[0]);
    errno = error;
    return std::nullopt;
  }
  fcntl(log[0], F_SETFL, O_NONBLOCK);
  return Child{jobs, pid, output[0], log[0], Clock::now() + options.timeout, {}, false, {}};
}

/// Reads what is there; closes the descriptor and sets it to -1 at its end. False when there is no
/// more for now.
bool drain(int &fd, std::string &into) {
  char buffer[1 << 16];
  ssize_t n = read(fd, buffer, sizeof buffer);
  if (n < 0 && errno == EINTR)
    return true;
  if (n < 0 && errno == EAGAIN)
    return false;
  if (n <= 0) {
    close(fd);
    fd = -1;
    return false;
  }
  into.append(buffer, n);
  return true;
}

/// Takes in all that the child has written to its standard error so far.
void drainLog(Child &child) {
  std::string &log = child.result.log;
  while (child.log >= 0 && drain(child.log, log))
    if (log.size() > maxLogBytes)
      log.erase(0, log.size() - maxLogBytes);
}

/// The child has closed its output: collects its exit status. Processes it left behind are ended
/// with its group, while the child itself is still there as a zombie: once it is collected, its
/// number may be another process's, and another group's.
void reap(Child &child) {
  siginfo_t ended;
  while (waitid(P_PID, child.pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
    ;
  kill(-child.pid, SIGKILL);
  int status = waitForChild(child.pid);
  drainLog(child);
  if (child.log >= 0)
    close(child.log), child.log = -1;
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
    if (fds[2 * i + 1].revents)
      drainLog(child);
    if (child.output >= 0 && fds[2 * i].revents)
      drain(child.output, child.answers);
    if (child.output >= 0 && Clock::now() >= child.deadline) {
      stop(child);
      child.result.kind = JobResult::TimedOut;
      close(child.output);
      child.output = -1;
    }
  }
}

/// Hands on the answers that are whole. A job's time starts with the answer to the one before.
void takeAnswers(Child &child, const WorkerOptions &options,
                 const std::function<void(unsigned, JobResult)> &done) {
  size_t taken = 0;
  uint64_t size = 0;
  while (child.answers.size() - taken >= sizeof size) {
    std::memcpy(&size, child.answers.data() + taken, sizeof size);
    if (size == isWaitingMark || size == goesOnMark) {
      child.isWaiting = size == isWaitingMark;
      taken += sizeof size;
      continue;
    }
    if (child.answers.size() - taken - sizeof size < size)
      break;
    drainLog(child); // what it wrote before its answer
    JobResult result;
    result.output = child.answers.substr(taken + sizeof size, size);
    result.log = child.result.log; // it may end with the next job's
    taken += sizeof size + size;
    child.deadline = Clock::now() + options.timeout;
    done(child.jobs.begin++, std::move(result));
  }
  child.answers.erase(0, taken);
}

/// Whether one more may run: beside those that compute as many as are asked for, beside those that
/// wait for a program as many as there are CPUs.
bool hasRoom(const std::vector<Child> &children, const WorkerOptions &options) {
  unsigned parallel = std::max(1u, options.parallel);
  size_t computing = 0;
  for (const Child &child : children)
    computing += !child.isWaiting;
  size_t most = std::max(parallel, std::min(2 * parallel, options.cpus));
  return computing < parallel && children.size() < most;
}

/// Starts children for what is waiting. False when none runs and none can be started.
bool startChildren(std::deque<JobRange> &waiting, std::vector<Child> &children,
                   const WorkerOptions &options, const std::function<std::string(unsigned)> &work) {
  while (!waiting.empty() && hasRoom(children, options)) {
    JobRange &next = waiting.front();
    unsigned count = std::min(next.end - next.begin, std::max(1u, options.jobsPerProcess));
    auto child = start({next.begin, next.begin + count}, options, work);
    if (!child)
      return !children.empty(); // Out of processes or descriptors: go on when one ends.
    children.push_back(std::move(*child));
    next.begin += count;
    if (next.begin == next.end)
      waiting.pop_front();
  }
  return true;
}

/// The child has closed its output: the job that it was at, if any, has failed.
void finish(Child &child, std::deque<JobRange> &waiting,
            const std::function<void(unsigned, JobResult)> &done) {
  reap(child);
  if (child.jobs.begin == child.jobs.end)
    return;
  if (child.result.kind == JobResult::Done) // by an exit of the job's own
    child.result.kind = JobResult::Crashed;
  unsigned failed = child.jobs.begin++;
  if (child.jobs.begin < child.jobs.end)
    waiting.push_front(child.jobs);
  done(failed, std::move(child.result));
}

} // namespace

void runJobs(unsigned count, const WorkerOptions &options,
             const std::function<std::string(unsigned)> &work,
             const std::function<void(unsigned, JobResult)> &done) {
  std::vector<Child> children;
  std::deque<JobRange> waiting;
  if (count > 0)
    waiting.push_back({0, count});
  while (!waiting.empty() || !children.empty()) {
    if (interruptSignal()) {
      for (Child &child : children) {
        stop(child);
        reap(child);
        close(child.output);
      }
      return;
    }
    if (!startChildren(waiting, children, options, work)) {
      JobResult failed;
      failed.kind = JobResult::CouldNotStart;
      failed.error = errno;
      JobRange &next = waiting.front();
      unsigned job = next.begin++;
      if (next.begin == next.end)
        waiting.pop_front();
      done(job, std::move(failed));
      continue;
    }
    poll(children);
    for (size_t i = 0; i < children.size();) {
      takeAnswers(children[i], options, done);
      if (children[i].output >= 0) {
        ++i;
        continue;
      }
      Child child = std::move(children[i]);
      children.erase(children.begin() + i);
      finish(child, waiting, done);
    }
  }
}

void tellWaiting(bool isWaiting) {
  uint64_t mark = isWaiting ? isWaitingMark : goesOnMark;
  if (ownOutput >= 0)
    writeAll(ownOutput, reinterpret_cast<const char *>(&mark), sizeof mark);
}

unsigned availableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

} // namespace kiln
