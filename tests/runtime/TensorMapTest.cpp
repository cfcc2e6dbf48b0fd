// Tensor maps: what is made of a launch's arguments, for NVIDIA's driver and for emulated GPUs.
#include "runtime/emulator/kiln_emu.h"
#include "tests/runtime/TestLibrary.h"

#include <cstring>

using namespace kiln;
using namespace kiln::test;

namespace {

class TensorMapTest : public CudaLaunchTest {
protected:
  // Argument `index` of the last launch, a map that no other was mixed into.
  fake::TensorMap map(size_t index) { return mapOf(fake->launches.back(), index); }
  static fake::TensorMap mapOf(const fake::Launch &launch, size_t index) {
    fake::TensorMap made = {};
    const std::vector<uint8_t> &bytes = launch.arguments.at(index);
    EXPECT_EQ(bytes.size(), sizeof made);
    std::memcpy(&made, bytes.data(), std::min(bytes.size(), sizeof made));
    EXPECT_EQ(made.sum, made.sumOfTheRest());
    return made;
  }
  size_t encodings() { return fake->count("cuTensorMapEncodeTiled"); }
};

TEST_F(TensorMapTest, IsMadeOfTheArgumentsAndPassedBehindThem) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  Matrix matrix;
  ASSERT_OK(launch(library, matrix.params));
  const auto &arguments = fake->launches.at(0).arguments;
  ASSERT_EQ(arguments.size(), 5u);
  EXPECT_EQ(std::memcmp(arguments[0].data(), &matrix.base, 8), 0);
  EXPECT_EQ(std::memcmp(arguments[3].data(), &matrix.stride, 8), 0);
  fake::TensorMap made = map(4);
  EXPECT_EQ(made.address, matrix.base);
  EXPECT_EQ(made.rank, 2);
  EXPECT_EQ(made.element, 6); // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
  // The driver's first axis is the contiguous one; its strides are bytes.
  EXPECT_EQ(made.extents[0], 520u);
  EXPECT_EQ(made.extents[1], 1000u);
  EXPECT_EQ(made.strides[0], 2048u);
  EXPECT_EQ(made.box[0], 64);
  EXPECT_EQ(made.box[1], 128);
  EXPECT_EQ(made.steps[0], 1);
  EXPECT_EQ(made.steps[1], 1);
  EXPECT_EQ(made.swizzle, 3);
  EXPECT_EQ(made.promotion, 3);
  EXPECT_EQ(made.interleave, 0);
  EXPECT_EQ(made.fill, 0);
}

TEST_F(TensorMapTest, NumbersComeFromParametersOfEveryIntegerTypeAndFromConstants) {
  TestLibrary library({cubin("sm_90a")});
  kiln_tensor_map map = {};
  map.name = "x";
  map.base = 9;
  map.element = KILN_TENSOR_U8;
  map.rank = 5;
  for (int axis = 0; axis < 5; ++axis) {
    map.extents[axis] = parameter(axis);
    map.box[axis] = uint16_t(axis == 4 ? 32 : axis + 1);
  }
  for (int axis = 0; axis < 3; ++axis)
    map.strides[axis] = parameter(5 + axis);
  map.strides[3] = constant(256);
  library.addVariant("v",
                     {{"i8", KILN_PARAM_I8, 1, 0},
                      {"u8", KILN_PARAM_U8, 1, 1},
                      {"i16", KILN_PARAM_I16, 2, 2},
                      {"u16", KILN_PARAM_U16, 2, 4},
                      {"u32", KILN_PARAM_U32, 4, 8},
                      {"i32", KILN_PARAM_I32, 4, 12},
                      {"i64", KILN_PARAM_I64, 8, 16},
                      {"u64", KILN_PARAM_U64, 8, 24},
                      {"unused", KILN_PARAM_F32, 4, 32},
                      {"base", KILN_PARAM_POINTER, 8, 40}},
                     {map});
  int8_t i8 = 100;
  uint8_t u8 = 200;
  int16_t i16 = 30000;
  uint16_t u16 = 60000;
  uint32_t u32 = 2147483647u;
  int32_t i32 = 16;
  int64_t i64 = (int64_t(1) << 40) - 16;
  uint64_t u64 = 0; // the same rows again and again
  float unused = 0;
  uint64_t base = 0x20000;
  void *params[] = {&i8, &u8, &i16, &u16, &u32, &i32, &i64, &u64, &unused, &base};
  ASSERT_OK(launch(library, params));
  fake::TensorMap made = this->map(10);
  const uint64_t extents[] = {2147483647u, 60000, 30000, 200, 100};
  const uint64_t strides[] = {256, 0, (uint64_t(1) << 40) - 16, 16};
  EXPECT_EQ(std::memcmp(made.extents, extents, sizeof extents), 0);
  EXPECT_EQ(std::memcmp(made.strides, strides, sizeof strides), 0);
}

TEST_F(TensorMapTest, NumbersMayBeProducts) {
  TestLibrary library({cubin("sm_90a")});
  kiln_tensor_map map = matrixMap();
  map.rank = 3;
  for (int axis = 2; axis > 0; --axis) {
    map.extents[axis] = map.extents[axis - 1];
    map.box[axis] = map.box[axis - 1];
  }
  map.extents[0] = {1, KILN_NO_PARAMETER, 3};
  map.box[0] = 1;
  map.strides[1] = map.strides[0];
  map.strides[0] = {1, 3, 4};
  library.addVariant("v", matrixParams(), {map});
  Matrix matrix;
  ASSERT_OK(launch(library, matrix.params));
  fake::TensorMap made = this->map(4);
  EXPECT_EQ(made.extents[2], uint64_t(matrix.rows) * 3);
  EXPECT_EQ(made.strides[0], uint64_t(matrix.stride) * 2);
  EXPECT_EQ(made.strides[1], uint64_t(matrix.stride) * matrix.rows * 4 * 2);
  for (int64_t stride : {int64_t(1) << 62, -(int64_t(1) << 62)}) {
    matrix.stride = stride;
    EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_INVALID_ARGUMENT,
                 "axpy: A: the stride of axis 0: it is -9223372036854775808 elements of 2 bytes");
  }
}

TEST_F(TensorMapTest, ElementsFillAndSwizzleAreTheDrivers) {
  const struct {
    kiln_tensor_element element;
    uint8_t number;
    unsigned bytes;
    bool isFloat;
  } elements[] = {{KILN_TENSOR_U8, 0, 1, false},  {KILN_TENSOR_U16, 1, 2, false},
                  {KILN_TENSOR_U32, 2, 4, false}, {KILN_TENSOR_I32, 3, 4, false},
                  {KILN_TENSOR_U64, 4, 8, false}, {KILN_TENSOR_I64, 5, 8, false},
                  {KILN_TENSOR_F16, 6, 2, true},  {KILN_TENSOR_F32, 7, 4, true},
                  {KILN_TENSOR_F64, 8, 8, true},  {KILN_TENSOR_BF16, 9, 2, true}};
  for (const auto &[element, number, bytes, isFloat] : elements)
    for (uint16_t swizzle : {0, 32, 64, 128}) {
      TestLibrary library({cubin("sm_90a")});
      kiln_tensor_map map = matrixMap();
      map.element = uint16_t(element);
      map.swizzle_bytes = swizzle;
      map.box[1] = uint16_t((swizzle ? swizzle : 16) / bytes);
      map.flags = isFloat ? uint32_t(KILN_MAP_FILLS_WITH_NAN) : 0u;
      library.addVariant("v", matrixParams(), {map});
      Matrix matrix;
      ASSERT_OK(launch(library, matrix.params));
      fake::TensorMap made = this->map(4);
      EXPECT_EQ(made.element, number);
      EXPECT_EQ(made.strides[0], 1024 * bytes);
      EXPECT_EQ(made.fill, isFloat);
      EXPECT_EQ(swizzle ? 16 << made.swizzle : made.swizzle, swizzle);
    }
}

// --- what is kept ---

TEST_F(TensorMapTest, EqualArgumentsAreEncodedOnce) {
  TestLibrary library({cubin("sm_90a")});
  kiln_tensor_map second = matrixMap();
  second.name = "B";
  second.swizzle_bytes = 0;
  library.addVariant("v", matrixParams(), {matrixMap(), second});
  Matrix matrix;
  for (int i = 0; i < 10; ++i)
    ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(encodings(), 2u);
  EXPECT_EQ(map(4).swizzle, 3);
  EXPECT_EQ(map(5).swizzle, 0);
  // A launch that finds its maps asks for nothing but the stream's context.
  fake->calls.clear();
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(fake->calls,
            (std::vector<std::string>{"cuStreamGetCtx", "cuCtxGetId", "cuLaunchKernel"}));
}

TEST_F(TensorMapTest, EachNumberTellsMapsApart) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  for (int changed = 0; changed < 5; ++changed) {
    Matrix matrix;
    matrix.base += changed == 1 ? 16 : 0;
    matrix.rows += changed == 2;
    matrix.columns += changed == 3;
    matrix.stride += changed == 4 ? 8 : 0;
    for (int i = 0; i < 2; ++i) {
      ASSERT_OK(launch(library, matrix.params));
      fake::TensorMap made = map(4);
      EXPECT_EQ(made.address, matrix.base);
      EXPECT_EQ(made.extents[1], uint64_t(matrix.rows));
      EXPECT_EQ(made.extents[0], uint64_t(matrix.columns));
      EXPECT_EQ(made.strides[0], uint64_t(matrix.stride) * 2);
    }
    EXPECT_EQ(encodings(), size_t(changed) + 1);
  }
}

TEST_F(TensorMapTest, AsManyTensorsAreKeptAsThereAreSlots) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  auto launchAll = [&](unsigned tensors) {
    for (unsigned i = 0; i < tensors; ++i) {
      Matrix matrix(0x10000 + 0x1000 * i, 1000);
      ASSERT_OK(launch(library, matrix.params));
      EXPECT_EQ(map(4).address, matrix.base);
    }
  };
  for (int round = 0; round < 3; ++round)
    launchAll(KILN_KEPT_TENSOR_MAPS);
  EXPECT_EQ(encodings(), size_t(KILN_KEPT_TENSOR_MAPS));
  launchAll(3 * KILN_KEPT_TENSOR_MAPS);
  EXPECT_EQ(encodings(), size_t(3 * KILN_KEPT_TENSOR_MAPS));
}

TEST_F(TensorMapTest, UnloadedKernelsForgetTheirMaps) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  Matrix matrix;
  ASSERT_OK(launch(library, matrix.params));
  ASSERT_OK(kiln_unload(&library.library));
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(encodings(), 2u);
}

TEST_F(TensorMapTest, PlansAndCapturedLaunchesPassThem) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  kiln_call call;
  kiln_plan plan;
  ASSERT_OK(kiln_begin(&library.entry, stream, &call));
  ASSERT_OK(kiln_plan_create(&call, 0, &plan));
  static_cast<fake::Stream *>(stream.handle)->capturing = 1;
  for (uint64_t base : {0x10000, 0x20000, 0x10000}) {
    Matrix matrix(base, 8);
    ASSERT_OK(kiln_plan_run(&plan, OneBlock, matrix.params));
    EXPECT_EQ(map(4).address, base);
  }
  EXPECT_EQ(encodings(), 2u);
}

TEST_F(TensorMapTest, ClustersTakeThemToo) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  library.binary().cluster[0] = 2;
  Matrix matrix;
  const int64_t grid[] = {4, 1, 1};
  ASSERT_OK(kiln_launch(&library.entry, 0, stream, grid, matrix.params));
  EXPECT_EQ(fake->launches.at(0).function, "cuLaunchKernelEx");
  EXPECT_EQ(map(4).address, matrix.base);
}

// --- contexts ---

TEST_F(TensorMapTest, TheStreamsContextIsCurrentWhileAMapIsMade) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  Matrix matrix;
  void *mine = fake->makeContext(0);
  fake->setCurrent(mine);
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(fake->current(), mine);
  fake->setCurrent(nullptr);
  fake->fail("cuTensorMapEncodeTiled", 1);
  matrix.base += 16;
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_DRIVER,
               "axpy: variant 0 (v): the tensor map of A: cuTensorMapEncodeTiled failed: "
               "CUDA_ERROR_FAKE (1)");
  EXPECT_EQ(fake->current(), nullptr);
  fake->heal();
  ASSERT_OK(launch(library, matrix.params)); // a failure leaves nothing behind
  EXPECT_EQ(map(4).address, matrix.base);
}

// --- tensors without elements ---

TEST_F(TensorMapTest, ATensorWithoutElementsIsOneElementOfTheLibrarysMemory) {
  TestLibrary library({cubin("sm_90a")});
  kiln_tensor_map nan = matrixMap(), written = matrixMap();
  nan.flags = KILN_MAP_FILLS_WITH_NAN;
  written.flags = KILN_MAP_IS_WRITTEN;
  library.addVariant("v", matrixParams(), {matrixMap(), nan, written});
  for (auto [rows, columns] : {std::pair(0, 520), {1000, 0}, {0, 0}}) {
    Matrix matrix;
    matrix.base = 0; // nobody has memory for it
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.stride = 3;
    fake->settings.clear();
    ASSERT_OK(launch(library, matrix.params));
    for (int i = 4; i < 7; ++i) {
      EXPECT_EQ(map(i).extents[0], 1u);
      EXPECT_EQ(map(i).extents[1], 1u);
      EXPECT_EQ(map(i).box[1], 128);
    }
    // Reads find what the launch's stream has put there; what is written is elsewhere.
    ASSERT_EQ(fake->settings.size(), 2u);
    EXPECT_EQ(fake->settings[0].address, map(4).address);
    EXPECT_EQ(fake->settings[0].value, 0);
    EXPECT_EQ(fake->settings[1].address, map(5).address);
    EXPECT_EQ(fake->settings[1].value, 0xff);
    for (const fake::Setting &setting : fake->settings) {
      EXPECT_EQ(setting.bytes, 16u);
      EXPECT_EQ(setting.stream, stream.handle);
      EXPECT_GE(std::abs(int64_t(setting.address) - int64_t(map(6).address)), 16);
    }
  }
  EXPECT_EQ(fake->count("cuMemAlloc_v2"), 1u);
}

TEST_F(TensorMapTest, EachContextHasItsOwnElement) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  Matrix matrix(0, 0);
  ASSERT_OK(launch(library, matrix.params));
  uint64_t first = map(4).address;
  fake->destroyContext(context);
  context = fake->makeContext(0); // at the address of the first
  stream = kiln_cuda_stream(fake->makeStream(context));
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_NE(map(4).address, first);
  Matrix full;
  ASSERT_OK(launch(library, full.params));
  EXPECT_EQ(map(4).address, full.base);
}

TEST_F(TensorMapTest, AllocationAndSettingMayFail) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  Matrix matrix(0, 0);
  fake->fail("cuMemAlloc_v2", 2, 1);
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_OUT_OF_MEMORY, "cuMemAlloc failed");
  fake->fail("cuMemsetD8Async", 719, 1);
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_LAUNCH, "cuMemsetD8Async failed");
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(fake->launches.size(), 1u);
}

// --- what is refused, by both drivers alike ---

// The last launch on an emulated GPU.
struct EmulatedLaunch {
  kiln_emu_tensor_map map;
  uint64_t base;
  bool isAligned;
} emulatedLaunch;

void recordLaunch(void *const *params, const uint32_t *, const uint32_t *, void *) {
  std::memcpy(&emulatedLaunch.base, params[0], sizeof emulatedLaunch.base);
  std::memcpy(&emulatedLaunch.map, params[4], sizeof emulatedLaunch.map);
  emulatedLaunch.isAligned = reinterpret_cast<uintptr_t>(params[4]) % 64 == 0;
}

class Emulated {
public:
  Emulated() { EXPECT_OK(kiln_emulator_create("sm_90a", nullptr, &emulator)); }
  ~Emulated() { kiln_emulator_destroy(emulator); }
  kiln_stream stream() { return kiln_emulator_stream(emulator); }

private:
  kiln_emulator *emulator = nullptr;
};

TEST_F(TensorMapTest, RefusalsNameTheArgumentAndItsValue) {
  TestLibrary library({cubin("sm_90a"), emulated("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  library.binary(0, 1).host = recordLaunch;
  Emulated gpu;
  auto refused = [&](void (*change)(Matrix &)) {
    Matrix matrix;
    change(matrix);
    EXPECT_EQ(launch(library, matrix.params), KILN_ERROR_INVALID_ARGUMENT);
    std::string message = kiln_last_error();
    EXPECT_EQ(kiln_launch(&library.entry, 0, gpu.stream(), OneBlock, matrix.params),
              KILN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(message, kiln_last_error());
    return message;
  };
  EXPECT_EQ(refused([](Matrix &matrix) { matrix.base = 0x10008; }),
            "axpy: A: a is 0x10008, expected the address of a tensor, a multiple of 16 bytes");
  EXPECT_EQ(refused([](Matrix &matrix) { matrix.base = 0; }),
            "axpy: A: a is 0x0, expected the address of a tensor, a multiple of 16 bytes");
  EXPECT_EQ(refused([](Matrix &matrix) { matrix.rows = -1; }),
            "axpy: A: the extent of axis 0: rows is -1, expected 0 to 2147483647");
  EXPECT_EQ(refused([](Matrix &matrix) { matrix.columns = -7; }),
            "axpy: A: the extent of axis 1: columns is -7, expected 0 to 2147483647");
  EXPECT_EQ(
      refused([](Matrix &matrix) { matrix.stride = 1001; }),
      "axpy: A: the stride of axis 0: stride is 1001 elements of 2 bytes, expected a multiple "
      "of 16 bytes, at least 0 and below 2^40");
  for (int64_t stride :
       {int64_t(-8), int64_t(1) << 39, int64_t(INT64_MIN), int64_t(INT64_MAX - 7)}) {
    Matrix matrix;
    matrix.stride = stride;
    EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_INVALID_ARGUMENT,
                 ("stride is " + std::to_string(stride) + " elements").c_str());
  }
  EXPECT_TRUE(fake->launches.empty());
  EXPECT_EQ(encodings(), 0u);
  // Nobody steps along a single row.
  Matrix row;
  row.rows = 1;
  row.stride = 1001;
  EXPECT_OK(launch(library, row.params));
  EXPECT_OK(kiln_launch(&library.entry, 0, gpu.stream(), OneBlock, row.params));
}

TEST_F(TensorMapTest, ConstantsAndLargeUnsignedNumbersAreRefusedAsWell) {
  TestLibrary library({cubin("sm_90a")});
  std::vector<kiln_param> params = matrixParams();
  params[3].kind = KILN_PARAM_U64;
  library.addVariant("v", params, {matrixMap()});
  library.tensorMap().extents[0] = parameter(3);
  Matrix matrix;
  matrix.stride = -16; // 2^64 - 16
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_INVALID_ARGUMENT,
               "axis 0: stride is 18446744073709551600, expected 0 to 2147483647");
  library.tensorMap().extents[0] = constant(int64_t(1) << 32);
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_INVALID_ARGUMENT,
               "axis 0: it is 4294967296, expected 0 to 2147483647");
}

TEST_F(TensorMapTest, RecordsThatNoMapCanBeMadeOfAreRefusedAtTheLoad) {
  const struct {
    void (*change)(kiln_tensor_map &);
    const char *message;
  } cases[] = {{[](kiln_tensor_map &map) { map.rank = 0; }, "expected a rank from 1 to 5"},
               {[](kiln_tensor_map &map) { map.rank = 6; }, "expected a rank from 1 to 5"},
               {[](kiln_tensor_map &map) { map.base = 4; }, "its base is no pointer"},
               {[](kiln_tensor_map &map) { map.base = 1; }, "its base is no pointer"},
               {[](kiln_tensor_map &map) { map.extents[1] = parameter(0); }, "is no integer"},
               {[](kiln_tensor_map &map) { map.strides[0] = parameter(4); }, "is no integer"},
               {[](kiln_tensor_map &map) { map.strides[0] = parameter(-2); }, "is no integer"},
               {[](kiln_tensor_map &map) { map.strides[0].factor = 4; }, "is no integer"},
               {[](kiln_tensor_map &map) { map.strides[0].factor = 0; }, "is no integer"},
               {[](kiln_tensor_map &map) { map.element = 10; }, "element type is not known"},
               {[](kiln_tensor_map &map) { map.box[0] = 0; }, "1 to 256 elements"},
               {[](kiln_tensor_map &map) { map.box[0] = 257; }, "1 to 256 elements"},
               {[](kiln_tensor_map &map) { map.box[1] = 4; }, "multiples of 16 bytes"},
               {[](kiln_tensor_map &map) { map.swizzle_bytes = 16; }, "expected a swizzle"},
               {[](kiln_tensor_map &map) { map.swizzle_bytes = 64; }, "longer than the swizzle"},
               {[](kiln_tensor_map &map) {
                  map.element = KILN_TENSOR_U16;
                  map.flags = KILN_MAP_FILLS_WITH_NAN;
                },
                "have no NaN"}};
  for (const auto &[change, message] : cases) {
    TestLibrary library({cubin("sm_90a")});
    library.addVariant("v", matrixParams(), {matrixMap()});
    change(library.tensorMap());
    Matrix matrix;
    EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_ABI, message);
    EXPECT_ERROR(kiln_prepare(&library.entry, kiln_cuda_device(0)), KILN_ERROR_ABI,
                 "axpy: variant 0 (v) for cuda:sm_90a: tensor map 0 (A): ");
  }
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  library.binary().num_tensor_maps = 17;
  Matrix matrix;
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_ABI, "17 tensor maps, expected at most");
}

TEST_F(TensorMapTest, TheBinarysParametersAreComparedWithTheMaps) {
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  Matrix matrix;
  auto refused = [&](const char *image, const char *message) {
    library.binary().data = image;
    EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_ABI, message);
  };
  refused("FAKE\nmain 0:8 8:4 12:4 16:8", "the binary has 4 parameters, the launcher 5");
  refused("FAKE\nmain 0:8 8:4 12:4 16:8 64:64", "parameter 4 (A) has 64 bytes at offset 64");
  refused("FAKE\nmain 0:8 8:4 12:4 16:8 64:128 192:128",
          "the binary has more parameters than the launcher's 5");
  // ptxas chooses its place, which is a multiple of 64 in the constant bank, not in the block.
  library.binary().data = "FAKE\nmain 0:8 8:4 12:4 16:8 48:128";
  EXPECT_EQ(launch(library, matrix.params), KILN_SUCCESS);
}

// --- drivers without tensor maps ---

TEST_F(TensorMapTest, AnOldDriverIsToldFromOneThatHasThem) {
  TearDown();
  useDriver("libfakecuda11.so");
  TestLibrary library({cubin("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  Matrix matrix;
  EXPECT_ERROR(launch(library, matrix.params), KILN_ERROR_UNSUPPORTED,
               "cuTensorMapEncodeTiled and cuCtxGetId, which this driver lacks (CUDA 12.0)");
  TearDown();
  useDriver("libfakecuda12.so");
  ASSERT_OK(launch(library, matrix.params));
  EXPECT_EQ(map(4).address, matrix.base);
}

TEST_F(TensorMapTest, OtherExecutorsHaveNone) {
  TestLibrary library({host()});
  library.addVariant("v", matrixParams(), {matrixMap()});
  library.binary().host = recordLaunch;
  Matrix matrix;
  EXPECT_ERROR(kiln_launch(&library.entry, 0, kiln_cpu_stream(nullptr), OneBlock, matrix.params),
               KILN_ERROR_UNSUPPORTED, "tensor maps, which cpu does not have");
}

// --- emulated GPUs ---

TEST(EmulatedTensorMapTest, IsTheEmulatorsRecordBehindTheArguments) {
  Emulated gpu;
  TestLibrary library({emulated("sm_90a")});
  kiln_tensor_map map = matrixMap();
  map.element = KILN_TENSOR_BF16;
  map.flags = KILN_MAP_FILLS_WITH_NAN;
  library.addVariant("v", matrixParams(), {map});
  library.binary().host = recordLaunch;
  Matrix matrix;
  ASSERT_OK(kiln_launch(&library.entry, 0, gpu.stream(), OneBlock, matrix.params));
  const kiln_emu_tensor_map &made = emulatedLaunch.map;
  EXPECT_TRUE(emulatedLaunch.isAligned);
  EXPECT_EQ(emulatedLaunch.base, matrix.base);
  EXPECT_EQ(made.magic, KILN_EMU_TENSOR_MAP);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(made.base), matrix.base);
  EXPECT_EQ(made.rank, 2);
  EXPECT_EQ(made.element, KILN_TENSOR_BF16);
  EXPECT_EQ(made.element_bytes, 2);
  EXPECT_EQ(made.extents[0], 520u);
  EXPECT_EQ(made.extents[1], 1000u);
  EXPECT_EQ(made.strides[0], 2048u);
  EXPECT_EQ(made.box[0], 64);
  EXPECT_EQ(made.box[1], 128);
  EXPECT_EQ(made.swizzle_bytes, 128);
  EXPECT_EQ(made.fills_with_nan, 1);
}

TEST(EmulatedTensorMapTest, ATensorWithoutElementsIsAllOutside) {
  Emulated gpu;
  TestLibrary library({emulated("sm_90a")});
  library.addVariant("v", matrixParams(), {matrixMap()});
  library.binary().host = recordLaunch;
  Matrix matrix(0, 0);
  ASSERT_OK(kiln_launch(&library.entry, 0, gpu.stream(), OneBlock, matrix.params));
  EXPECT_EQ(emulatedLaunch.map.extents[0], 520u);
  EXPECT_EQ(emulatedLaunch.map.extents[1], 0u);
}

} // namespace
