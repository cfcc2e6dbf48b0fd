// Runs jobs in child processes, several at a time, and survives what they do.
//
// LLVM's back ends and lld keep global state, reset options, and abort on what they cannot select.
// So every variant compiles in a process of its own, forked from this one after parsing and before
// any thread or MLIR context exists: the child shares the parsed sources for nothing, and one that
// crashes or hangs costs one error. A process per variant (not a pool of long-lived ones) also
// keeps a variant's bytes independent of what was compiled before it. Where no code is generated a
// process may do several jobs: starting it takes longer than a small kernel's check.

#ifndef KILN_COMPILER_DRIVER_PROCESS_WORKERS_H
#define KILN_COMPILER_DRIVER_PROCESS_WORKERS_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace kiln {

/// How a job ended.
struct JobResult {
  enum Kind { Done, Crashed, TimedOut, CouldNotStart } kind = Done;
  /// Crashed: the signal, or 0 and the exit status. CouldNotStart: why, as in errno.
  int signal = 0, exitStatus = 0, error = 0;
  /// What the job returned; empty unless Done.
  std::string output;
  /// The end of what the job's process has written to its standard error, at most 64 KiB; where a
  /// process does several jobs, also of those before.
  std::string log;
};

/// The number of CPUs that this process may run on, at least 1.
unsigned availableCpus();

struct WorkerOptions {
  /// Jobs at a time, at least 1. Where there are CPUs for more, those that wait for a program
  /// (tellWaiting) are not counted, up to as many again.
  unsigned parallel = 1;
  /// A job that takes longer is killed, with the processes that it started.
  std::chrono::seconds timeout{600};
  /// The most jobs that one process does, one after the other, at least 1. When it ends early, the
  /// job that it was at has failed, and those behind go to other processes.
  unsigned jobsPerProcess = 1;
  /// Of addresses, for each process: what it cannot have it is refused. 0: the limit of the calling
  /// process, which also holds where it is lower.
  uint64_t memoryBytes = 0;
  unsigned cpus = availableCpus();
};

/// Calls `work(i)` for i in [0, count) in child processes, started in order, and `done(i, result)`
/// here as they end, in any order. The calling process must have no other threads. After an
/// interrupt (Interrupt.h) the children are ended and the rest is not called.
void runJobs(unsigned count, const WorkerOptions &options,
             const std::function<std::string(unsigned)> &work,
             const std::function<void(unsigned, JobResult)> &done);

/// For a job: that it does nothing but wait for a program that it has started, and that it goes on.
/// Meanwhile another job may begin. Does nothing outside of jobs.
void tellWaiting(bool isWaiting);

} // namespace kiln

#endif
