// AMD's driver: loading, launching, failures, capture and devices, on two generations of HIP.
#include "tests/runtime/TestLibrary.h"

#include <cstring>

using namespace kiln;
using namespace kiln::test;

namespace {

class HipTest : public FakeDriverTest, public ::testing::WithParamInterface<int> {
protected:
  void SetUp() override {
    open(KILN_DRIVER_HIP, ("libfakehip" + std::to_string(GetParam()) + ".so").c_str(),
         {{0, 0, "gfx942:sramecc+:xnack-"}, {0, 0, "gfx1100"}});
    stream = kiln_hip_stream(fake->makeDeviceStream(0));
  }
  bool knowsStreamDevice() const { return GetParam() >= 6; }
  kiln_status launch(TestLibrary &library, const int64_t *grid = OneBlock) {
    return kiln_launch(&library.entry, 0, stream, grid, nullptr);
  }

  kiln_stream stream = {};
};

INSTANTIATE_TEST_SUITE_P(Drivers, HipTest, ::testing::Values(5, 6),
                         [](const auto &info) { return "rocm" + std::to_string(info.param); });

TEST_P(HipTest, ArgumentsGridAndBlockArrive) {
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("v", {{"x", KILN_PARAM_POINTER, 8, 0},
                           {"flag", KILN_PARAM_I1, 1, 8},
                           {"half", KILN_PARAM_F16, 2, 10},
                           {"scale", KILN_PARAM_F32, 4, 12},
                           {"n", KILN_PARAM_I64, 8, 16},
                           {"alpha", KILN_PARAM_F64, 8, 24}});
  library.binary().threads = 256;
  library.binary().shared_bytes = 4096;
  const void *x = &library;
  uint8_t flag = 1;
  uint16_t half = 0x3c00;
  float scale = 0.5f;
  int64_t n = -7;
  double alpha = 2.5;
  void *params[] = {&x, &flag, &half, &scale, &n, &alpha};
  const int64_t grid[] = {7, 5, 3};
  ASSERT_OK(kiln_launch(&library.entry, 0, stream, grid, params));
  const fake::Launch &launch = fake->launches.at(0);
  EXPECT_EQ(launch.function, "hipModuleLaunchKernel");
  EXPECT_EQ(launch.grid, (std::array<unsigned, 3>{7, 5, 3}));
  EXPECT_EQ(launch.block, (std::array<unsigned, 3>{256, 1, 1}));
  EXPECT_EQ(launch.shared, 4096u);
  const size_t sizes[] = {8, 1, 2, 4, 8, 8};
  for (size_t i = 0; i < std::size(params); ++i) {
    ASSERT_EQ(launch.arguments.at(i).size(), sizes[i]);
    EXPECT_EQ(std::memcmp(launch.arguments[i].data(), params[i], sizes[i]), 0) << i;
  }
}

TEST_P(HipTest, EachDeviceRunsItsOwnBinaryAndTheCallersStaysCurrent) {
  TestLibrary library({hsaco("gfx942"), hsaco("gfx1100")});
  library.addVariant("v");
  kiln_stream other = kiln_hip_stream(fake->makeDeviceStream(1));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(launch(library));
    if (!knowsStreamDevice())
      fake->setDevice(1);
    ASSERT_OK(kiln_launch(&library.entry, 0, other, OneBlock, nullptr));
    EXPECT_EQ(fake->device(), knowsStreamDevice() ? 0 : 1);
    fake->setDevice(0);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(fake->launches.at(i).device, i % 2);
    EXPECT_EQ(fake->launches.at(i).image, library.binary(0, i % 2).data);
  }
  EXPECT_EQ(fake->count("hipModuleLoadData"), 2u);
}

TEST_P(HipTest, FeaturesOfTheDeviceChooseTheBinary) {
  TestLibrary library({hsaco("gfx942:xnack+"), hsaco("gfx942"), hsaco("gfx942:xnack-")});
  library.addVariant("v");
  kiln_call call;
  ASSERT_OK(kiln_begin(&library.entry, stream, &call));
  EXPECT_EQ(call.target, 2u);
  EXPECT_EQ(call.arch, 0x942u);
  EXPECT_EQ(call.processors, 132u);
}

TEST_P(HipTest, EveryFailureOnTheWayIsAStatusAndTheNextTryWorks) {
  for (const char *call :
       {"hipGetDeviceCount", "hipGetDevice", "hipStreamIsCapturing", "hipModuleLoadData",
        "hipModuleGetFunction", "hipModuleLaunchKernel", "hipGetDeviceProperties"}) {
    TestLibrary library({hsaco("gfx942")});
    library.addVariant("v");
    kiln_close_drivers();
    bool renamed = knowsStreamDevice() && !std::strcmp(call, "hipGetDeviceProperties");
    fake->fail(renamed ? "hipGetDevicePropertiesR0600" : call, 999, 1);
    EXPECT_NE(launch(library), KILN_SUCCESS) << call;
    EXPECT_NE(std::string(kiln_last_error()).find(call), std::string::npos) << kiln_last_error();
    EXPECT_OK(launch(library)) << call;
  }
}

TEST_P(HipTest, FailuresToReachTheDeviceAreStatuses) {
  TestLibrary library({hsaco("gfx1100")});
  library.addVariant("v");
  fake->fail("hipSetDevice", 101, 1);
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_hip_device(1)), KILN_ERROR_INVALID_DEVICE,
               "hipSetDevice failed: hipErrorFake (101)");
  EXPECT_OK(kiln_prepare(&library.entry, kiln_hip_device(1)));
  EXPECT_EQ(fake->device(), 0);
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_hip_device(2)), KILN_ERROR_INVALID_DEVICE,
               "no hip device 2: 2 found");
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_hip_device(0)), KILN_ERROR_NO_BINARY,
               "hip device 0 (gfx942:sramecc+:xnack-); built for hip:gfx1100");
}

TEST_P(HipTest, ALoadDuringCaptureSaysToPrepare) {
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("v");
  static_cast<fake::Stream *>(stream.handle)->capturing = 1;
  EXPECT_ERROR(launch(library), KILN_ERROR_CAPTURE, "prepare");
  ASSERT_OK(kiln_prepare(&library.entry, kiln_hip_device(0)));
  EXPECT_EQ(kiln_is_ready(&library.entry, kiln_hip_device(0)), 1);
  EXPECT_OK(launch(library));
}

TEST_P(HipTest, GridsOutOfRangeAreErrors) {
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("v");
  library.binary().threads = 256;
  const int64_t tooManyThreads[] = {int64_t(1) << 24, 1, 1}, largest[] = {(1 << 24) - 1, 1, 1};
  const int64_t empty[] = {0, 1, 1}, negative[] = {1, -2, 1};
  EXPECT_ERROR(launch(library, tooManyThreads), KILN_ERROR_GRID, "more than 2^32-1 threads in x");
  EXPECT_ERROR(launch(library, negative), KILN_ERROR_GRID, "negative");
  EXPECT_OK(launch(library, empty));
  EXPECT_TRUE(fake->launches.empty());
  EXPECT_OK(launch(library, largest));
}

TEST_P(HipTest, CooperativeLaunchesHaveTheirOwnFunction) {
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("v");
  library.binary().flags = KILN_LAUNCH_COOPERATIVE;
  if (GetParam() < 6) {
    EXPECT_ERROR(launch(library), KILN_ERROR_UNSUPPORTED, "hipModuleLaunchCooperativeKernel");
    return;
  }
  EXPECT_OK(launch(library));
  EXPECT_EQ(fake->launches.at(0).function, "hipModuleLaunchCooperativeKernel");
  fake->fail("hipModuleLaunchCooperativeKernel", 720);
  EXPECT_ERROR(launch(library), KILN_ERROR_GRID,
               "no room for all blocks of a cooperative launch: hipModuleLaunchCooperativeKernel");
}

TEST_P(HipTest, NvidiasLaunchAttributesAreRefused) {
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("cluster");
  library.binary().cluster[0] = 2;
  EXPECT_ERROR(launch(library), KILN_ERROR_UNSUPPORTED, "clusters");
  library.binary().cluster[0] = 1;
  library.binary().flags = KILN_LAUNCH_PDL;
  EXPECT_ERROR(launch(library), KILN_ERROR_UNSUPPORTED, "programmatic");
}

TEST_P(HipTest, ARefusedSharedMemoryAttributeIsNoError) {
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("v");
  library.binary().shared_bytes = 100000;
  EXPECT_OK(launch(library));
}

TEST_P(HipTest, UnloadedLibrariesLoadAgain) {
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("v");
  EXPECT_OK(launch(library));
  EXPECT_OK(kiln_unload(&library.library));
  EXPECT_EQ(fake->count("hipModuleUnload"), 1u);
  EXPECT_OK(launch(library));
  fake->fail("hipModuleUnload", 400, 1);
  EXPECT_ERROR(kiln_unload(&library.library), KILN_ERROR_DRIVER, "hipModuleUnload");
}

TEST_P(HipTest, LaunchErrorsNameTheKernelAndTheCause) {
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("BLOCK=64");
  fake->fail("hipModuleLaunchKernel", 719);
  EXPECT_ERROR(launch(library), KILN_ERROR_LAUNCH,
               "axpy: variant 0 (BLOCK=64), grid 1 x 1 x 1, 128 threads, 0 bytes shared: "
               "hipModuleLaunchKernel failed: hipErrorFake (719): as the test asked");
}

} // namespace
