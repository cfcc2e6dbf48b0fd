// What a program is told of each launch, and the ranges of profilers, which are fakes.
#include "tests/runtime/TestLibrary.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace kiln::test;

namespace {

// The launches that a hook has seen.
struct Log {
  std::vector<kiln_launch_info> before, after;

  static void seeBefore(void *user, kiln_launch_info *launch) {
    static_cast<Log *>(user)->before.push_back(*launch);
    launch->note = 42;
  }
  static void seeAfter(void *user, kiln_launch_info *launch) {
    static_cast<Log *>(user)->after.push_back(*launch);
  }
};

class LaunchHookTest : public CudaLaunchTest {
protected:
  void TearDown() override {
    EXPECT_OK(kiln_set_launch_hook(nullptr, nullptr, nullptr));
    CudaLaunchTest::TearDown();
  }
  void hook() { ASSERT_OK(kiln_set_launch_hook(Log::seeBefore, Log::seeAfter, &log)); }

  Log log;
};

TEST_F(LaunchHookTest, SeesWhatIsLaunched) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("small");
  library.addVariant("large");
  library.binary(1).threads = 256;
  library.binary(1).shared_bytes = 1000;
  library.binary(1).cluster[0] = 2;
  hook();
  const int64_t grid[] = {7, 5, 3};
  ASSERT_OK(kiln_launch(&library.entry, 1, stream, grid, nullptr));
  ASSERT_EQ(log.before.size(), 1u);
  ASSERT_EQ(log.after.size(), 1u);
  for (const kiln_launch_info &info : {log.before[0], log.after[0]}) {
    EXPECT_EQ(info.entry, &library.entry);
    EXPECT_STREQ(info.name, "axpy");
    EXPECT_STREQ(info.variant_name, "large");
    EXPECT_EQ(info.variant, 1u);
    EXPECT_EQ(info.grid[0], 14u) << "blocks";
    EXPECT_EQ(info.grid[1], 5u);
    EXPECT_EQ(info.grid[2], 3u);
    EXPECT_EQ(info.cluster[0], 2u);
    EXPECT_EQ(info.cluster[1], 1u);
    EXPECT_EQ(info.threads, 256u);
    EXPECT_EQ(info.shared_bytes, 1000u);
    EXPECT_EQ(info.stream.handle, stream.handle);
    EXPECT_EQ(info.status, KILN_SUCCESS);
  }
  EXPECT_EQ(log.before[0].note, 0u);
  EXPECT_EQ(log.after[0].note, 42u);
}

TEST_F(LaunchHookTest, SeesThePlansLaunchesToo) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  kiln_call call;
  kiln_plan plan;
  ASSERT_OK(kiln_begin(&library.entry, stream, &call));
  ASSERT_OK(kiln_plan_create(&call, 0, &plan));
  EXPECT_OK(kiln_plan_run(&plan, OneBlock, nullptr));
  EXPECT_TRUE(log.before.empty());
  hook();
  EXPECT_OK(kiln_plan_run(&plan, OneBlock, nullptr));
  EXPECT_EQ(log.after.size(), 1u);
  EXPECT_OK(kiln_set_launch_hook(nullptr, Log::seeAfter, &log));
  EXPECT_OK(kiln_plan_run(&plan, OneBlock, nullptr));
  EXPECT_EQ(log.before.size(), 1u);
  EXPECT_EQ(log.after.size(), 2u);
  EXPECT_OK(kiln_set_launch_hook(nullptr, nullptr, nullptr));
  EXPECT_OK(kiln_plan_run(&plan, OneBlock, nullptr));
  EXPECT_EQ(log.after.size(), 2u);
}

TEST_F(LaunchHookTest, SeesFailuresAndKeepsTheirMessage) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  std::string seen;
  kiln_launch_function after = [](void *user, kiln_launch_info *launch) {
    EXPECT_EQ(launch->status, KILN_ERROR_LAUNCH);
    *static_cast<std::string *>(user) = kiln_last_error();
    EXPECT_EQ(kiln_launch(nullptr, 0, launch->stream, OneBlock, nullptr),
              KILN_ERROR_INVALID_ARGUMENT);
  };
  ASSERT_OK(kiln_set_launch_hook(nullptr, after, &seen));
  fake->fail("cuLaunchKernel", 719);
  EXPECT_ERROR(launch(library, nullptr), KILN_ERROR_LAUNCH, "CUDA_ERROR_FAKE (719)");
  EXPECT_EQ(seen, kiln_last_error());
}

TEST_F(LaunchHookTest, DoesNotSeeWhatIsNotLaunched) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  hook();
  fake->fail("cuLibraryLoadData", 200, 1);
  EXPECT_EQ(launch(library, nullptr), KILN_ERROR_LOAD);
  fake->heal();
  const int64_t none[] = {0, 1, 1}, negative[] = {-1, 1, 1};
  EXPECT_OK(kiln_launch(&library.entry, 0, stream, none, nullptr));
  EXPECT_EQ(kiln_launch(&library.entry, 0, stream, negative, nullptr), KILN_ERROR_GRID);
  EXPECT_TRUE(log.before.empty());
  EXPECT_TRUE(log.after.empty());
}

TEST_F(LaunchHookTest, CannotBeChangedByItself) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  kiln_launch_function before = [](void *, kiln_launch_info *) {
    EXPECT_ERROR(kiln_set_launch_hook(nullptr, nullptr, nullptr), KILN_ERROR_STATE, "launch hook");
    EXPECT_EQ(kiln_set_launch_ranges(KILN_PROFILER_NONE), KILN_ERROR_STATE);
  };
  ASSERT_OK(kiln_set_launch_hook(before, nullptr, nullptr));
  EXPECT_OK(launch(library, nullptr));
}

// A kernel on the CPU that holds its launch up.
std::atomic<bool> mayEnd;
std::atomic<int> running;

void waitToEnd(void *const *, const uint32_t *, const uint32_t *, void *) {
  ++running;
  while (!mayEnd)
    std::this_thread::yield();
}

TEST(LaunchHook, IsOutOfUseWhenItHasBeenReplaced) {
  TestLibrary library({host()});
  library.addVariant("v");
  library.binary().host = waitToEnd;
  Log log;
  std::atomic<bool> replaced{false};
  mayEnd = false;
  running = 0;
  ASSERT_OK(kiln_set_launch_hook(Log::seeBefore, Log::seeAfter, &log));
  std::thread launching([&] {
    EXPECT_OK(kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), OneBlock, nullptr));
  });
  while (!running)
    std::this_thread::yield();
  std::thread replacing([&] {
    EXPECT_OK(kiln_set_launch_hook(nullptr, nullptr, nullptr));
    EXPECT_EQ(log.after.size(), 1u);
    replaced = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(replaced);
  mayEnd = true;
  replacing.join();
  launching.join();
  EXPECT_OK(kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), OneBlock, nullptr));
  EXPECT_EQ(log.before.size(), 1u);
}

// The launches of other threads are not waited for in the child, where they never end.
TEST(LaunchHook, IsReplacedInAForkedChild) {
  TestLibrary library({host()});
  library.addVariant("v");
  library.binary().host = waitToEnd;
  Log log;
  mayEnd = false;
  running = 0;
  ASSERT_OK(kiln_set_launch_hook(Log::seeBefore, Log::seeAfter, &log));
  std::thread launching([&] {
    EXPECT_OK(kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), OneBlock, nullptr));
  });
  while (!running)
    std::this_thread::yield();
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    mayEnd = true;
    Log own;
    bool isRight = kiln_set_launch_hook(Log::seeBefore, nullptr, &own) == KILN_SUCCESS &&
                   kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), OneBlock, nullptr) ==
                       KILN_SUCCESS &&
                   own.before.size() == 1;
    _exit(isRight ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  mayEnd = true;
  launching.join();
  EXPECT_OK(kiln_set_launch_hook(nullptr, nullptr, nullptr));
}

TEST(LaunchHook, ThreadsLaunchWhileItIsSetAndTakenAway) {
  TestLibrary library({host()});
  library.addVariant("v");
  library.binary().host = [](void *const *, const uint32_t *, const uint32_t *, void *) {};
  std::atomic<int> before{0}, after{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop)
        EXPECT_OK(kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), OneBlock, nullptr));
    });
  kiln_launch_function count = [](void *user, kiln_launch_info *) {
    ++*static_cast<std::atomic<int> *>(user);
  };
  while (before < 100) {
    EXPECT_OK(kiln_set_launch_hook(count, nullptr, &before));
    EXPECT_OK(kiln_set_launch_hook(nullptr, count, &after));
  }
  EXPECT_OK(kiln_set_launch_hook(nullptr, nullptr, nullptr));
  int seen = before;
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(before, seen);
}

//===----------------------------------------------------------------------===//
// Profilers: each case in a process of its own, as their libraries stay
//===----------------------------------------------------------------------===//

// Makes the names of these libraries known to dlopen, as installed ones are.
void install(std::initializer_list<const char *> files) {
  for (const char *file : files)
    ASSERT_NE(dlopen((std::string("tests/runtime/") + file).c_str(), RTLD_NOW | RTLD_LOCAL),
              nullptr)
        << dlerror();
}

// Launches once with ranges and once without; the process's status is the first call's.
[[noreturn]] void launchInRanges(kiln_profiler profiler) {
  TestLibrary library({host()}, "softmax");
  library.addVariant("BLOCK=128");
  library.binary().host = [](void *const *, const uint32_t *, const uint32_t *, void *) {
    fputs("kernel\n", stderr);
  };
  kiln_status status = kiln_set_launch_ranges(profiler);
  if (status != KILN_SUCCESS)
    fprintf(stderr, "%s\n", kiln_last_error());
  kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), OneBlock, nullptr);
  kiln_set_launch_ranges(KILN_PROFILER_NONE);
  kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), OneBlock, nullptr);
  _exit(status);
}

constexpr const char *OneRange = "^push softmax BLOCK=128\nkernel\npop\nkernel\n$";

#define EXPECT_RANGES(profiler, status, output)                                                    \
  EXPECT_EXIT(launchInRanges(profiler), ::testing::ExitedWithCode(status), output)

class Ranges : public ::testing::Test {
protected:
  // A process without threads is safe to fork.
  void SetUp() override { ASSERT_OK(kiln_shutdown()); }
};

TEST_F(Ranges, ComeFromTheInjectedLibraryOfNvtx) {
  EXPECT_EXIT((setenv("NVTX_INJECTION64_PATH", "tests/runtime/libfakeinjection.so", 1),
               launchInRanges(KILN_PROFILER_NVTX)),
              ::testing::ExitedWithCode(0), OneRange);
}

TEST_F(Ranges, ComeFromLibnvToolsExt) {
  EXPECT_EXIT((install({"libfakenvtx.so"}), launchInRanges(KILN_PROFILER_NVTX)),
              ::testing::ExitedWithCode(0), OneRange);
}

TEST_F(Ranges, ComeFromEitherLibraryOfRoctx) {
  for (const char *file : {"libfakeroctx.so", "libfakesdkroctx.so"})
    EXPECT_EXIT((install({file}), launchInRanges(KILN_PROFILER_ROCTX)),
                ::testing::ExitedWithCode(0), OneRange);
}

TEST_F(Ranges, WithoutAProfilerAreAnErrorThatSaysWhatWasLookedFor) {
  EXPECT_RANGES(KILN_PROFILER_NVTX, KILN_ERROR_NO_DRIVER,
                "NVTX_INJECTION64_PATH, and libnvToolsExt.so.1 cannot be opened\nkernel\nkernel");
  EXPECT_RANGES(KILN_PROFILER_ROCTX, KILN_ERROR_NO_DRIVER, "libroctx64.so.4");
  EXPECT_RANGES(kiln_profiler(3), KILN_ERROR_INVALID_ARGUMENT, "no profiler 3");
  // A library that is no profiler's.
  EXPECT_EXIT((setenv("NVTX_INJECTION64_PATH", "tests/runtime/libfakeroctx.so", 1),
               launchInRanges(KILN_PROFILER_NVTX)),
              ::testing::ExitedWithCode(KILN_ERROR_NO_DRIVER), "cannot be opened");
}

} // namespace
