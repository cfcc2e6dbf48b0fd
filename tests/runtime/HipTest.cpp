// AMD's driver: loading, launching, failures, capture and devices, on two generations of HIP.
#include "runtime/hip_messages.h"
#include "tests/runtime/TestLibrary.h"

#include <algorithm>
#include <cstring>
#include <memory>

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

TEST_P(HipTest, LoadsLeaveOtherThreadsCapturesAlone) {
  TestLibrary library({hsaco("gfx942")});
  library.addVariant("v");
  EXPECT_OK(launch(library));
  EXPECT_EQ(fake->count("hipThreadExchangeStreamCaptureMode"), GetParam() >= 6 ? 2u : 0u);
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

// Writes records as a kernel does (TileGPUToROCDL/ExpandMessages.cpp).
class DeviceWriter {
public:
  explicit DeviceWriter(void *buffer) : buffer(static_cast<char *>(buffer)) {}

  // Without its first word, the last one to be written; null: there was no room.
  uint64_t *begin(const std::vector<uint64_t> &values, const std::string &text) {
    bytes = 8 * (2 + values.size()) + (text.size() + 8) / 8 * 8;
    uint64_t at = *word(0);
    *word(0) += bytes;
    if (at + bytes > KILN_HIP_MESSAGES_RECORDS) {
      ++*word(8);
      if (at + 8 <= KILN_HIP_MESSAGES_RECORDS)
        *word(KILN_HIP_MESSAGES_HEAD + at) = 8 | uint64_t(KILN_HIP_MESSAGE_NONE) << 32;
      return nullptr;
    }
    uint64_t *record = word(KILN_HIP_MESSAGES_HEAD + at);
    EXPECT_EQ(record[0], 0u) << "records begin in zeros";
    record[1] = values.size();
    std::copy(values.begin(), values.end(), record + 2);
    std::memset(record + 2 + values.size(), 0, bytes - 8 * (2 + values.size()));
    std::memcpy(record + 2 + values.size(), text.data(), text.size());
    return record;
  }
  void end(uint64_t *record, uint64_t kind) const { *record = bytes | kind << 32; }
  bool write(uint64_t kind, const std::vector<uint64_t> &values, const std::string &text) {
    uint64_t *record = begin(values, text);
    if (record)
      end(record, kind);
    return record != nullptr;
  }

private:
  uint64_t *word(size_t offset) { return reinterpret_cast<uint64_t *>(buffer + offset); }

  char *buffer;
  uint64_t bytes = 0;
};

class HipMessagesTest : public HipTest {
protected:
  void SetUp() override {
    HipTest::SetUp();
    library = std::make_unique<TestLibrary>(std::vector<kiln_target>{hsaco("gfx942")});
    library->addVariant("v");
    // The image has the variable, too.
    image = std::string(static_cast<const char *>(library->binary().data)) + "\nkiln_messages\n";
    library->binary().data = image.c_str();
    library->binary().size = image.size() + 1;
    kiln_set_print_function(
        [](void *user, const char *line, size_t length) {
          static_cast<std::string *>(user)->append(line, length);
        },
        &printed);
  }
  void TearDown() override {
    kiln_set_print_function(nullptr, nullptr);
    library.reset();
    HipTest::TearDown();
  }

  std::string image, printed;
  std::unique_ptr<TestLibrary> library;
};

INSTANTIATE_TEST_SUITE_P(Drivers, HipMessagesTest, ::testing::Values(5, 6),
                         [](const auto &info) { return "rocm" + std::to_string(info.param); });

TEST_P(HipMessagesTest, LinesArePrintedInOrderOnce) {
  double x = 1.5;
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  fake->run = [&](const fake::Launch &launched) {
    DeviceWriter writer(launched.messages);
    writer.write(KILN_HIP_MESSAGE_LINE, {7, bits}, "pid %i x: %f\n");
    writer.write(KILN_HIP_MESSAGE_LINE, {}, "done\n");
  };
  EXPECT_OK(launch(*library));
  EXPECT_EQ(printed, "pid 7 x: 1.500000\ndone\n");
  EXPECT_OK(launch(*library));
  EXPECT_EQ(printed, "pid 7 x: 1.500000\ndone\npid 7 x: 1.500000\ndone\n");
  EXPECT_EQ(fake->count("hipHostMalloc"), 1u);
}

TEST_P(HipMessagesTest, WhatAnotherLaunchIsWritingComesWithThatOne) {
  uint64_t *open = nullptr;
  fake->run = [&](const fake::Launch &launched) {
    DeviceWriter writer(launched.messages);
    writer.write(KILN_HIP_MESSAGE_LINE, {}, "first\n");
    open = writer.begin({}, "secnd\n");
    DeviceWriter(launched.messages).write(KILN_HIP_MESSAGE_LINE, {}, "third\n");
  };
  EXPECT_OK(launch(*library));
  EXPECT_EQ(printed, "first\n");
  fake->run = [&](const fake::Launch &) { *open = 24 | uint64_t(KILN_HIP_MESSAGE_LINE) << 32; };
  EXPECT_OK(launch(*library));
  EXPECT_EQ(printed, "first\nsecnd\nthird\n");
}

TEST_P(HipMessagesTest, WhatHasNoRoomIsCounted) {
  fake->run = [&](const fake::Launch &launched) {
    DeviceWriter writer(launched.messages);
    const std::string text(96, 'x');
    while (writer.write(KILN_HIP_MESSAGE_LINE, {}, text + "\n"))
      ;
    writer.write(KILN_HIP_MESSAGE_LINE, {}, text);
  };
  EXPECT_OK(launch(*library));
  size_t lines = size_t(std::count(printed.begin(), printed.end(), '\n'));
  EXPECT_GT(lines, 8000u);
  EXPECT_NE(printed.find("2 messages of kernels had no room\n"), std::string::npos);
  printed.clear();
  fake->run = [&](const fake::Launch &launched) {
    DeviceWriter(launched.messages).write(KILN_HIP_MESSAGE_LINE, {}, "again\n");
  };
  EXPECT_OK(launch(*library));
  EXPECT_EQ(printed, "again\n");
}

TEST_P(HipMessagesTest, AFailedAssertionFailsTheNextLaunch) {
  fake->run = [&](const fake::Launch &launched) {
    DeviceWriter(launched.messages)
        .write(KILN_HIP_MESSAGE_FAILURE, {3, 0, 1}, "kernel.py:5:3: x > 0");
  };
  ::testing::internal::CaptureStderr();
  EXPECT_OK(launch(*library));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "kernel.py:5:3: x > 0, program (3, 0, 1)\n");
  EXPECT_ERROR(launch(*library), KILN_ERROR_LAUNCH,
               "an earlier kernel has stopped: kernel.py:5:3: x > 0, program (3, 0, 1)");
  EXPECT_EQ(fake->launches.size(), 1u);
  TestLibrary silent({hsaco("gfx942")});
  silent.addVariant("v");
  fake->run = nullptr;
  EXPECT_OK(launch(silent));
}

TEST_P(HipMessagesTest, EveryFailureOnTheWayIsAStatus) {
  for (const char *name : {"hipModuleGetGlobal", "hipHostMalloc", "hipHostGetDevicePointer",
                           "hipMemcpyHtoD", "hipLaunchHostFunc"}) {
    fake->fail(name, 719, 1);
    EXPECT_ERROR(launch(*library),
                 strcmp(name, "hipLaunchHostFunc") ? KILN_ERROR_LOAD : KILN_ERROR_LAUNCH, name);
  }
  EXPECT_OK(launch(*library));
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
