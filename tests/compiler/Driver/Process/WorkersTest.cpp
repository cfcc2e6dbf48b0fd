// Jobs in child processes: what each kind of ending looks like from outside.

#include "compiler/Driver/Process/Workers.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;

/// Signals that were sent to children, or to groups of children, that had been collected: their
/// numbers may be anybody's by then.
static std::atomic<int> strayKills{0};

/// Stands in for the C library's, for everything in this program.
extern "C" int kill(pid_t process, int signal) noexcept {
  siginfo_t info;
  if (waitid(P_PID, id_t(std::abs(process)), &info, WEXITED | WNOHANG | WNOWAIT) < 0)
    ++strayKills;
  return int(syscall(SYS_kill, process, signal));
}

namespace {

std::map<unsigned, JobResult> run(unsigned count, unsigned parallel,
                                  std::function<std::string(unsigned)> work,
                                  std::chrono::seconds timeout = std::chrono::seconds(60),
                                  unsigned jobsPerProcess = 1, unsigned cpus = 1) {
  std::map<unsigned, JobResult> results;
  runJobs(count, {parallel, timeout, jobsPerProcess, 0, cpus}, work,
          [&](unsigned job, JobResult result) {
            EXPECT_TRUE(results.emplace(job, std::move(result)).second)
                << "job " << job << " ended twice";
          });
  EXPECT_EQ(results.size(), count);
  return results;
}

TEST(Workers, OutputsComeBackWhole) {
  for (unsigned parallel : {1u, 3u, 100u}) {
    auto results =
        run(17, parallel, [](unsigned job) { return std::string(job * 100000, char('a' + job)); });
    for (auto &[job, result] : results) {
      EXPECT_EQ(result.kind, JobResult::Done);
      EXPECT_EQ(result.output, std::string(job * 100000, char('a' + job)));
    }
  }
}

/// Of jobs in all processes of a test.
struct Counts {
  std::atomic<int> begun, ended;
};

// One at a time is asked for, but the second waits for a program, so to say, until another begins.
TEST(Workers, AnotherJobBeginsWhereOneWaits) {
  auto *counts = static_cast<Counts *>(
      mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  auto runningAtStart = [&](bool tells, unsigned cpus) {
    counts->begun = counts->ended = 0;
    auto work = [=](unsigned job) {
      int running = ++counts->begun - counts->ended;
      if (job == 1 && tells) {
        tellWaiting(true);
        for (int i = 0; i < 2000 && counts->begun < 3; ++i)
          usleep(10000);
        tellWaiting(false);
        running += counts->begun >= 3 ? 0 : 100;
      }
      ++counts->ended;
      return std::to_string(running);
    };
    return run(6, 1, work, std::chrono::seconds(60), 1, cpus);
  };
  auto results = runningAtStart(/*tells=*/true, /*cpus=*/2);
  EXPECT_EQ(results[0].output, "1");
  EXPECT_EQ(results[1].output, "1");
  EXPECT_EQ(results[2].output, "2");
  for (unsigned job : {3u, 4u, 5u})
    EXPECT_LE(results[job].output, "2") << job;
  for (auto &[job, result] : runningAtStart(/*tells=*/false, /*cpus=*/2))
    EXPECT_EQ(result.output, "1") << job;
  munmap(counts, sizeof *counts);
}

// What was told ends with the process.
TEST(Workers, OneThatCrashesWhileItWaitsIsOneResult) {
  auto results = run(3, 1, [](unsigned job) -> std::string {
    tellWaiting(true);
    if (job == 1)
      abort();
    tellWaiting(false);
    return "done";
  });
  EXPECT_EQ(results[0].output, "done");
  EXPECT_EQ(results[1].kind, JobResult::Crashed);
  EXPECT_EQ(results[1].output, "");
  EXPECT_EQ(results[2].output, "done");
}

TEST(Workers, ACrashIsOneResult) {
  auto results = run(3, 2, [](unsigned job) -> std::string {
    if (job == 1) {
      fputs("LLVM ERROR: cannot select\n", stderr);
      std::signal(SIGABRT, SIG_DFL);
      abort();
    }
    return "fine";
  });
  EXPECT_EQ(results[0].output, "fine");
  EXPECT_EQ(results[1].kind, JobResult::Crashed);
  EXPECT_EQ(results[1].signal, SIGABRT);
  EXPECT_THAT(results[1].log, testing::HasSubstr("cannot select"));
  EXPECT_EQ(results[2].output, "fine");
}

TEST(Workers, AnExitIsACrashWithAStatus) {
  auto results = run(1, 1, [](unsigned) -> std::string { _exit(7); });
  EXPECT_EQ(results[0].kind, JobResult::Crashed);
  EXPECT_EQ(results[0].exitStatus, 7);
}

TEST(Workers, AHangIsEndedWithItsChildren) {
  auto results = run(
      2, 2,
      [](unsigned job) -> std::string {
        if (job == 0 && system("sleep 1000") != 0)
          return "";
        return "fine";
      },
      std::chrono::seconds(1));
  EXPECT_EQ(results[0].kind, JobResult::TimedOut);
  EXPECT_EQ(results[0].output, "");
  EXPECT_EQ(results[1].output, "fine");
}

TEST(Workers, MemoryIsRefused) {
  WorkerOptions options;
  options.memoryBytes = uint64_t(512) << 20;
  std::map<unsigned, JobResult> results;
  runJobs(
      2, options,
      [](unsigned job) -> std::string {
        size_t bytes = job == 0 ? size_t(1) << 30 : 1 << 20;
        void *memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return memory == MAP_FAILED ? "refused" : "given";
      },
      [&](unsigned job, JobResult result) { results[job] = std::move(result); });
  EXPECT_EQ(results[0].output, "refused");
  EXPECT_EQ(results[1].output, "given");
}

TEST(Workers, NobodyElseIsSignalled) {
  strayKills = 0;
  auto results = run(
      6, 3,
      [](unsigned job) -> std::string {
        if (job % 3 == 1)
          _exit(7);
        if (job % 3 == 2)
          pause();
        return "fine";
      },
      std::chrono::seconds(1));
  EXPECT_EQ(results[0].output, "fine");
  EXPECT_EQ(results[2].kind, JobResult::TimedOut);
  EXPECT_EQ(strayKills, 0);
}

TEST(Workers, AProcessDoesSeveralJobs) {
  for (unsigned parallel : {1u, 3u}) {
    auto results = run(
        17, parallel, [](unsigned) { return std::to_string(getpid()); }, std::chrono::seconds(60),
        /*jobsPerProcess=*/5);
    std::map<std::string, unsigned> jobs;
    for (auto &[job, result] : results)
      ++jobs[result.output];
    EXPECT_EQ(jobs.size(), 4u);
    for (auto &[process, count] : jobs)
      EXPECT_LE(count, 5u);
  }
}

TEST(Workers, OneOfSeveralJobsThatFailsIsOneResult) {
  auto results = run(
      8, 2,
      [](unsigned job) -> std::string {
        fprintf(stderr, "job %u\n", job);
        if (job == 1)
          raise(SIGKILL);
        if (job == 4)
          _exit(0);
        if (job == 6)
          sleep(1000);
        return std::string(100000, 'a');
      },
      std::chrono::seconds(1), /*jobsPerProcess=*/4);
  for (unsigned job : {0u, 2u, 3u, 5u, 7u}) {
    EXPECT_EQ(results[job].kind, JobResult::Done) << job;
    EXPECT_EQ(results[job].output, std::string(100000, 'a')) << job;
  }
  EXPECT_EQ(results[1].kind, JobResult::Crashed);
  EXPECT_EQ(results[1].signal, SIGKILL);
  EXPECT_THAT(results[1].log, testing::EndsWith("job 1\n"));
  EXPECT_EQ(results[4].kind, JobResult::Crashed);
  EXPECT_EQ(results[4].exitStatus, 0);
  EXPECT_EQ(results[6].kind, JobResult::TimedOut);
  EXPECT_EQ(results[6].output, "");
}

TEST(Workers, TheLogKeepsItsEnd) {
  auto results = run(1, 1, [](unsigned) {
    for (int i = 0; i < 100000; ++i)
      fputs("noise\n", stderr);
    fputs("the end\n", stderr);
    return std::string("done");
  });
  EXPECT_EQ(results[0].output, "done");
  EXPECT_LE(results[0].log.size(), 64u << 10);
  EXPECT_THAT(results[0].log, testing::EndsWith("the end\n"));
}

} // namespace
