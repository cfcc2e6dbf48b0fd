//===- ProcessTest.cpp - Private folders and child processes -------------------===//

#include "compiler/Target/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <csignal>
#include <sys/resource.h>
#include <unistd.h>

using namespace kiln;

namespace {

TEST(Process, CollectsOutputAndStatus) {
  auto folder = llvm::cantFail(TemporaryFolder::create(""));
  auto result = llvm::cantFail(
      runProgram("/bin/sh", {"-c", "echo one; echo two >&2; pwd; exit 3"}, folder.path()));
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "one\ntwo\n" + folder.path().str() + "\n");
}

TEST(Process, AMissingProgramIsAnError) {
  auto result = runProgram("/nowhere/tool", {}, "/");
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(llvm::toString(result.takeError()), "cannot run '/nowhere/tool'");
}

TEST(Process, HeapsGrowInLargeStepsUnlessTheUserSaysHow) {
  const std::vector<std::string> print = {"-c", "echo $GLIBC_TUNABLES"};
  auto ours = llvm::cantFail(runProgram("/bin/sh", print, "/"));
  EXPECT_EQ(ours.output, "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216\n");
  setenv("GLIBC_TUNABLES", "glibc.malloc.check=1", 1);
  auto theirs = llvm::cantFail(runProgram("/bin/sh", print, "/"));
  unsetenv("GLIBC_TUNABLES");
  EXPECT_EQ(theirs.output, "glibc.malloc.check=1\n");
  ProcessLimits small;
  small.memoryBytes = 64 << 20;
  EXPECT_EQ(llvm::cantFail(runProgram("/bin/sh", print, "/", small)).output, "\n");
}

TEST(Process, AddressesAreTheSameEachTime) {
  const std::vector<std::string> print = {"-c", "cat /proc/self/maps | grep -F [stack]"};
  std::string first = llvm::cantFail(runProgram("/bin/sh", print, "/")).output;
  EXPECT_NE(first, "");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(llvm::cantFail(runProgram("/bin/sh", print, "/")).output, first);
}

TEST(Process, OtherWorkIsDoneWhileAProgramRuns) {
  auto folder = llvm::cantFail(TemporaryFolder::create(""));
  auto result = llvm::cantFail(
      runProgram("/bin/sh", {"-c", "until [ -e go ]; do sleep 0.01; done; echo went"},
                 folder.path(), {}, [&] { llvm::cantFail(folder.write("go", "")); }));
  EXPECT_EQ(result.output, "went\n");
}

TEST(Process, LimitsBindTheProgramAndWhatItRuns) {
  ProcessLimits time, memory;
  time.seconds = 1;
  EXPECT_EQ(llvm::cantFail(runProgram("/bin/sh", {"-c", "while :; do :; done"}, "/", time)).status,
            128 + SIGXCPU);
  memory.memoryBytes = 64 << 20;
  auto result = llvm::cantFail(runProgram("/bin/sh", {"-c", "sh -c 'ulimit -v'"}, "/", memory));
  EXPECT_EQ(result.output, std::to_string(64 << 10) + "\n");
  EXPECT_GT(result.peakBytes, 0u);
}

/// A program has limits of its own, whatever its caller has set for itself.
TEST(Process, LimitsTakeThePlaceOfTheCallers) {
  auto result = llvm::cantFail(runForked("/", [] {
    rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = rlim_t(4) << 30;
    setrlimit(RLIMIT_AS, &limit);
    ProcessLimits more;
    more.memoryBytes = uint64_t(5) << 30;
    for (const ProcessLimits &limits : {ProcessLimits(), more})
      llvm::outs()
          << llvm::cantFail(runProgram("/bin/sh", {"-c", "ulimit -v"}, "/", limits)).output;
    llvm::outs().flush();
    return 0;
  }));
  rlimit own;
  getrlimit(RLIMIT_AS, &own);
  auto kilobytes = [](rlim_t bytes) {
    return bytes == RLIM_INFINITY ? "unlimited\n" : std::to_string(bytes >> 10) + "\n";
  };
  EXPECT_EQ(result.output,
            kilobytes(own.rlim_max) + kilobytes(std::min(own.rlim_max, rlim_t(5) << 30)));
}

TEST(Process, ACrashIsAResult) {
  auto result = llvm::cantFail(runForked("/", []() -> int {
    signal(SIGABRT, SIG_DFL);
    kill(getpid(), SIGABRT);
    return 0;
  }));
  EXPECT_EQ(result.status, 128 + SIGABRT);
}

TEST(Process, AForkChangesNothingHere) {
  int value = 1;
  auto result = llvm::cantFail(runForked("/", [&] {
    value = 2;
    return write(1, "done", 4) == 4 ? 0 : 1;
  }));
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "done");
  EXPECT_EQ(value, 1);
}

TEST(TemporaryFolder, IsPrivateAndRemoved) {
  std::string path;
  {
    auto folder = llvm::cantFail(TemporaryFolder::create(::testing::TempDir()));
    path = folder.path().str();
    llvm::cantFail(folder.write("file", llvm::StringRef("a\0b", 3)));
    EXPECT_EQ(llvm::cantFail(folder.read("file")), (std::vector<char>{'a', 0, 'b'}));
    auto permissions = llvm::sys::fs::getPermissions(path);
    ASSERT_TRUE(bool(permissions));
    EXPECT_EQ(*permissions, llvm::sys::fs::owner_all);
    EXPECT_NE(llvm::toString(folder.write("no/such/folder", "x")), "");
    EXPECT_NE(llvm::toString(folder.read("missing").takeError()), "");
  }
  EXPECT_FALSE(llvm::sys::fs::exists(path));
}

} // namespace
