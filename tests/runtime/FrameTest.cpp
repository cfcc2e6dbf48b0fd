// Images that are packed into frames: unpacked when a variant loads, on every driver, and gone
// again as soon as the driver allows.
#include "tests/runtime/TestLibrary.h"

#include <atomic>
#include <optional>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

std::atomic<int> unpacked{0};

// Stands in for zstd: each byte turned round.
const char *turn(const void *data, uint64_t size, void *to, uint64_t toSize) {
  ++unpacked;
  if (size != toSize)
    return "it is cut short";
  for (uint64_t i = 0; i < size; ++i)
    static_cast<char *>(to)[i] = static_cast<char>(~static_cast<const char *>(data)[i]);
  return nullptr;
}

// Puts the images of all variants into one frame.
class Packed {
public:
  explicit Packed(TestLibrary &library) {
    for (uint32_t v = 0; v < library.entry.num_variants; ++v) {
      kiln_binary &binary = library.binary(v);
      binary.frame = &frame;
      binary.frame_offset = bytes.size();
      bytes.append(static_cast<const char *>(binary.data), binary.size);
      bytes.resize((bytes.size() + 63) / 64 * 64);
      binary.data = nullptr;
    }
    for (char &byte : bytes)
      byte = static_cast<char>(~byte);
    frame = {bytes.data(), bytes.size(), bytes.size(), turn, nullptr, 0, 0};
  }
  kiln_frame frame;
  std::string bytes;
};

struct Driver {
  const char *name, *file, *load;
  kiln_driver driver;
};

class FrameTest : public FakeDriverTest, public ::testing::WithParamInterface<Driver> {
protected:
  void SetUp() override {
    open(GetParam().driver, GetParam().file, {{9, 0, isHip() ? "gfx942" : ""}});
    stream = isHip() ? kiln_hip_stream(fake->makeDeviceStream(0))
                     : kiln_cuda_stream(fake->makeStream(fake->makeContext(0)));
    made.emplace(std::vector<kiln_target>{isHip() ? hsaco("gfx942") : cubin("sm_90")});
    made->addVariant("first", {{"n", KILN_PARAM_I32, 4, 0}});
    made->addVariant("second");
    unpacked = 0;
  }
  void TearDown() override {
    made.reset();
    FakeDriverTest::TearDown();
  }
  bool isHip() const { return GetParam().driver == KILN_DRIVER_HIP; }
  kiln_status launch(uint32_t variant) {
    int n = 3;
    void *params[] = {&n};
    return kiln_launch(&made->entry, variant, stream, OneBlock, params);
  }

  std::optional<TestLibrary> made; // gone before its driver is
  kiln_stream stream = {};
};

INSTANTIATE_TEST_SUITE_P(
    Drivers, FrameTest,
    ::testing::Values(Driver{"cuda11", "libfakecuda11.so", "cuModuleLoadDataEx", KILN_DRIVER_CUDA},
                      Driver{"cuda12", "libfakecuda12.so", "cuLibraryLoadData", KILN_DRIVER_CUDA},
                      Driver{"rocm6", "libfakehip6.so", "hipModuleLoadData", KILN_DRIVER_HIP}),
    [](const auto &info) { return info.param.name; });

TEST_P(FrameTest, EachVariantIsUnpackedAtItsFirstLaunch) {
  Packed packed(*made);
  for (int round = 0; round < 3; ++round) {
    ASSERT_OK(launch(0));
    ASSERT_OK(launch(1));
  }
  EXPECT_EQ(unpacked, 2);
  EXPECT_EQ(fake->count(GetParam().load), 2u);
  ASSERT_EQ(fake->launches.size(), 6u);
  EXPECT_EQ(fake->launches[4].arguments.at(0).size(), 4u);
}

TEST_P(FrameTest, WhatWasUnloadedIsUnpackedAgain) {
  Packed packed(*made);
  ASSERT_OK(launch(0));
  ASSERT_OK(kiln_unload(&made->library));
  ASSERT_OK(launch(0));
  EXPECT_EQ(unpacked, 2);
}

TEST_P(FrameTest, VariantsOfOnePlaceShareTheImage) {
  Packed packed(*made);
  made->binary(1) = made->binary(0);
  made->params(1) = made->params(0);
  const_cast<kiln_variant &>(made->entry.variants[1]) = made->entry.variants[0];
  ASSERT_OK(launch(0));
  ASSERT_OK(launch(1));
  EXPECT_EQ(unpacked, 1);
}

TEST_P(FrameTest, DamagedImagesAreAnErrorAndNothingIsLoaded) {
  Packed packed(*made);
  --packed.frame.size;
  EXPECT_ERROR(launch(0), KILN_ERROR_LOAD, "axpy: variant 0 (first) for ");
  EXPECT_NE(
      std::string(kiln_last_error()).find("the compressed images are damaged: it is cut short"),
      std::string::npos)
      << kiln_last_error();
  EXPECT_EQ(fake->count(GetParam().load), 0u);
  ++packed.frame.size;
  EXPECT_OK(launch(0));
}

TEST_P(FrameTest, AnImageOutsideOfItsFrameIsRefused) {
  Packed packed(*made);
  for (uint64_t offset : {packed.bytes.size(), packed.bytes.size() - 4, size_t(-1)}) {
    made->binary(0).frame_offset = offset;
    EXPECT_ERROR(launch(0), KILN_ERROR_ABI, "the image is not within its frame");
  }
  made->binary(0).frame_offset = 0;
  packed.frame.unpack = nullptr; // not compressed
  packed.frame.size -= 1;
  EXPECT_ERROR(launch(0), KILN_ERROR_ABI, "the image is not within its frame");
}

TEST_P(FrameTest, AFailedLoadCanBeTriedAgain) {
  Packed packed(*made);
  fake->fail(GetParam().load, 999, 1);
  EXPECT_ERROR(launch(1), KILN_ERROR_LOAD, GetParam().load);
  EXPECT_OK(launch(1));
  EXPECT_EQ(unpacked, 2);
}

TEST_P(FrameTest, ThreadsThatLaunchFirstUnpackOnce) {
  Packed packed(*made);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { EXPECT_OK(launch(i % 2)); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(unpacked, 2);
  EXPECT_EQ(fake->launches.size(), 8u);
}

} // namespace
