// What reaches cuLaunchKernel, on drivers of three generations.
#include "tests/runtime/TestLibrary.h"

#include <cstring>

using namespace kiln;
using namespace kiln::test;

namespace {

class CudaLaunchTest : public FakeDriverTest, public ::testing::WithParamInterface<int> {
protected:
  void SetUp() override {
    open(KILN_DRIVER_CUDA, ("libfakecuda" + std::to_string(GetParam()) + ".so").c_str(),
         {{9, 0, ""}, {8, 6, ""}});
    context = fake->makeContext(0);
    stream = kiln_cuda_stream(fake->makeStream(context));
  }
  bool hasExtendedLaunch() const { return GetParam() >= 12; }

  void *context = nullptr;
  kiln_stream stream = {};
};

INSTANTIATE_TEST_SUITE_P(Drivers, CudaLaunchTest, ::testing::Values(11, 12),
                         [](const auto &info) { return "cuda" + std::to_string(info.param); });

TEST_P(CudaLaunchTest, EveryScalarTypeArrivesWithItsSizeAndValue) {
  const double marker = 0;
  const void *pointer = &marker;
  uint8_t i1 = 1, u8 = 200, f8 = 0x3c;
  int8_t i8 = -5;
  int16_t i16 = -1234;
  uint16_t u16 = 65000, f16 = 0x3c00, bf16 = 0x3f80;
  int32_t i32 = -123456789;
  uint32_t u32 = 4000000000u;
  int64_t i64 = -1234567890123456789;
  uint64_t u64 = 12345678901234567890u;
  float f32 = 0.1f;
  double f64 = 0.1;
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v", {{"pointer", KILN_PARAM_POINTER, 8, 0},
                           {"i1", KILN_PARAM_I1, 1, 8},
                           {"i8", KILN_PARAM_I8, 1, 9},
                           {"u8", KILN_PARAM_U8, 1, 10},
                           {"f8", KILN_PARAM_F8, 1, 11},
                           {"i16", KILN_PARAM_I16, 2, 12},
                           {"u16", KILN_PARAM_U16, 2, 14},
                           {"f16", KILN_PARAM_F16, 2, 16},
                           {"bf16", KILN_PARAM_BF16, 2, 18},
                           {"i32", KILN_PARAM_I32, 4, 20},
                           {"u32", KILN_PARAM_U32, 4, 24},
                           {"f32", KILN_PARAM_F32, 4, 28},
                           {"i64", KILN_PARAM_I64, 8, 32},
                           {"u64", KILN_PARAM_U64, 8, 40},
                           {"f64", KILN_PARAM_F64, 8, 48}});
  void *params[] = {&pointer, &i1,  &i8,  &u8,  &f8,  &i16, &u16, &f16,
                    &bf16,    &i32, &u32, &f32, &i64, &u64, &f64};
  ASSERT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, params));

  const auto &arguments = fake->launches.at(0).arguments;
  const size_t sizes[] = {8, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8};
  ASSERT_EQ(arguments.size(), std::size(params));
  for (size_t i = 0; i < std::size(params); ++i) {
    ASSERT_EQ(arguments[i].size(), sizes[i]) << library.params()[i].name;
    EXPECT_EQ(std::memcmp(arguments[i].data(), params[i], sizes[i]), 0) << library.params()[i].name;
  }
}

TEST_P(CudaLaunchTest, GridBlockSharedAndStreamArrive) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  library.binary().threads = 256;
  library.binary().shared_bytes = 1000;
  const int64_t grid[] = {7, 5, 3};
  ASSERT_OK(kiln_launch(&library.entry, 0, stream, grid, nullptr));
  const fake::Launch &launch = fake->launches.at(0);
  EXPECT_EQ(launch.function, "cuLaunchKernel");
  EXPECT_EQ(launch.kernel, "main");
  EXPECT_EQ(launch.grid, (std::array<unsigned, 3>{7, 5, 3}));
  EXPECT_EQ(launch.block, (std::array<unsigned, 3>{256, 1, 1}));
  EXPECT_EQ(launch.shared, 1000u);
  EXPECT_EQ(launch.stream, stream.handle);
}

TEST_P(CudaLaunchTest, EachDeviceRunsItsOwnBestBinary) {
  TestLibrary library({cubin("sm_80"), cubin("sm_90a")});
  library.addVariant("v");
  kiln_stream other = kiln_cuda_stream(fake->makeStream(fake->makeContext(1)));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr));
    ASSERT_OK(kiln_launch(&library.entry, 0, other, OneBlock, nullptr));
  }
  ASSERT_EQ(fake->launches.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(fake->launches[i].device, i % 2);
    EXPECT_EQ(fake->launches[i].image, library.binary(0, i % 2 ? 0 : 1).data);
  }
}

TEST_P(CudaLaunchTest, TheCallSaysWhichTargetToDispatchOn) {
  TestLibrary library({cubin("sm_80"), cubin("sm_90a")});
  library.addVariant("v");
  kiln_call call;
  ASSERT_OK(kiln_begin(&library.entry, stream, &call));
  EXPECT_EQ(call.target, 1u);
  EXPECT_EQ(call.arch, 90u);
  EXPECT_EQ(call.processors, 132u);
}

TEST_P(CudaLaunchTest, TwoContextsOfOneDeviceWork) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  void *second = fake->makeContext(0);
  kiln_stream other = kiln_cuda_stream(fake->makeStream(second));
  ASSERT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr));
  ASSERT_OK(kiln_launch(&library.entry, 0, other, OneBlock, nullptr));
  EXPECT_EQ(fake->launches.at(0).context, context);
  EXPECT_EQ(fake->launches.at(1).context, second);
  // Once for all contexts, or once for each.
  EXPECT_EQ(fake->count("cuLibraryLoadData"), GetParam() >= 12 ? 1u : 0u);
  EXPECT_EQ(fake->count("cuModuleLoadDataEx"), GetParam() >= 12 ? 0u : 2u);
}

TEST_P(CudaLaunchTest, TheDefaultStreamIsTheCurrentContexts) {
  TestLibrary library({cubin("sm_80")});
  library.addVariant("v");
  void *second = fake->makeContext(1);
  fake->setCurrent(second);
  ASSERT_OK(kiln_launch(&library.entry, 0, kiln_cuda_stream(nullptr), OneBlock, nullptr));
  EXPECT_EQ(fake->launches.at(0).context, second);
  EXPECT_EQ(fake->launches.at(0).device, 1);
}

TEST_P(CudaLaunchTest, TheDefaultStreamWithoutAContextIsAnError) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_cuda_stream(nullptr), OneBlock, nullptr),
               KILN_ERROR_INVALID_DEVICE, "needs a current cuda context");
}

TEST_P(CudaLaunchTest, TheCallersContextStaysCurrent) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  void *mine = fake->makeContext(1);
  for (void *current : {mine, static_cast<void *>(nullptr)}) {
    fake->setCurrent(current);
    ASSERT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr));
    EXPECT_EQ(fake->current(), current);
    ASSERT_OK(kiln_unload(&library.library));
    EXPECT_EQ(fake->current(), current);
  }
  fake->fail(GetParam() >= 12 ? "cuLibraryLoadData" : "cuModuleLoadDataEx", 200);
  EXPECT_EQ(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr), KILN_ERROR_LOAD);
  EXPECT_EQ(fake->current(), nullptr);
}

TEST_P(CudaLaunchTest, AnEmptyGridLaunchesNothing) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  for (int i = 0; i < 3; ++i) {
    int64_t grid[] = {5, 5, 5};
    grid[i] = 0;
    EXPECT_OK(kiln_launch(&library.entry, 0, stream, grid, nullptr));
  }
  EXPECT_TRUE(fake->launches.empty());
}

TEST_P(CudaLaunchTest, GridsOutOfRangeAreErrors) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  const int64_t bad[][3] = {
      {-1, 1, 1}, {1, 0, -1}, {int64_t(1) << 31, 1, 1}, {1, 65536, 1}, {1, 1, 65536}};
  for (const auto &grid : bad)
    EXPECT_ERROR(kiln_launch(&library.entry, 0, stream, grid, nullptr), KILN_ERROR_GRID,
                 "grid dimension");
  const int64_t largest[] = {0x7fffffff, 65535, 65535};
  EXPECT_OK(kiln_launch(&library.entry, 0, stream, largest, nullptr));
  EXPECT_EQ(fake->launches.size(), 1u);
}

TEST_P(CudaLaunchTest, LaunchErrorsNameTheKernelAndTheCause) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("BLOCK=128");
  fake->fail("cuLaunchKernel", 719);
  EXPECT_ERROR(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr), KILN_ERROR_LAUNCH,
               "axpy: variant 0 (BLOCK=128), grid 1 x 1 x 1, 128 threads, 0 bytes shared: "
               "cuLaunchKernel failed: CUDA_ERROR_FAKE (719): as the test asked");
  fake->fail("cuLaunchKernel", 2);
  EXPECT_ERROR(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr), KILN_ERROR_OUT_OF_MEMORY,
               "cuLaunchKernel");
  fake->heal();
  EXPECT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr));
}

TEST_P(CudaLaunchTest, LargeSharedMemoryIsAskedForOnEachDevice) {
  TestLibrary library({cubin("sm_80")});
  library.addVariant("v");
  library.binary().shared_bytes = 96 * 1024;
  fake->devices[0] = {8, 0, ""};
  kiln_stream other = kiln_cuda_stream(fake->makeStream(fake->makeContext(1)));
  EXPECT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr));
  EXPECT_OK(kiln_launch(&library.entry, 0, other, OneBlock, nullptr));
}

TEST_P(CudaLaunchTest, ClustersCooperationAndDependentLaunchAreAttributes) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  library.binary().cluster[0] = 16;
  library.binary().cluster[2] = 1;
  library.binary().flags = KILN_LAUNCH_COOPERATIVE | KILN_LAUNCH_PDL;
  const int64_t grid[] = {2, 2, 1};
  if (!hasExtendedLaunch()) {
    EXPECT_ERROR(kiln_launch(&library.entry, 0, stream, grid, nullptr), KILN_ERROR_UNSUPPORTED,
                 "cuLaunchKernelEx");
    return;
  }
  ASSERT_OK(kiln_launch(&library.entry, 0, stream, grid, nullptr));
  const fake::Launch &launch = fake->launches.at(0);
  EXPECT_EQ(launch.function, "cuLaunchKernelEx");
  ASSERT_EQ(launch.attributes.size(), 3u);
  EXPECT_EQ(launch.attributes.at(2)[0], 1u);
  EXPECT_EQ(launch.attributes.at(4), (std::array<unsigned, 3>{16, 1, 1}));
  EXPECT_EQ(launch.attributes.at(6)[0], 1u);
  EXPECT_EQ(launch.grid[0], 32u) << "a cluster for each program";
  EXPECT_EQ(launch.grid[1], 2u);
  const int64_t tooMany[] = {(int64_t(1) << 31) / 16, 2, 1};
  EXPECT_ERROR(kiln_launch(&library.entry, 0, stream, tooMany, nullptr), KILN_ERROR_GRID,
               "grid dimension 0 is 134217728, the device allows 134217727");
}

TEST_P(CudaLaunchTest, ACooperativeGridThatDoesNotFitIsAnErrorOfTheGrid) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  library.binary().flags = KILN_LAUNCH_COOPERATIVE;
  fake->fail("cuLaunchKernelEx", 720);
  if (hasExtendedLaunch())
    EXPECT_ERROR(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr), KILN_ERROR_GRID,
                 "the device has no room for all blocks of a cooperative launch: cuLaunchKernelEx");
}

TEST_P(CudaLaunchTest, APlanRunsWithoutLookingAnythingUp) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v", {{"n", KILN_PARAM_I32, 4, 0}});
  kiln_call call;
  kiln_plan plan;
  ASSERT_OK(kiln_begin(&library.entry, stream, &call));
  ASSERT_OK(kiln_plan_create(&call, 0, &plan));
  fake->calls.clear();
  int32_t n = 42;
  void *params[] = {&n};
  ASSERT_OK(kiln_plan_run(&plan, OneBlock, params));
  EXPECT_EQ(fake->launches.at(0).arguments.at(0).at(0), 42);
  for (const char *name : {"cuStreamGetCtx", "cuCtxGetId"})
    EXPECT_EQ(fake->count(name), 0u) << name;
}

TEST_P(CudaLaunchTest, AWarmLaunchAsksTheDriverOnlyForTheStreamsContext) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("v");
  fake->setCurrent(context);
  ASSERT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr));
  fake->calls.clear();
  ASSERT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr));
  const std::vector<std::string> expected[] = {
      {"cuStreamGetCtx", "cuCtxGetCurrent", "cuLaunchKernel"},
      {"cuStreamGetCtx", "cuCtxGetId", "cuLaunchKernel"}};
  EXPECT_EQ(fake->calls, expected[GetParam() - 11]);
}

TEST_P(CudaLaunchTest, BadArgumentsAreErrors) {
  TestLibrary library({cubin("sm_90"), cubin("sm_86")});
  library.addVariant("v", {{"n", KILN_PARAM_I32, 4, 0}});
  EXPECT_ERROR(kiln_launch(nullptr, 0, stream, OneBlock, nullptr), KILN_ERROR_INVALID_ARGUMENT,
               "entry is null");
  EXPECT_ERROR(kiln_launch(&library.entry, 9, stream, OneBlock, nullptr),
               KILN_ERROR_INVALID_ARGUMENT, "no variant 9");
  EXPECT_ERROR(kiln_launch(&library.entry, 0, stream, nullptr, nullptr),
               KILN_ERROR_INVALID_ARGUMENT, "grid is null");
  EXPECT_ERROR(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr),
               KILN_ERROR_INVALID_ARGUMENT, "parameters are null");
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_stream{}, OneBlock, nullptr),
               KILN_ERROR_INVALID_ARGUMENT, "kiln_cuda_stream");
  EXPECT_ERROR(kiln_run(nullptr, 0, OneBlock, nullptr), KILN_ERROR_INVALID_ARGUMENT, "not begun");
  EXPECT_ERROR(kiln_plan_run(nullptr, OneBlock, nullptr), KILN_ERROR_INVALID_ARGUMENT, "plan");
  EXPECT_TRUE(fake->launches.empty());
}

TEST_P(CudaLaunchTest, ADeviceWithoutABinaryIsAnErrorThatListsTheTargets) {
  TestLibrary library({cubin("sm_100"), ptx("compute_100"), host()});
  library.addVariant("v");
  EXPECT_ERROR(kiln_launch(&library.entry, 0, stream, OneBlock, nullptr), KILN_ERROR_NO_BINARY,
               "axpy: no binary for cuda device 0 (sm_90); built for cuda:sm_100, "
               "cuda:compute_100, cpu:");
}

TEST_P(CudaLaunchTest, AVariantThatLacksTheTargetIsAnError) {
  TestLibrary library({cubin("sm_90")});
  library.addVariant("small");
  library.addVariant("large");
  library.binary(1) = {};
  EXPECT_ERROR(kiln_launch(&library.entry, 1, stream, OneBlock, nullptr), KILN_ERROR_NO_BINARY,
               "variant 1 (large) does not exist for cuda:sm_90");
}

TEST_P(CudaLaunchTest, StreamsTellTheirDevice) {
  kiln_device device;
  ASSERT_OK(kiln_stream_device(stream, &device));
  EXPECT_EQ(device.driver, uint32_t(KILN_DRIVER_CUDA));
  EXPECT_EQ(device.ordinal, 0);
  EXPECT_EQ(device.context, context);
  EXPECT_EQ(device.arch, 90u);
  fake->fail("cuStreamGetCtx", 400);
  EXPECT_ERROR(kiln_stream_device(stream, &device), KILN_ERROR_INVALID_DEVICE, "cuStreamGetCtx");
}

} // namespace
