// fork while other threads launch: the child can launch too, on the same pools, and use what the
// parent was using.
#include "tests/runtime/TestLibrary.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace kiln::test;

namespace {

void count(void *const *params, const uint32_t *, const uint32_t *, void *) {
  ++**static_cast<std::atomic<int> **>(params[0]);
}

constexpr int64_t Grid[3] = {64, 1, 1};

// Loads, launches, prints and unloads: every mutex of the runtime that needs no GPU.
bool useRuntime(kiln_cpu_pool *pool, kiln_emulator *emulator) {
  TestLibrary library({host()});
  library.addVariant("v", {{"data", KILN_PARAM_POINTER, 8, 0}});
  library.binary().host = count;
  std::atomic<int> counter{0};
  void *data = &counter, *params[] = {&data};
  bool ran = true;
  for (kiln_stream stream : {kiln_cpu_stream(pool), kiln_cpu_stream(nullptr)})
    ran &= kiln_launch(&library.entry, 0, stream, Grid, params) == KILN_SUCCESS;
  int memory = 0;
  kiln_emulator_register(emulator, &memory, sizeof memory);
  kiln_emulator_unregister(emulator, &memory);
  kiln_device_print("", nullptr);
  return ran && counter == 2 * Grid[0];
}

class ForkTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_OK(kiln_cpu_pool_create(3, &pool));
    ASSERT_OK(kiln_emulator_create("sm_90a", pool, &emulator));
  }
  void TearDown() override {
    kiln_emulator_destroy(emulator);
    kiln_cpu_pool_destroy(pool);
  }

  // Forks; the child does `body` within a few seconds and is then asked nothing more.
  template <typename Body> void expectChild(Body body) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(body() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }

  kiln_cpu_pool *pool = nullptr;
  kiln_emulator *emulator = nullptr;
};

TEST_F(ForkTest, AChildLaunchesOnThePoolsOfItsParent) {
  ASSERT_TRUE(useRuntime(pool, emulator));
  expectChild([&] {
    bool ran = useRuntime(pool, emulator);
    EXPECT_EQ(kiln_cpu_pool_threads(pool), 3u);
    kiln_cpu_pool_destroy(pool);
    return ran;
  });
  EXPECT_TRUE(useRuntime(pool, emulator));
}

// The threads of the default pool are its parent's, and so are the arenas of all but this one.
TEST_F(ForkTest, AChildShutsDown) {
  ASSERT_TRUE(useRuntime(pool, emulator));
  expectChild([&] {
    kiln_emulator_destroy(emulator);
    kiln_cpu_pool_destroy(pool);
    return kiln_shutdown() == KILN_SUCCESS && kiln_cpu_pool_create(3, &pool) == KILN_SUCCESS &&
           kiln_emulator_create("sm_90a", pool, &emulator) == KILN_SUCCESS &&
           useRuntime(pool, emulator) && kiln_shutdown() == KILN_SUCCESS;
  });
  EXPECT_TRUE(useRuntime(pool, emulator));
}

TEST_F(ForkTest, WhileThreadsLaunch) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop)
        if (!useRuntime(pool, emulator)) {
          ADD_FAILURE() << kiln_last_error();
          return;
        }
    });
  for (int round = 0; round < 100 && !HasFailure(); ++round)
    expectChild([&] { return useRuntime(pool, emulator); });
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
}

// A function that is called under one of the runtime's mutexes forks.
TEST_F(ForkTest, WhileTheThreadItselfHoldsAMutex) {
  auto forkAndWait = [](void *, const char *, size_t) {
    pid_t child = fork();
    if (child == 0)
      return;
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  };
  pid_t self = getpid();
  kiln_set_print_function(forkAndWait, nullptr);
  kiln_device_print("", nullptr);
  if (getpid() != self) {
    alarm(20);
    _exit(kiln_set_print_function(nullptr, nullptr) == KILN_SUCCESS ? 0 : 1);
  }
  kiln_set_print_function(nullptr, nullptr);
}

} // namespace
