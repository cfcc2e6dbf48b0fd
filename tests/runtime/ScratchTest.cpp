// Memory that launches need beside their arguments: the program's allocator, and what there is
// without it. Built with the runtime's sources under ThreadSanitizer as well.
#include "tests/runtime/TestLibrary.h"

#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

// An allocator that hands out numbers of a device that nobody touches, or memory of the host.
struct Allocator {
  std::mutex mutex;
  std::vector<kiln_scratch_request> requests;
  std::set<void *> live;
  size_t numReleased = 0;
  uintptr_t next = 0x500000;
  bool isEmpty = false, isOnHost = false;
  uintptr_t offset = 0;

  static void *allocate(void *user, const kiln_scratch_request *request) {
    auto &self = *static_cast<Allocator *>(user);
    std::lock_guard<std::mutex> lock(self.mutex);
    self.requests.push_back(*request);
    if (self.isEmpty)
      return nullptr;
    void *memory = self.isOnHost ? std::aligned_alloc(request->alignment, request->bytes)
                                 : reinterpret_cast<void *>(self.next + self.offset);
    self.next += (request->bytes + 255) / 256 * 256;
    self.live.insert(memory);
    return memory;
  }
  static void release(void *user, const kiln_scratch_request *request, void *memory) {
    auto &self = *static_cast<Allocator *>(user);
    std::lock_guard<std::mutex> lock(self.mutex);
    EXPECT_EQ(self.live.erase(memory), 1u);
    EXPECT_GT(request->bytes, 0u);
    ++self.numReleased;
    if (self.isOnHost)
      std::free(memory);
  }
  void set() { ASSERT_OK(kiln_set_scratch_allocator(allocate, release, this)); }
};

class ScratchTest : public CudaLaunchTest {
protected:
  void TearDown() override {
    EXPECT_OK(kiln_set_scratch_allocator(nullptr, nullptr, nullptr));
    EXPECT_TRUE(allocator.live.empty());
    if (fake) {
      EXPECT_TRUE(fake->allocated.empty());
    }
    CudaLaunchTest::TearDown();
  }
  // The library's kernel takes `n`, and behind it scratch memory of 100 bytes a block.
  void addKernel(TestLibrary &library, const std::string &image = "FAKE\nmain 0:4 8:8") {
    library.addVariant("v", {{"n", KILN_PARAM_I32, 4, 0}});
    images.push_back(image);
    library.binary().data = images.back().c_str();
    library.binary().size = images.back().size() + 1;
    library.binary().scratch_bytes = 100;
  }
  kiln_status launchSix(TestLibrary &library) {
    int32_t n = 7;
    void *params[] = {&n};
    const int64_t grid[] = {2, 3, 1};
    return kiln_launch(&library.entry, 0, stream, grid, params);
  }
  uint64_t passed(size_t launch) {
    uint64_t address = 0;
    std::memcpy(&address, fake->launches.at(launch).arguments.at(1).data(), sizeof address);
    return address;
  }

  Allocator allocator;
  std::deque<std::string> images;
};

TEST_F(ScratchTest, ComesFromTheProgramsAllocator) {
  TestLibrary library({cubin("sm_90")});
  addKernel(library);
  allocator.set();
  ASSERT_OK(launchSix(library));
  ASSERT_OK(launchSix(library));
  ASSERT_EQ(allocator.requests.size(), 2u);
  EXPECT_EQ(passed(0), 0x500000u);
  EXPECT_EQ(passed(1), 0x500300u);
  for (const kiln_scratch_request &request : allocator.requests) {
    EXPECT_EQ(request.entry, &library.entry);
    EXPECT_EQ(request.stream.handle, stream.handle);
    EXPECT_EQ(request.device.driver, uint32_t(KILN_DRIVER_CUDA));
    EXPECT_EQ(request.device.ordinal, 0);
    EXPECT_EQ(request.device.context, context);
    EXPECT_EQ(request.bytes, 600u);
    EXPECT_EQ(request.alignment, 256u);
    EXPECT_FALSE(request.is_capturing);
  }
  EXPECT_EQ(allocator.numReleased, 2u);
  EXPECT_EQ(fake->count("cuMemAllocAsync"), 0u);
}

TEST_F(ScratchTest, ComesFromTheDriverWhereThereIsNoAllocator) {
  TestLibrary library({cubin("sm_90")});
  addKernel(library);
  ASSERT_OK(launchSix(library));
  EXPECT_EQ(fake->count("cuMemAllocAsync"), 1u);
  EXPECT_EQ(fake->count("cuMemFreeAsync"), 1u);
  EXPECT_NE(passed(0), 0u);
  EXPECT_EQ(passed(0) % 256, 0u);
  allocator.set();
  ASSERT_OK(launchSix(library));
  ASSERT_OK(kiln_set_scratch_allocator(nullptr, nullptr, nullptr));
  ASSERT_OK(launchSix(library));
  EXPECT_EQ(fake->count("cuMemAllocAsync"), 2u);
  EXPECT_EQ(allocator.numReleased, 1u);
}

TEST_F(ScratchTest, IsPassedBehindTensorMaps) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  images.push_back("FAKE\nmain 0:8 8:4 12:4 16:8 64:128 192:8");
  library.binary().data = images.back().c_str();
  library.binary().scratch_bytes = 16;
  allocator.set();
  Matrix matrix;
  ASSERT_OK(launch(library, matrix.params));
  uint64_t address;
  ASSERT_EQ(fake->launches.at(0).arguments.size(), 6u);
  std::memcpy(&address, fake->launches[0].arguments[5].data(), sizeof address);
  EXPECT_EQ(address, 0x500000u);
}

TEST_F(ScratchTest, OnHip) {
  for (const char *file : {"libfakehip5.so", "libfakehip6.so"}) {
    open(KILN_DRIVER_HIP, file, {{0, 0, "gfx942"}});
    stream = kiln_hip_stream(fake->makeDeviceStream(0));
    TestLibrary library({hsaco("gfx942")});
    addKernel(library);
    allocator.set();
    ASSERT_OK(launchSix(library));
    EXPECT_EQ(passed(0), allocator.next - 0x300);
    ASSERT_OK(kiln_set_scratch_allocator(nullptr, nullptr, nullptr));
    if (std::string(file) == "libfakehip6.so") {
      ASSERT_OK(launchSix(library));
      EXPECT_EQ(fake->count("hipFreeAsync"), 1u);
    } else {
      EXPECT_ERROR(launchSix(library), KILN_ERROR_UNSUPPORTED,
                   "lacks hipMallocAsync: set an allocator (kiln_set_scratch_allocator)");
    }
    ASSERT_OK(kiln_shutdown());
  }
}

TEST_F(ScratchTest, AnAllocatorThatHasNothing) {
  TestLibrary library({cubin("sm_90")});
  addKernel(library);
  allocator.set();
  allocator.isEmpty = true;
  EXPECT_ERROR(launchSix(library), KILN_ERROR_OUT_OF_MEMORY,
               "axpy: variant 0 (v): the scratch allocator of the program has no 600 bytes");
  EXPECT_TRUE(fake->launches.empty());
  allocator.isEmpty = false;
  EXPECT_OK(launchSix(library));
}

TEST_F(ScratchTest, AnAddressThatIsNotAligned) {
  TestLibrary library({cubin("sm_90")});
  addKernel(library);
  allocator.set();
  allocator.offset = 64;
  EXPECT_ERROR(launchSix(library), KILN_ERROR_INVALID_ARGUMENT,
               "gave 0x500040, expected a multiple of 256");
  EXPECT_TRUE(fake->launches.empty());
  EXPECT_EQ(allocator.numReleased, 1u) << "it gets the memory back";
}

TEST_F(ScratchTest, IsGivenBackWhenTheLaunchFails) {
  TestLibrary library({cubin("sm_90")});
  addKernel(library);
  ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(0)));
  fake->fail("cuLaunchKernel", 719);
  EXPECT_EQ(launchSix(library), KILN_ERROR_LAUNCH);
  EXPECT_TRUE(fake->allocated.empty());
  allocator.set();
  EXPECT_ERROR(launchSix(library), KILN_ERROR_LAUNCH, "CUDA_ERROR_FAKE (719)");
  EXPECT_EQ(allocator.numReleased, 1u);
}

// Each call of the driver fails in turn.
TEST_F(ScratchTest, FailuresOfTheDriver) {
  for (const char *call : {"cuMemAllocAsync", "cuStreamGetCtx", "cuStreamIsCapturing"}) {
    TestLibrary library({cubin("sm_90")});
    addKernel(library);
    ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(0)));
    if (std::string(call) != "cuMemAllocAsync")
      allocator.set();
    fake->fail(call, 700);
    EXPECT_NE(launchSix(library), KILN_SUCCESS);
    EXPECT_NE(std::string(kiln_last_error()).find(call), std::string::npos) << kiln_last_error();
    EXPECT_TRUE(fake->launches.empty());
    fake->heal();
    ASSERT_OK(kiln_unload(&library.library));
  }
  EXPECT_EQ(allocator.requests.size(), 0u);
}

TEST_F(ScratchTest, SaysThatTheStreamCaptures) {
  TestLibrary library({cubin("sm_90")});
  addKernel(library);
  ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(0)));
  allocator.set();
  static_cast<fake::Stream *>(stream.handle)->capturing = 1;
  ASSERT_OK(launchSix(library));
  ASSERT_EQ(allocator.requests.size(), 1u);
  EXPECT_TRUE(allocator.requests[0].is_capturing);
  ASSERT_OK(kiln_set_scratch_allocator(nullptr, nullptr, nullptr));
  ASSERT_OK(launchSix(library)) << "the driver makes it part of the graph";
  EXPECT_EQ(fake->count("cuMemAllocAsync"), 1u);
}

TEST_F(ScratchTest, MoreThanThereAreAddresses) {
  TestLibrary library({cubin("sm_90")});
  addKernel(library);
  library.binary().scratch_bytes = uint64_t(1) << 62;
  allocator.set();
  EXPECT_ERROR(launchSix(library), KILN_ERROR_OUT_OF_MEMORY, "more than there are addresses");
  EXPECT_TRUE(allocator.requests.empty());
}

// The binary's own table of parameters has to have the address.
TEST_F(ScratchTest, IsComparedWithTheBinarysParameters) {
  TestLibrary without({cubin("sm_90")}), narrow({cubin("sm_90")});
  addKernel(without, "FAKE\nmain 0:4");
  EXPECT_ERROR(launchSix(without), KILN_ERROR_ABI, "the binary has 1 parameters, the launcher 2");
  addKernel(narrow, "FAKE\nmain 0:4 4:4");
  EXPECT_ERROR(launchSix(narrow), KILN_ERROR_ABI, "parameter 1 (scratch memory) has 4 bytes");
}

TEST_F(ScratchTest, EmulatedGpusHaveNone) {
  kiln_emulator *emulator;
  ASSERT_OK(kiln_emulator_create("sm_90a", nullptr, &emulator));
  TestLibrary library({emulated("sm_90a")});
  library.addVariant("v");
  library.binary().host = [](void *const *, const uint32_t *, const uint32_t *, void *) {};
  library.binary().scratch_bytes = 8;
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_emulator_stream(emulator), OneBlock, nullptr),
               KILN_ERROR_UNSUPPORTED,
               "8 bytes of scratch memory for each block, which emu does not have");
  kiln_emulator_destroy(emulator);
}

TEST_F(ScratchTest, WrongUses) {
  EXPECT_ERROR(kiln_set_scratch_allocator(Allocator::allocate, nullptr, nullptr),
               KILN_ERROR_INVALID_ARGUMENT, "both functions, or neither");
  EXPECT_EQ(kiln_set_scratch_allocator(nullptr, Allocator::release, nullptr),
            KILN_ERROR_INVALID_ARGUMENT);
  TestLibrary library({cubin("sm_90")});
  addKernel(library);
  kiln_allocate_function resets = [](void *, const kiln_scratch_request *) -> void * {
    EXPECT_EQ(kiln_set_scratch_allocator(nullptr, nullptr, nullptr), KILN_ERROR_STATE);
    return reinterpret_cast<void *>(0x1000);
  };
  kiln_release_function nothing = [](void *, const kiln_scratch_request *, void *) {};
  ASSERT_OK(kiln_set_scratch_allocator(resets, nothing, nullptr));
  EXPECT_OK(launchSix(library));
}

// --- the CPU: one piece for the arenas of all threads ---

constexpr uint64_t ArenaBytes = 1000;

// Marks the arena with the program's number, and looks whether anybody else did meanwhile.
void useArena(void *const *params, const uint32_t id[3], const uint32_t *, void *arena) {
  auto *words = static_cast<volatile uint32_t *>(arena);
  for (size_t i = 0; i < ArenaBytes / 4; ++i)
    words[i] = id[0];
  bool isOwn = reinterpret_cast<uintptr_t>(arena) % 64 == 0;
  for (size_t i = 0; i < ArenaBytes / 4; ++i)
    isOwn &= words[i] == id[0];
  **static_cast<std::atomic<int> **>(params[0]) += isOwn;
}

class CpuScratchTest : public ScratchTest {
protected:
  void SetUp() override {
    library.addVariant("v", {{"count", KILN_PARAM_POINTER, 8, 0}});
    library.binary().host = useArena;
    library.binary().arena_bytes = ArenaBytes;
    allocator.isOnHost = true;
    ASSERT_OK(kiln_cpu_pool_create(4, &pool));
  }
  void TearDown() override {
    kiln_cpu_pool_destroy(pool);
    ScratchTest::TearDown();
  }
  // The number of programs that had their arena to themselves, of 200.
  int launchOnCpu() {
    std::atomic<int> count{0}, *pointer = &count;
    void *params[] = {&pointer};
    const int64_t grid[] = {200, 1, 1};
    EXPECT_OK(kiln_launch(&library.entry, 0, kiln_cpu_stream(pool), grid, params));
    return count;
  }

  TestLibrary library{{host()}};
  kiln_cpu_pool *pool = nullptr;
};

TEST_F(CpuScratchTest, OnePieceForAllThreads) {
  EXPECT_EQ(launchOnCpu(), 200) << "with arenas of their own";
  allocator.set();
  EXPECT_EQ(launchOnCpu(), 200);
  ASSERT_EQ(allocator.requests.size(), 1u);
  EXPECT_EQ(allocator.requests[0].bytes, 4 * 1024u);
  EXPECT_EQ(allocator.requests[0].alignment, 64u);
  EXPECT_EQ(allocator.requests[0].device.driver, uint32_t(KILN_DRIVER_CPU));
  EXPECT_EQ(allocator.numReleased, 1u);
  allocator.isEmpty = true;
  std::atomic<int> *none = nullptr;
  void *params[] = {&none};
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_cpu_stream(pool), OneBlock, params),
               KILN_ERROR_OUT_OF_MEMORY, "axpy: variant 0 (v): the scratch allocator");
}

TEST_F(CpuScratchTest, KernelsWithoutArenasAskForNothing) {
  allocator.set();
  library.binary().arena_bytes = 0;
  library.binary().host = [](void *const *, const uint32_t *, const uint32_t *, void *arena) {
    EXPECT_EQ(arena, nullptr);
  };
  launchOnCpu();
  EXPECT_TRUE(allocator.requests.empty());
}

// Launches go by the one or the other, and nobody is in an allocator that has been replaced.
TEST_F(CpuScratchTest, IsReplacedWhileThreadsLaunch) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!stop)
        EXPECT_EQ(launchOnCpu(), 200);
    });
  for (int round = 0; round < 50; ++round) {
    Allocator own;
    own.isOnHost = true;
    own.set();
    std::this_thread::yield();
    EXPECT_OK(kiln_set_scratch_allocator(nullptr, nullptr, nullptr));
    EXPECT_TRUE(own.live.empty());
    EXPECT_EQ(own.numReleased, own.requests.size());
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
