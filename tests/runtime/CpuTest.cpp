// The CPU pool: which instances run, in which order, with which arena, and that launches can be
// nested and concurrent.
#include "tests/runtime/TestLibrary.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace kiln::test;

namespace {

struct Pool {
  explicit Pool(uint32_t threads) { EXPECT_OK(kiln_cpu_pool_create(threads, &pool)); }
  ~Pool() { kiln_cpu_pool_destroy(pool); }
  kiln_stream stream() const { return kiln_cpu_stream(pool); }
  kiln_cpu_pool *pool = nullptr;
};

// A library of one CPU kernel whose only parameter is a pointer to `data`.
struct HostKernel {
  explicit HostKernel(kiln_host_function function, uint64_t arenaBytes = 0) : library({host()}) {
    library.addVariant("v", {{"data", KILN_PARAM_POINTER, 8, 0}});
    library.binary().host = function;
    library.binary().arena_bytes = arenaBytes;
  }
  kiln_status launch(kiln_stream stream, const int64_t grid[3], void *data) {
    void *params[] = {&data};
    return kiln_launch(&library.entry, 0, stream, grid, params);
  }
  TestLibrary library;
};

template <typename T> T *argument(void *const *params) { return *static_cast<T **>(params[0]); }

struct Counters {
  explicit Counters(size_t size) : counts(size) {}
  std::vector<std::atomic<int>> counts;
};

void countInstance(void *const *params, const uint32_t id[3], const uint32_t grid[3], void *) {
  size_t index = id[0] + size_t(grid[0]) * (id[1] + size_t(grid[1]) * id[2]);
  argument<Counters>(params)->counts.at(index)++;
}

class CpuPoolTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, CpuPoolTest, ::testing::Values(1, 2, 3, 16));

TEST_P(CpuPoolTest, EveryInstanceRunsOnce) {
  Pool pool(GetParam());
  EXPECT_EQ(kiln_cpu_pool_threads(pool.pool), uint32_t(GetParam()));
  HostKernel kernel(countInstance);
  const int64_t grids[][3] = {{1, 1, 1}, {7, 1, 1}, {1, 5, 3}, {13, 11, 7}, {10000, 1, 1}};
  for (const auto &grid : grids) {
    Counters counters(grid[0] * grid[1] * grid[2]);
    ASSERT_OK(kernel.launch(pool.stream(), grid, &counters));
    for (const std::atomic<int> &count : counters.counts)
      ASSERT_EQ(count, 1);
  }
}

// Instances 5 of x fail.
void failSome(void *const *params, const uint32_t id[3], const uint32_t grid[3], void *arena) {
  countInstance(params, id, grid, arena);
  if (id[0] == 5)
    kiln_device_fail("k.py:3:5: k", "tl.device_assert: x > 0", id);
}

TEST_P(CpuPoolTest, AFailedAssertionFailsTheLaunch) {
  Pool pool(GetParam());
  HostKernel kernel(failSome);
  const int64_t grid[3] = {1000, 2, 1};
  Counters counters(2000);
  EXPECT_EQ(kernel.launch(pool.stream(), grid, &counters), KILN_ERROR_LAUNCH);
  std::string message = kiln_last_error();
  EXPECT_NE(message.find("k.py:3:5: k, program (5, "), std::string::npos) << message;
  EXPECT_NE(message.find(", 0): tl.device_assert: x > 0"), std::string::npos) << message;
  // What was claimed before may have run; most of the grid has not.
  size_t ran = 0;
  for (const std::atomic<int> &count : counters.counts)
    ran += count;
  EXPECT_LT(ran, 2000u);
  // The pool is as before.
  HostKernel other(countInstance);
  Counters again(2000);
  ASSERT_OK(other.launch(pool.stream(), grid, &again));
  for (const std::atomic<int> &count : again.counts)
    ASSERT_EQ(count, 1);
}

TEST(DevicePrintTest, FormatsWords) {
  std::string text;
  ASSERT_OK(kiln_set_print_function(
      [](void *user, const char *line, size_t length) {
        static_cast<std::string *>(user)->append(line, length);
      },
      &text));
  double real = -1.25;
  uint64_t words[] = {uint64_t(-7), 0xfffffff9, ~uint64_t(0), 0, 0xbeef, 0x12345678};
  std::memcpy(&words[3], &real, sizeof real);
  kiln_device_print("%3i|%u|%lli|%f|0x%08x|0x%016llx 100%%\n", words);
  std::string longest = std::string(3000, 'x') + "\n";
  kiln_device_print(longest.c_str(), nullptr);
  ASSERT_OK(kiln_set_print_function(nullptr, nullptr));
  std::string first = " -7|4294967289|-1|-1.250000|0x0000beef|0x0000000012345678 100%\n";
  EXPECT_EQ(text.substr(0, first.size()), first);
  // A line has room for 1023 characters.
  EXPECT_EQ(text.size(), first.size() + 1023);
}

struct Gate {
  std::atomic<int64_t> finished{0};
};

// Waits for every lower instance: runs to its end only if claims are made in increasing order.
void waitForLower(void *const *params, const uint32_t id[3], const uint32_t grid[3], void *) {
  Gate *gate = argument<Gate>(params);
  int64_t index = id[0] + int64_t(grid[0]) * (id[1] + int64_t(grid[1]) * id[2]);
  while (gate->finished.load(std::memory_order_acquire) != index)
    std::this_thread::yield();
  gate->finished.store(index + 1, std::memory_order_release);
}

TEST_P(CpuPoolTest, KernelsMayWaitForLowerInstances) {
  Pool pool(GetParam());
  HostKernel kernel(waitForLower);
  Gate gate;
  const int64_t grid[] = {9, 7, 5};
  ASSERT_OK(kernel.launch(pool.stream(), grid, &gate));
  EXPECT_EQ(gate.finished, 9 * 7 * 5);
}

struct ArenaCheck {
  uint64_t bytes = 0;
  std::atomic<int> bad{0};
};

void useArena(void *const *params, const uint32_t id[3], const uint32_t *, void *arena) {
  ArenaCheck *check = argument<ArenaCheck>(params);
  unsigned char *bytes = static_cast<unsigned char *>(arena);
  if (reinterpret_cast<uintptr_t>(arena) % 64)
    check->bad++;
  unsigned char mark = static_cast<unsigned char>(id[0]);
  for (uint64_t i = 0; i < check->bytes; ++i)
    bytes[i] = mark;
  std::this_thread::yield();
  for (uint64_t i = 0; i < check->bytes; ++i)
    check->bad += bytes[i] != mark;
}

TEST_P(CpuPoolTest, ArenasAreAlignedLargeEnoughAndTheThreadsOwn) {
  Pool pool(GetParam());
  for (uint64_t bytes : {1u, 63u, 64u, 1000u, 100000u, 8u}) {
    HostKernel kernel(useArena, bytes);
    ArenaCheck check;
    check.bytes = bytes;
    const int64_t grid[] = {50, 1, 1};
    ASSERT_OK(kernel.launch(pool.stream(), grid, &check));
    EXPECT_EQ(check.bad, 0) << bytes;
  }
}

TEST_P(CpuPoolTest, SeveralThreadsLaunchOnOnePool) {
  Pool pool(GetParam());
  HostKernel kernel(countInstance);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        Counters counters(300);
        const int64_t grid[] = {10, 10, 3};
        ASSERT_OK(kernel.launch(pool.stream(), grid, &counters));
        for (const std::atomic<int> &count : counters.counts)
          ASSERT_EQ(count, 1);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

struct Nested {
  HostKernel *inner;
  kiln_stream stream;
  std::atomic<int> failures{0};
  ArenaCheck check;
};

void launchInner(void *const *params, const uint32_t id[3], const uint32_t *, void *arena) {
  Nested *nested = argument<Nested>(params);
  unsigned char *mine = static_cast<unsigned char *>(arena);
  mine[0] = static_cast<unsigned char>(id[0]);
  const int64_t grid[] = {6, 1, 1};
  nested->failures += nested->inner->launch(nested->stream, grid, &nested->check) != KILN_SUCCESS;
  nested->failures += mine[0] != static_cast<unsigned char>(id[0]);
}

TEST_P(CpuPoolTest, InstancesMayLaunchOnTheirPoolAndKeepTheirArena) {
  Pool pool(GetParam());
  HostKernel inner(useArena, 256), outer(launchInner, 64);
  Nested nested{&inner, pool.stream(), {}, {}};
  nested.check.bytes = 256;
  const int64_t grid[] = {40, 1, 1};
  ASSERT_OK(outer.launch(pool.stream(), grid, &nested));
  EXPECT_EQ(nested.failures, 0);
  EXPECT_EQ(nested.check.bad, 0);
}

void recordThread(void *const *params, const uint32_t *, const uint32_t *, void *) {
  if (std::this_thread::get_id() != *argument<std::thread::id>(params))
    ADD_FAILURE() << "another thread ran it";
}

TEST(CpuTest, APoolOfOneRunsOnTheCaller) {
  Pool pool(1);
  HostKernel kernel(recordThread);
  std::thread::id self = std::this_thread::get_id();
  const int64_t grid[] = {1000, 1, 1};
  ASSERT_OK(kernel.launch(pool.stream(), grid, &self));
}

TEST(CpuTest, TheDefaultPoolServesNullStreams) {
  HostKernel kernel(countInstance);
  Counters counters(100);
  const int64_t grid[] = {100, 1, 1};
  ASSERT_OK(kiln_prepare(&kernel.library.entry, kiln_cpu_device()));
  EXPECT_EQ(kiln_is_ready(&kernel.library.entry, kiln_cpu_device()), 1);
  ASSERT_OK(kernel.launch(kiln_cpu_stream(nullptr), grid, &counters));
  for (const std::atomic<int> &count : counters.counts)
    ASSERT_EQ(count, 1);
  EXPECT_GE(kiln_cpu_pool_threads(nullptr), 1u);
  kiln_call call;
  ASSERT_OK(kiln_begin(&kernel.library.entry, kiln_cpu_stream(nullptr), &call));
  EXPECT_EQ(call.processors, kiln_cpu_pool_threads(nullptr));
  kiln_device device;
  ASSERT_OK(kiln_stream_device(kiln_cpu_stream(nullptr), &device));
  EXPECT_EQ(device.driver, uint32_t(KILN_DRIVER_CPU));
  kiln_close_drivers();
}

TEST(CpuTest, GridsOutOfRangeAreErrorsAndEmptyOnesRunNothing) {
  HostKernel kernel(countInstance);
  Counters none(0);
  Pool pool(1);
  const int64_t empty[] = {3, 0, 1}, negative[] = {-1, 1, 1}, large[] = {int64_t(1) << 31, 1, 1},
                huge[] = {0x7fffffff, 0x7fffffff, 0x7fffffff};
  EXPECT_OK(kernel.launch(pool.stream(), empty, &none));
  EXPECT_ERROR(kernel.launch(pool.stream(), negative, &none), KILN_ERROR_GRID, "negative");
  EXPECT_ERROR(kernel.launch(pool.stream(), large, &none), KILN_ERROR_GRID, "dimension 0");
  EXPECT_ERROR(kernel.launch(pool.stream(), huge, &none), KILN_ERROR_GRID, "2^63-1 instances");
}

TEST(DeviceRegisterTest, ClockGoesOnAndProcessorHasANumber) {
  uint64_t before = kiln_device_nanoseconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  uint64_t passed = kiln_device_nanoseconds() - before;
  EXPECT_GE(passed, 1900000u);
  EXPECT_LT(passed, uint64_t(60) * 1000000000);
  EXPECT_LT(kiln_device_processor(), 1u << 16);
}

TEST(CpuTest, ImpossibleArenasAreErrors) {
  HostKernel kernel(useArena, UINT64_MAX - 8);
  ArenaCheck check;
  Pool pool(2);
  EXPECT_ERROR(kernel.launch(pool.stream(), OneBlock, &check), KILN_ERROR_OUT_OF_MEMORY,
               "axpy: variant 0 (v): no memory for an arena of 18446744073709551607 bytes");
}

TEST(CpuTest, BadPoolsAndDevicesAreErrors) {
  kiln_cpu_pool *pool = nullptr;
  EXPECT_ERROR(kiln_cpu_pool_create(4097, &pool), KILN_ERROR_INVALID_ARGUMENT, "4096");
  EXPECT_ERROR(kiln_cpu_pool_create(1, nullptr), KILN_ERROR_INVALID_ARGUMENT, "result");
  kiln_cpu_pool_destroy(nullptr);
  HostKernel kernel(countInstance);
  kiln_device second = kiln_cpu_device();
  second.ordinal = 1;
  EXPECT_ERROR(kiln_prepare(&kernel.library.entry, second), KILN_ERROR_INVALID_DEVICE,
               "no cpu device 1");
  kernel.library.binary().shared_bytes = 16;
  EXPECT_ERROR(kiln_prepare(&kernel.library.entry, kiln_cpu_device()), KILN_ERROR_UNSUPPORTED,
               "shared memory");
}

} // namespace
