// Many threads on the first call: code is loaded once, nobody sees half of it. Built with the
// runtime's sources under ThreadSanitizer as well.
#include "runtime/platform.h"
#include "tests/runtime/TestLibrary.h"

#include <atomic>
#include <dlfcn.h>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr int NumThreads = 16;

// Runs `body(thread)` on all threads at once.
template <typename Body> void together(Body body, int numThreads = NumThreads) {
  std::atomic<int> waiting{numThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < numThreads; ++i)
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting)
        std::this_thread::yield();
      body(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

class ThreadsTest : public FakeDriverTest {};

TEST_F(ThreadsTest, FirstLaunchesOnTwoCudaDevicesLoadOnce) {
  for (int version : {11, 12}) {
    open(KILN_DRIVER_CUDA, ("libfakecuda" + std::to_string(version) + ".so").c_str(),
         {{9, 0, ""}, {9, 0, ""}});
    TestLibrary library({cubin("sm_90")});
    library.addVariant("a", {{"n", KILN_PARAM_I32, 4, 0}});
    library.addVariant("b", {{"n", KILN_PARAM_I32, 4, 0}});
    void *streams[] = {fake->makeStream(fake->makeContext(0)),
                       fake->makeStream(fake->makeContext(1))};
    together([&](int thread) {
      int32_t n = thread;
      void *params[] = {&n};
      for (int round = 0; round < 10; ++round)
        EXPECT_OK(kiln_launch(&library.entry, round % 2, kiln_cuda_stream(streams[thread % 2]),
                              OneBlock, params));
    });
    EXPECT_EQ(fake->launches.size(), size_t(NumThreads * 10));
    // Two variants; a driver without libraries loads each into both contexts.
    EXPECT_EQ(fake->count("cuLibraryLoadData") + fake->count("cuModuleLoadDataEx"),
              version == 11 ? 4u : 2u);
    EXPECT_EQ(fake->count("cuInit"), 1u);
    EXPECT_OK(kiln_unload(&library.library));
    TearDown();
  }
}

TEST_F(ThreadsTest, FirstLaunchesOnTwoHipDevicesLoadOnceEach) {
  open(KILN_DRIVER_HIP, "libfakehip6.so", {{0, 0, "gfx942"}, {0, 0, "gfx942"}});
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("v");
  void *streams[] = {fake->makeDeviceStream(0), fake->makeDeviceStream(1)};
  together([&](int thread) {
    for (int round = 0; round < 10; ++round)
      EXPECT_OK(
          kiln_launch(&library.entry, 0, kiln_hip_stream(streams[thread % 2]), OneBlock, nullptr));
  });
  EXPECT_EQ(fake->count("hipModuleLoadData"), 2u);
  EXPECT_EQ(fake->launches.size(), size_t(NumThreads * 10));
}

// A driver that takes no locks, so that nothing but the runtime orders the threads.
TEST(LaunchStressTest, AMillionLaunchesOf64ThreadsOnEightDevices) {
  constexpr int NumLaunchers = 64, NumDevices = 8, NumRounds = 15625;
  constexpr char path[] = "tests/runtime/libnullcuda.so";
  void *driver = dlopen(path, RTLD_NOW);
  ASSERT_NE(driver, nullptr) << dlerror();
  auto *streamOf = reinterpret_cast<void *(*)(int)>(dlsym(driver, "kilnNullStream"));
  auto *loads = reinterpret_cast<unsigned (*)()>(dlsym(driver, "kilnNullLoads"));
  unsigned loadsBefore = loads();
  ASSERT_OK(kiln_set_driver_path(KILN_DRIVER_CUDA, path));
  TestLibrary library({cubin("sm_90")});
  for (const char *name : {"a", "b"})
    library.addVariant(name, {{"n", KILN_PARAM_I32, 4, 0}});
  std::atomic<int> succeeded{0};
  together(
      [&](int thread) {
        kiln_call call;
        kiln_plan plan;
        kiln_stream own = kiln_cuda_stream(streamOf(thread % NumDevices));
        void *params[] = {&thread};
        EXPECT_OK(kiln_begin(&library.entry, own, &call));
        EXPECT_OK(kiln_plan_create(&call, uint32_t(thread % 2), &plan));
        int successes = 0;
        for (int round = 0; round < NumRounds; ++round) {
          kiln_stream stream = kiln_cuda_stream(streamOf((thread + round) % NumDevices));
          kiln_status status = round % 4 == 0 ? kiln_plan_run(&plan, OneBlock, params)
                                              : kiln_launch(&library.entry, uint32_t(round) % 2,
                                                            stream, OneBlock, params);
          successes += status == KILN_SUCCESS;
        }
        succeeded += successes;
      },
      NumLaunchers);
  EXPECT_EQ(succeeded, NumLaunchers * NumRounds);
  EXPECT_EQ(loads() - loadsBefore, 2u);
  EXPECT_OK(kiln_unload(&library.library));
  kiln_close_drivers();
  EXPECT_OK(kiln_set_driver_path(KILN_DRIVER_CUDA, nullptr));
}

TEST_F(ThreadsTest, PrepareReadyLaunchMissAndErrorsMix) {
  open(KILN_DRIVER_CUDA, "libfakecuda12.so", {{9, 0, ""}});
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  kiln_stream stream = kiln_cuda_stream(fake->makeStream(fake->makeContext(0)));
  together([&](int thread) {
    kiln_call call;
    EXPECT_OK(kiln_prepare(&library.entry, kiln_cuda_device(0)));
    EXPECT_EQ(kiln_is_ready(&library.entry, kiln_cuda_device(0)), 1);
    EXPECT_OK(kiln_begin(&library.entry, stream, &call));
    const kiln_argument_value value = {"n", KILN_PARAM_I32, thread};
    EXPECT_EQ(kiln_miss(&call, 0, 1, "n % 16 == 0", &value, 1), KILN_ERROR_NO_VARIANT);
    // The message is this thread's own.
    EXPECT_NE(std::string(kiln_last_error()).find("but n is " + std::to_string(thread)),
              std::string::npos);
    EXPECT_OK(kiln_run(&call, 0, OneBlock, nullptr));
  });
  EXPECT_EQ(kiln_miss_count(&library.entry), uint64_t(NumThreads));
  EXPECT_EQ(fake->count("cuLibraryLoadData"), 1u);
}

// Maps whose words are all the address of their tensor, kept and looked for without pause.
TEST(TensorMapCacheTest, NobodyGetsAMapThatIsBeingReplaced) {
  kiln_tensor_map_cache *cache = kiln_make_tensor_map_caches(1);
  ASSERT_NE(cache, nullptr);
  constexpr unsigned NumTensors = KILN_KEPT_TENSOR_MAPS + 2, NumRounds = 5000;
  std::atomic<unsigned> found{0}, torn{0};
  together([&](int thread) {
    for (unsigned round = 0; round < NumRounds; ++round) {
      uint64_t address = 16 * (1 + (round * 5 + unsigned(thread)) % NumTensors);
      kiln_tensor tensor = {};
      tensor.base = reinterpret_cast<void *>(address);
      tensor.rank = 1;
      kiln_encoded_map map;
      if (kiln_find_tensor_map(cache, &tensor, &map)) {
        ++found;
        for (uint64_t word : map.words)
          torn += word != address;
      } else {
        std::fill(std::begin(map.words), std::end(map.words), address);
        kiln_keep_tensor_map(cache, &tensor, &map);
      }
    }
  });
  EXPECT_GT(found, 0u);
  EXPECT_EQ(torn, 0u);
  kiln_os_free_aligned(cache);
}

// Choices for numbers that say what the choice is, kept and asked for without pause.
TEST_F(ThreadsTest, NobodyGetsAChoiceForOtherWords) {
  open(KILN_DRIVER_CUDA, "libfakecuda12.so", {{9, 0, ""}});
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v");
  library.entry.num_choice_words = 3;
  kiln_call call;
  ASSERT_OK(
      kiln_begin(&library.entry, kiln_cuda_stream(fake->makeStream(fake->makeContext(0))), &call));
  // More than are kept, so that they are replaced all the time.
  constexpr unsigned NumShapes = 20000, NumRounds = 60000;
  std::atomic<unsigned> known{0}, wrong{0};
  together([&](int thread) {
    for (unsigned round = 0; round < NumRounds; ++round) {
      uint32_t shape = (round * 5 + unsigned(thread)) % NumShapes;
      const uint64_t words[] = {shape % 3, shape, shape % 7};
      const uint64_t hash = shape * UINT64_C(0x9e3779b97f4a7c15);
      uint32_t choice = kiln_recall(&call, words, hash);
      known += choice != KILN_NO_CHOICE;
      wrong += choice != KILN_NO_CHOICE && choice != shape;
      if (choice == KILN_NO_CHOICE)
        kiln_remember(&call, words, hash, shape);
    }
  });
  EXPECT_GT(known, 0u);
  EXPECT_EQ(wrong, 0u);
  // Until the code is unloaded.
  ASSERT_OK(kiln_unload(&library.library));
  ASSERT_OK(kiln_begin(&library.entry, call.stream, &call));
  const uint64_t words[] = {0, 0, 0};
  EXPECT_EQ(kiln_recall(&call, words, 0), KILN_NO_CHOICE);
}

TEST_F(ThreadsTest, EachLaunchGetsItsOwnTensorMaps) {
  open(KILN_DRIVER_CUDA, "libfakecuda12.so", {{9, 0, ""}});
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap(), matrixMap()});
  kiln_stream stream = kiln_cuda_stream(fake->makeStream(fake->makeContext(0)));
  // More tensors than are kept; every second one is asked for by all threads.
  constexpr int NumTensors = 2 * KILN_KEPT_TENSOR_MAPS, NumRounds = 40;
  together([&](int thread) {
    for (int round = 0; round < NumRounds; ++round) {
      int tensor = round % 2 ? thread : (round * 7 + thread) % NumTensors;
      Matrix matrix(0x10000 + 0x1000 * tensor, 100 + tensor);
      EXPECT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, matrix.params));
    }
  });
  ASSERT_EQ(fake->launches.size(), size_t(NumThreads * NumRounds));
  EXPECT_LT(fake->count("cuTensorMapEncodeTiled"), size_t(2 * NumThreads * NumRounds));
  for (const fake::Launch &launch : fake->launches)
    for (size_t argument : {4, 5}) {
      uint64_t base;
      fake::TensorMap map;
      std::memcpy(&base, launch.arguments.at(0).data(), sizeof base);
      std::memcpy(&map, launch.arguments.at(argument).data(), sizeof map);
      ASSERT_EQ(map.sum, map.sumOfTheRest());
      ASSERT_EQ(map.address, base);
      ASSERT_EQ(map.extents[1], 100 + (base - 0x10000) / 0x1000);
    }
}

void increment(void *const *params, const uint32_t *, const uint32_t *, void *arena) {
  static_cast<char *>(arena)[0] = 1;
  ++**static_cast<std::atomic<int> **>(params[0]);
}

TEST_F(ThreadsTest, FirstLaunchesOnTheDefaultCpuPool) {
  TestLibrary library({host()});
  library.addVariant("v", {{"n", KILN_PARAM_POINTER, 8, 0}});
  library.binary().host = increment;
  library.binary().arena_bytes = 128;
  std::atomic<int> total{0};
  together([&](int) {
    std::atomic<int> *pointer = &total;
    void *params[] = {&pointer};
    const int64_t grid[] = {10, 2, 1};
    for (int round = 0; round < 10; ++round)
      EXPECT_OK(kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), grid, params));
  });
  EXPECT_EQ(total, NumThreads * 10 * 20);
}

// What a kernel writes without atomics is there when the launch returns.
void writePlain(void *const *params, const uint32_t id[3], const uint32_t *, void *) {
  (*static_cast<int **>(params[0]))[id[0]] += int(id[0]);
}

TEST_F(ThreadsTest, ResultsAreVisibleAfterTheLaunch) {
  TestLibrary library({host()});
  library.addVariant("v", {{"x", KILN_PARAM_POINTER, 8, 0}});
  library.binary().host = writePlain;
  kiln_cpu_pool *pool;
  ASSERT_OK(kiln_cpu_pool_create(4, &pool));
  std::vector<int> x(1000);
  int *pointer = x.data();
  void *params[] = {&pointer};
  const int64_t grid[] = {1000, 1, 1};
  for (int round = 1; round <= 20; ++round) {
    ASSERT_OK(kiln_launch(&library.entry, 0, kiln_cpu_stream(pool), grid, params));
    for (int i = 0; i < 1000; ++i)
      ASSERT_EQ(x[i], i * round);
  }
  kiln_cpu_pool_destroy(pool);
}

} // namespace
