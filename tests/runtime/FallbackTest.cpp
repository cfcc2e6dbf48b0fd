// Binaries with a fallback: arguments that the binary's tensor maps cannot describe launch it.
#include "tests/runtime/TestLibrary.h"

#include <cstring>

using namespace kiln;
using namespace kiln::test;

namespace {

// Launches whose maps are of the matrix: such as no map describes, and how.
struct Undescribed {
  const char *what;
  void (*change)(Matrix &);
};
const Undescribed undescribed[] = {
    {"a stride that is no multiple", [](Matrix &matrix) { matrix.stride = 1001; }},
    {"a negative stride", [](Matrix &matrix) { matrix.stride = -1024; }},
    {"a stride of 2^40 bytes", [](Matrix &matrix) { matrix.stride = int64_t(1) << 39; }},
    {"an odd base", [](Matrix &matrix) { matrix.base += 8; }},
    {"a null base", [](Matrix &matrix) { matrix.base = 0; }},
    {"a negative extent", [](Matrix &matrix) { matrix.rows = -1; }},
};

// What a failure before the launches left: a success leaves it alone.
std::string leaveAnError() {
  EXPECT_EQ(kiln_plan_run(nullptr, OneBlock, nullptr), KILN_ERROR_INVALID_ARGUMENT);
  return kiln_last_error();
}

class FallbackTest : public CudaLaunchTest {
protected:
  const fake::Launch &last() { return fake->launches.back(); }
};

// A kernel with a map of its matrix, and one without.
class MatrixLibrary : public TestLibrary {
public:
  explicit MatrixLibrary(std::vector<kiln_target> targets = {cubin("sm_90a")})
      : TestLibrary(std::move(targets)) {
    addVariant("v", matrixParams(), {matrixMap()});
    fallback = &addFallback();
  }
  kiln_binary *fallback;
};

TEST_F(FallbackTest, TheArgumentsDecide) {
  MatrixLibrary library;
  library.binary().threads = 384;
  library.binary().shared_bytes = 100000;
  library.fallback->threads = 256;
  library.fallback->shared_bytes = 50000;
  std::string before = leaveAnError();
  for (const Undescribed &one : undescribed) {
    SCOPED_TRACE(one.what);
    Matrix described, matrix;
    one.change(matrix);
    ASSERT_OK(launch(library, described.params));
    EXPECT_EQ(last().image, library.binary().data);
    EXPECT_EQ(last().arguments.size(), 5u);
    EXPECT_EQ(last().block[0], 384u);
    EXPECT_EQ(last().shared, 100000u);
    ASSERT_OK(launch(library, matrix.params));
    EXPECT_EQ(last().image, library.fallback->data);
    EXPECT_EQ(last().block[0], 256u);
    EXPECT_EQ(last().shared, 50000u);
    ASSERT_EQ(last().arguments.size(), 4u);
    EXPECT_EQ(std::memcmp(last().arguments[0].data(), &matrix.base, 8), 0);
    EXPECT_EQ(std::memcmp(last().arguments[1].data(), &matrix.rows, 4), 0);
    EXPECT_EQ(std::memcmp(last().arguments[3].data(), &matrix.stride, 8), 0);
    EXPECT_EQ(kiln_last_error(), before);
  }
  EXPECT_EQ(fake->count("cuTensorMapEncodeTiled"), 1u); // the described one's, which is kept
}

// A row stride that is a product: what it is beyond 64 bits no map has.
TEST_F(FallbackTest, AProductBeyond64BitsTakesIt) {
  MatrixLibrary library;
  library.tensorMap().strides[0] = {1, 3, 1};
  Matrix matrix;
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(last().image, library.binary().data);
  matrix.stride = int64_t(1) << 61;
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(last().image, library.fallback->data);
}

// The engine writes whole pieces of 16 bytes, and so beyond such a row.
TEST_F(FallbackTest, ARowThatEndsWithinAPieceIsNotWrittenByMap) {
  TestLibrary library({cubin("sm_90a")});
  kiln_tensor_map written = matrixMap();
  written.flags = KILN_MAP_IS_WRITTEN;
  library.addVariant("v", matrixParams(), {written});
  Matrix matrix;
  matrix.columns = 521;
  EXPECT_EQ(launch(library, matrix.params), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(
      std::strstr(kiln_last_error(), "521 elements of 2 bytes, expected a multiple of 16 bytes"),
      nullptr)
      << kiln_last_error();

  TestLibrary either({cubin("sm_90a")});
  either.addVariant("v", matrixParams(), {written});
  kiln_binary &fallback = either.addFallback();
  for (int columns : {520, 521, 527, 528}) {
    matrix.columns = columns;
    ASSERT_OK(launch(either, matrix.params));
    EXPECT_EQ(last().image, columns % 8 ? fallback.data : either.binary().data) << columns;
  }
}

// Copies of blocks of which most is outside take longer by maps.
TEST_F(FallbackTest, ATensorWithLessThanHalfABlockTakesIt) {
  MatrixLibrary library;
  int box = library.binary().tensor_maps->box[0];
  for (int rows : {0, 1, box / 2 - 1, box / 2, box}) {
    Matrix matrix(0x10000, rows);
    ASSERT_OK(launch(library, matrix.params));
    EXPECT_EQ(last().image == library.binary().data, rows * 2 >= box) << rows;
  }
}

TEST_F(FallbackTest, PlansAndCapturedLaunchesTakeItToo) {
  MatrixLibrary library;
  ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(0)));
  static_cast<fake::Stream *>(stream.handle)->capturing = 1;
  kiln_call call;
  kiln_plan plan;
  ASSERT_OK(kiln_begin(&library.entry, stream, &call));
  ASSERT_OK(kiln_plan_create(&call, 0, &plan));
  Matrix matrix;
  for (int64_t stride : {1024, 1001, 1024}) {
    matrix.stride = stride;
    ASSERT_OK(kiln_plan_run(&plan, OneBlock, matrix.params));
    EXPECT_EQ(last().image, stride % 8 ? library.fallback->data : library.binary().data);
  }
}

TEST_F(FallbackTest, WhatTheDriverRefusesTakesIt) {
  MatrixLibrary library;
  Matrix matrix;
  std::string before = leaveAnError();
  fake->setCurrent(nullptr);
  fake->fail("cuTensorMapEncodeTiled", 1); // CUDA_ERROR_INVALID_VALUE
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(launch(library, matrix.params));
    EXPECT_EQ(last().image, library.fallback->data);
  }
  EXPECT_EQ(kiln_last_error(), before);
  EXPECT_EQ(fake->current(), nullptr);
  fake->heal();
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(last().image, library.binary().data);
}

TEST_F(FallbackTest, OtherFailuresOfTheDriverAreErrors) {
  MatrixLibrary library;
  Matrix matrix;
  fake->fail("cuTensorMapEncodeTiled", 719, 1);
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_DRIVER,
               "axpy: variant 0 (v): the tensor map of A: cuTensorMapEncodeTiled failed");
  matrix.stride = 1001;
  fake->fail("cuLaunchKernel", 719, 1);
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_LAUNCH, "axpy: variant 0 (v), grid 1");
  EXPECT_TRUE(fake->launches.empty());
}

TEST_F(FallbackTest, HasTheMapsThatSourcesDescribe) {
  TestLibrary library({cubin("sm_90a")});
  std::vector<kiln_param> params = matrixParams();
  params.push_back({"b", KILN_PARAM_POINTER, 8, 24});
  kiln_tensor_map described = matrixMap();
  described.name = "B";
  described.base = 4;
  library.addVariant("v", params, {matrixMap(), described});
  library.addFallback(0, 0, {described});
  Matrix matrix(0x10008, 1000);
  uint64_t b = 0x20000;
  void *all[] = {&matrix.base, &matrix.rows, &matrix.columns, &matrix.stride, &b};
  ASSERT_OK(launch(library, all));
  ASSERT_EQ(last().arguments.size(), 6u);
  fake::TensorMap map = {};
  std::memcpy(&map, last().arguments[5].data(), sizeof map);
  EXPECT_EQ(map.address, b);
  b += 8;
  EXPECT_ERROR(launch(library, all), KILN_ERROR_INVALID_ARGUMENT,
               "axpy: B: b is 0x20008, expected the address of a tensor");
}

TEST_F(FallbackTest, ClustersAreTheBinarys) {
  MatrixLibrary library;
  library.binary().cluster[0] = library.fallback->cluster[0] = 2;
  Matrix matrix;
  matrix.stride = 1001;
  const int64_t grid[] = {4, 1, 1};
  ASSERT_OK(kiln_launch(&library.entry, 0, stream, grid, matrix.params));
  EXPECT_EQ(last().function, "cuLaunchKernelEx");
  EXPECT_EQ(last().image, library.fallback->data);
}

// --- loading ---

TEST_F(FallbackTest, IsLoadedMadeResidentAndUnloadedWithItsBinary) {
  MatrixLibrary library;
  fake->setCurrent(context);
  ASSERT_OK(kiln_prepare(&library.entry, kiln_cuda_device(0)));
  EXPECT_TRUE(kiln_is_ready(&library.entry, kiln_cuda_device(0)));
  EXPECT_EQ(fake->count("cuLibraryLoadData"), 2u);
  EXPECT_EQ(fake->count("cuFuncLoad"), 2u);
  fake->fail("cuFuncLoad", 719, 2);
  EXPECT_ERROR(kiln_prepare(&library.entry, kiln_cuda_device(0)), KILN_ERROR_LOAD, "axpy");
  ASSERT_OK(kiln_unload(&library.library));
  EXPECT_EQ(fake->count("cuLibraryUnload"), 2u);
  Matrix matrix;
  matrix.stride = 1001;
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(last().image, library.fallback->data);
  EXPECT_EQ(fake->count("cuLibraryLoadData"), 4u);
}

TEST_F(FallbackTest, OneThatDoesNotLoadIsAnErrorOfItsBinary) {
  MatrixLibrary library;
  Matrix matrix;
  const char *context = "axpy: variant 0 (v) for cuda:sm_90a: the fallback without tensor maps of "
                        "pointers: ";
  fake->fail("cuLibraryLoadData", 200, 2);
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_LOAD,
               std::string(context) + "cuLibraryLoadData failed");
  EXPECT_FALSE(kiln_is_ready(&library.entry, kiln_cuda_device(0)));
  library.fallback->symbol = "other";
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_LOAD,
               std::string(context) + "symbol other: cuLibraryGetKernel failed");
  library.fallback->symbol = "main";
  const void *image = library.fallback->data;
  library.fallback->data = "FAKE\nmain 0:8 8:4 12:4 16:8 64:128";
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_ABI,
               std::string(context) + "the binary has more parameters than the launcher's 4");
  library.fallback->data = image;
  EXPECT_TRUE(fake->launches.empty());
  ASSERT_OK(launch(library, matrix.params));
}

TEST_F(FallbackTest, OneThatIsNotLikeItsBinaryIsRefused) {
  MatrixLibrary library;
  Matrix matrix;
  library.fallback->cluster[1] = 2;
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_ABI, "expected the binary's clusters");
  library.fallback->cluster[1] = 0;
  kiln_binary another = *library.fallback;
  library.fallback->fallback = &another;
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_ABI, "no fallback of its own");
  library.fallback->fallback = nullptr;
  EXPECT_OK(launch(library, matrix.params));
}

TEST_F(FallbackTest, ADriverWithoutTensorMapsTakesItAlone) {
  TearDown();
  useDriver("libfakecuda11.so");
  MatrixLibrary library;
  Matrix matrix;
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(last().image, library.fallback->data);
  EXPECT_EQ(last().arguments.size(), 4u);
  EXPECT_EQ(fake->count("cuModuleLoadDataEx"), 1u);
}

// --- emulated GPUs ---

uint64_t launchedBase;
unsigned launchesWithMaps, launchesWithout;

void runWithMaps(void *const *params, const uint32_t *, const uint32_t *, void *) {
  std::memcpy(&launchedBase, params[0], sizeof launchedBase);
  ++launchesWithMaps;
}
void runWithout(void *const *params, const uint32_t *, const uint32_t *, void *) {
  std::memcpy(&launchedBase, params[0], sizeof launchedBase);
  ++launchesWithout;
}

TEST(EmulatedFallbackTest, TheArgumentsDecide) {
  kiln_emulator *emulator = nullptr;
  ASSERT_OK(kiln_emulator_create("sm_90a", nullptr, &emulator));
  kiln_stream stream = kiln_emulator_stream(emulator);
  MatrixLibrary library({emulated("sm_90a")});
  library.binary().host = runWithMaps;
  library.fallback->host = runWithout;
  std::string before = leaveAnError();
  launchesWithMaps = launchesWithout = 0;
  for (const Undescribed &one : undescribed) {
    SCOPED_TRACE(one.what);
    unsigned withMaps = launchesWithMaps, without = launchesWithout;
    Matrix described(0x20000, 1000), matrix;
    one.change(matrix);
    ASSERT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, described.params));
    EXPECT_EQ(launchesWithMaps, withMaps + 1);
    EXPECT_EQ(launchesWithout, without);
    ASSERT_OK(kiln_launch(&library.entry, 0, stream, OneBlock, matrix.params));
    EXPECT_EQ(launchesWithMaps, withMaps + 1);
    EXPECT_EQ(launchesWithout, without + 1);
    EXPECT_EQ(launchedBase, matrix.base);
    EXPECT_EQ(kiln_last_error(), before);
  }
  kiln_emulator_destroy(emulator);
}

TEST(EmulatedFallbackTest, OneThatCannotBeEmulatedIsAnErrorOfItsBinary) {
  kiln_emulator *emulator = nullptr;
  ASSERT_OK(kiln_emulator_create("sm_90a", nullptr, &emulator));
  MatrixLibrary library({emulated("sm_90a")});
  library.binary().host = runWithMaps;
  library.fallback->host = runWithout;
  library.fallback->flags = KILN_LAUNCH_COOPERATIVE;
  Matrix matrix;
  EXPECT_ERROR(
      kiln_launch(&library.entry, 0, kiln_emulator_stream(emulator), OneBlock, matrix.params),
      KILN_ERROR_UNSUPPORTED,
      "axpy: variant 0 (v) for emu:sm_90a: the fallback without tensor maps of pointers: "
      "cooperative and programmatic launches");
  kiln_emulator_destroy(emulator);
}

} // namespace
