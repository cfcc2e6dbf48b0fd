// Launches that are repeated by another variant, and variants that are wrong on purpose. Built with
// the runtime's sources under ThreadSanitizer as well.
#include "runtime/element_values.h"
#include "tests/runtime/TestLibrary.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

// What a generated function has of its call: out[i] = 2 * x[i] + out[i].
struct Arguments {
  const float *x;
  float *out;
  int64_t n;
};

std::atomic<bool> isWrong{false};

void work(const float *x, float *out, int64_t n, bool isSeeded) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = 2 * x[i] + out[i];
  if (isSeeded && isWrong && n > 5)
    out[5] += 0.25f;
}
void fast(void *const *params, const uint32_t *, const uint32_t *, void *) {
  work(*static_cast<float **>(params[0]), *static_cast<float **>(params[1]),
       *static_cast<int64_t *>(params[2]), true);
}
void generic(void *const *params, const uint32_t *, const uint32_t *, void *) {
  work(*static_cast<float **>(params[0]), *static_cast<float **>(params[1]),
       *static_cast<int64_t *>(params[2]), false);
}

// --- as generated code has it ---

constexpr uint32_t Fast = 0, Generic = 1;

int64_t elements(const void *arguments, uint32_t) {
  return static_cast<const Arguments *>(arguments)->n;
}
void *address(const void *arguments, uint32_t array) {
  auto *args = static_cast<const Arguments *>(arguments);
  return array == 0 ? const_cast<float *>(args->x) : args->out;
}
// The fast variant relies on an x that is a multiple of 64.
int admits(const void *arguments, uint32_t variant) {
  return variant == Generic ||
         reinterpret_cast<uintptr_t>(static_cast<const Arguments *>(arguments)->x) % 64 == 0;
}
kiln_status launchOn(const kiln_call *call, const void *arguments, uint32_t variant,
                     void *const *arrays) {
  Arguments args = *static_cast<const Arguments *>(arguments);
  if (arrays) {
    args.x = static_cast<const float *>(arrays[0]);
    args.out = static_cast<float *>(arrays[1]);
  }
  EXPECT_TRUE(admits(&args, variant)) << "copies meet the promises that the arrays meet";
  void *params[] = {&args.x, &args.out, &args.n};
  return kiln_run(call, variant, OneBlock, params);
}
const kiln_compared_array Arrays[] = {{"x", KILN_PARAM_F32, 1}, {"out", KILN_PARAM_F32, 0}};
const kiln_comparison Comparison = {Arrays, 2, elements, address, admits, launchOn};
const uint64_t Needs[] = {1, 0};
const char *const Conditions[] = {"x divisible by 64"};
const kiln_signature Signature = {nullptr, Conditions, Needs, 0, 1, nullptr};

std::vector<kiln_param> params() {
  return {{"x", KILN_PARAM_POINTER, 8, 0},
          {"out", KILN_PARAM_POINTER, 8, 8},
          {"n", KILN_PARAM_I64, 8, 16}};
}

struct Data {
  alignas(64) float x[100];
  alignas(64) float out[100];
  Data() {
    for (int i = 0; i < 100; ++i) {
      x[i] = float(i);
      out[i] = float(i % 7);
    }
  }
  Arguments arguments() { return {x, out, 100}; }
};

class DifferentialTest : public FakeDriverTest {
protected:
  void make(std::vector<kiln_target> targets) {
    library.emplace(targets);
    library->addVariant("fast", params());
    library->addVariant("generic", params());
    library->entry.comparison = &Comparison;
    library->entry.signature = &Signature;
    for (uint32_t target = 0; target < targets.size(); ++target)
      if (targets[target].form == KILN_FORM_HOST) {
        library->binary(Fast, target).host = fast;
        library->binary(Generic, target).host = generic;
      }
    isWrong = false;
  }
  void TearDown() override {
    library.reset();
    FakeDriverTest::TearDown();
  }
  // As a generated function.
  kiln_status call(kiln_stream stream, const Arguments &arguments, uint32_t variant = Fast) {
    kiln_call begun;
    kiln_status status = kiln_begin(&library->entry, stream, &begun);
    if (status != KILN_SUCCESS)
      return status;
    return begun.is_compared ? kiln_run_compared(&begun, &arguments, variant)
                             : launchOn(&begun, &arguments, variant, nullptr);
  }
  void compare(uint32_t reference = KILN_REFERENCE_GENERIC, uint32_t every = 1) {
    kiln_differential how = {reference, every, 0, 0, nullptr, nullptr};
    ASSERT_OK(kiln_set_differential(&library->library, &how));
  }
  void expectCounts(uint64_t compared, uint64_t skipped, uint64_t mismatches) {
    kiln_differential_counts counts;
    ASSERT_OK(kiln_differential_count(&library->library, &counts));
    EXPECT_EQ(counts.compared, compared);
    EXPECT_EQ(counts.skipped, skipped);
    EXPECT_EQ(counts.mismatches, mismatches);
  }
  // Of one call with all of the launch's effects, and no others.
  void expectResults(const Data &data, bool isSeeded = false) {
    Data before;
    work(before.x, before.out, 100, isSeeded);
    EXPECT_EQ(std::memcmp(data.out, before.out, sizeof before.out), 0);
    EXPECT_EQ(std::memcmp(data.x, before.x, sizeof before.x), 0);
  }

  std::optional<TestLibrary> library; // gone before its driver is
  const kiln_stream cpu = kiln_cpu_stream(nullptr);
};

TEST_F(DifferentialTest, RightVariantsAgree) {
  make({host()});
  compare();
  for (int i = 0; i < 3; ++i) {
    Data data;
    EXPECT_OK(call(cpu, data.arguments()));
    expectResults(data);
  }
  expectCounts(3, 0, 0);
  ASSERT_OK(kiln_set_differential(&library->library, nullptr));
  Data data;
  EXPECT_OK(call(cpu, data.arguments()));
  expectResults(data);
  expectCounts(0, 0, 0);
}

TEST_F(DifferentialTest, AWrongVariantIsTheLaunchsStatus) {
  make({host()});
  compare();
  isWrong = true;
  Data data;
  EXPECT_ERROR(call(cpu, data.arguments()), KILN_ERROR_MISMATCH,
               "axpy: variant 0 (fast): out[5] is 15.25, expected 15 as variant 1 (generic) has "
               "it; 1 of 100 elements differ");
  EXPECT_STREQ(kiln_status_string(KILN_ERROR_MISMATCH), "KILN_ERROR_MISMATCH");
  expectResults(data, true);
  expectCounts(1, 0, 1);
}

TEST_F(DifferentialTest, AFunctionGetsTheMismatch) {
  make({host()});
  std::vector<kiln_mismatch> seen;
  kiln_differential how = {KILN_REFERENCE_GENERIC, 3, 0, 0, nullptr, &seen};
  how.mismatch = [](void *user, const kiln_mismatch *mismatch) {
    static_cast<std::vector<kiln_mismatch> *>(user)->push_back(*mismatch);
    EXPECT_EQ(kiln_set_differential(mismatch->entry->library, nullptr), KILN_ERROR_STATE);
  };
  ASSERT_OK(kiln_set_differential(&library->library, &how));
  isWrong = true;
  for (int i = 0; i < 7; ++i) {
    Data data;
    EXPECT_OK(call(cpu, data.arguments()));
    expectResults(data, true);
  }
  expectCounts(3, 0, 3);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].entry, &library->entry);
  EXPECT_STREQ(seen[0].name, "axpy");
  EXPECT_EQ(seen[0].variant, Fast);
  EXPECT_EQ(seen[0].reference, Generic);
  EXPECT_STREQ(seen[0].reference_name, "generic");
  EXPECT_STREQ(seen[0].argument, "out");
  EXPECT_EQ(seen[0].elements, 100u);
  EXPECT_EQ(seen[0].num_different, 1u);
  EXPECT_EQ(seen[0].index, 5u);
  EXPECT_EQ(seen[0].value, 15.25);
  EXPECT_EQ(seen[0].expected, 15);
}

TEST_F(DifferentialTest, FloatsAgreeWithinTolerances) {
  make({host()});
  isWrong = true;
  for (auto [absolute, relative, status] :
       {std::tuple(0.25, 0.0, KILN_SUCCESS), std::tuple(0.0, 0.017, KILN_SUCCESS),
        std::tuple(0.1, 0.011, KILN_SUCCESS), std::tuple(0.24, 0.0, KILN_ERROR_MISMATCH),
        std::tuple(0.0, 0.016, KILN_ERROR_MISMATCH)}) {
    kiln_differential how = {KILN_REFERENCE_GENERIC, 1, absolute, relative, nullptr, nullptr};
    ASSERT_OK(kiln_set_differential(&library->library, &how));
    Data data;
    EXPECT_EQ(call(cpu, data.arguments()), status) << absolute << " " << relative;
  }
}

// A kernel in place sees what it has written there, in the copy as well.
TEST_F(DifferentialTest, ArraysAtOneAddressShareACopy) {
  make({host()});
  compare();
  Data data;
  EXPECT_OK(call(cpu, {data.x, data.x, 100}));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(data.x[i], 3.0f * float(i));
  expectCounts(1, 0, 0);
}

TEST_F(DifferentialTest, WhatCannotBeComparedIsLaunched) {
  make({host()});
  compare();
  Data data;
  EXPECT_OK(call(cpu, {data.x, data.x + 50, 51})) << "arrays that share a part";
  expectCounts(0, 1, 0);
  EXPECT_OK(call(cpu, {data.x, data.out, -1})) << "a size that cannot be computed";
  expectCounts(0, 2, 0);
  EXPECT_OK(call(cpu, data.arguments(), Generic)) << "there is nothing more generic";
  expectCounts(0, 3, 0);
}

TEST_F(DifferentialTest, ArraysWithoutElements) {
  make({host()});
  compare();
  EXPECT_OK(call(cpu, {nullptr, nullptr, 0}));
  expectCounts(1, 0, 0);
}

TEST_F(DifferentialTest, TheCpuIsAReferenceForAnEmulatedGpu) {
  make({emulated("sm_90a"), host()});
  library->binary(Fast, 0).threads = library->binary(Generic, 0).threads = 32;
  library->binary(Fast, 1).host = generic;
  kiln_emulator *emulator;
  ASSERT_OK(kiln_emulator_create("sm_90a", nullptr, &emulator));
  Data data;
  ASSERT_OK(kiln_emulator_register(emulator, &data, sizeof data));
  for (uint32_t reference : {KILN_REFERENCE_CPU, KILN_REFERENCE_GENERIC}) {
    compare(reference);
    data = Data();
    isWrong = false;
    EXPECT_OK(call(kiln_emulator_stream(emulator), data.arguments()));
    expectResults(data);
    expectCounts(1, 0, 0);
    data = Data();
    isWrong = true;
    EXPECT_ERROR(call(kiln_emulator_stream(emulator), data.arguments()), KILN_ERROR_MISMATCH,
                 reference == KILN_REFERENCE_CPU
                     ? "out[5] is 15.25, expected 15 as the CPU's variant 1 (generic) has it"
                     : "expected 15 as variant 1 (generic) has it");
    expectCounts(2, 0, 1);
  }
  // Not a part of the array: where a copy's guard might have been.
  void *before = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(data.x) - 64 * sizeof(float));
  EXPECT_OK(kiln_emulator_register(emulator, before, 1)) << "copies are gone again";
  kiln_emulator_destroy(emulator);
}

// --- a GPU whose driver is a fake, and whose memory is the host's ---

struct Gpu {
  const char *name, *file, *copy;
  kiln_driver driver;
};

class GpuDifferentialTest : public DifferentialTest, public ::testing::WithParamInterface<Gpu> {
protected:
  void SetUp() override {
    bool isHip = GetParam().driver == KILN_DRIVER_HIP;
    open(GetParam().driver, GetParam().file, {{9, 0, isHip ? "gfx942" : ""}});
    stream = isHip ? kiln_hip_stream(fake->makeDeviceStream(0))
                   : kiln_cuda_stream(fake->makeStream(fake->makeContext(0)));
    make({isHip ? hsaco("gfx942") : cubin("sm_90"), host()});
    fake->run = [this](const fake::Launch &launch) {
      Arguments args;
      std::memcpy(&args.x, launch.arguments.at(0).data(), 8);
      std::memcpy(&args.out, launch.arguments.at(1).data(), 8);
      std::memcpy(&args.n, launch.arguments.at(2).data(), 8);
      work(args.x, args.out, args.n, launch.image == library->binary(Fast).data);
    };
  }
  void TearDown() override {
    EXPECT_TRUE(fake->allocated.empty());
    DifferentialTest::TearDown();
  }
  kiln_stream stream = {};
};

INSTANTIATE_TEST_SUITE_P(
    Drivers, GpuDifferentialTest,
    ::testing::Values(Gpu{"cuda11", "libfakecuda11.so", "cuMemcpyAsync", KILN_DRIVER_CUDA},
                      Gpu{"cuda12", "libfakecuda12.so", "cuMemcpyAsync", KILN_DRIVER_CUDA},
                      Gpu{"rocm6", "libfakehip6.so", "hipMemcpyAsync", KILN_DRIVER_HIP}),
    [](const auto &info) { return info.param.name; });

TEST_P(GpuDifferentialTest, FindsAWrongVariant) {
  for (uint32_t reference : {KILN_REFERENCE_GENERIC, KILN_REFERENCE_CPU})
    for (bool seeded : {false, true}) {
      compare(reference);
      isWrong = seeded;
      library->binary(Fast, 1).host = generic; // right on the CPU
      Data data;
      EXPECT_EQ(call(stream, data.arguments()), seeded ? KILN_ERROR_MISMATCH : KILN_SUCCESS)
          << kiln_last_error();
      expectResults(data, true);
      expectCounts(1, 0, seeded);
    }
}

// Whatever fails beside the launch itself, it is made, once.
TEST_P(GpuDifferentialTest, FailuresOfTheDriver) {
  std::string copy = GetParam().copy;
  bool isHip = GetParam().driver == KILN_DRIVER_HIP;
  compare();
  Data warm;
  ASSERT_OK(call(stream, warm.arguments()));
  for (const char *failing : {isHip ? "hipMallocAsync" : "cuMemAllocAsync", copy.c_str(),
                              isHip ? "hipStreamSynchronize" : "cuStreamSynchronize"})
    for (int nth = 1; nth <= 2; ++nth) {
      compare();
      fake->fail(failing, 700, nth);
      Data data;
      EXPECT_OK(call(stream, data.arguments()));
      expectResults(data);
      expectCounts(0, 1, 0);
      fake->heal();
    }
  isWrong = true;
  Data data;
  EXPECT_EQ(call(stream, data.arguments()), KILN_ERROR_MISMATCH);
}

TEST_P(GpuDifferentialTest, NotWhileTheStreamCaptures) {
  ASSERT_OK(kiln_prepare(&library->entry, kiln_device{GetParam().driver, 0, nullptr, 0, 0}));
  compare();
  Data warm;
  ASSERT_OK(call(stream, warm.arguments()));
  static_cast<fake::Stream *>(stream.handle)->capturing = 1;
  Data data;
  size_t copies = fake->count(GetParam().copy);
  EXPECT_OK(call(stream, data.arguments()));
  EXPECT_EQ(fake->count(GetParam().copy), copies);
  expectCounts(1, 1, 0);
}

TEST_F(DifferentialTest, WrongUses) {
  make({host()});
  kiln_differential how = {7, 1, 0, 0, nullptr, nullptr};
  EXPECT_ERROR(kiln_set_differential(&library->library, &how), KILN_ERROR_INVALID_ARGUMENT,
               "there is no reference 7");
  how = {KILN_REFERENCE_CPU, 0, 0, 0, nullptr, nullptr};
  EXPECT_EQ(kiln_set_differential(&library->library, &how), KILN_ERROR_INVALID_ARGUMENT);
  how = {KILN_REFERENCE_CPU, 1, -1, 0, nullptr, nullptr};
  EXPECT_EQ(kiln_set_differential(&library->library, &how), KILN_ERROR_INVALID_ARGUMENT);
  how.absolute = std::nan("");
  EXPECT_EQ(kiln_set_differential(&library->library, &how), KILN_ERROR_INVALID_ARGUMENT);
  how.absolute = 0;
  EXPECT_EQ(kiln_set_differential(nullptr, &how), KILN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_differential_count(&library->library, nullptr), KILN_ERROR_INVALID_ARGUMENT);
  library->entry.comparison = nullptr;
  EXPECT_ERROR(kiln_set_differential(&library->library, &how), KILN_ERROR_UNSUPPORTED,
               "its spec has to say how many elements each array has");
}

TEST_F(DifferentialTest, IsSetAndDroppedWhileThreadsLaunch) {
  make({host()});
  kiln_cpu_pool *pool;
  ASSERT_OK(kiln_cpu_pool_create(2, &pool));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!stop) {
        Data data;
        EXPECT_OK(call(kiln_cpu_stream(pool), data.arguments()));
        expectResults(data);
      }
    });
  for (int round = 0; round < 50; ++round) {
    compare(KILN_REFERENCE_GENERIC, 1 + round % 3);
    std::this_thread::yield();
    kiln_differential_counts counts;
    EXPECT_OK(kiln_differential_count(&library->library, &counts));
    EXPECT_EQ(counts.mismatches, 0u);
    ASSERT_OK(kiln_set_differential(&library->library, nullptr));
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  kiln_cpu_pool_destroy(pool);
}

// --- elements ---

TEST(ElementValues, HalfPrecision) {
  const uint16_t halves[] = {0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff, 0x0400,
                             0x03ff, 0x0001, 0x8001, 0x7c00, 0xfc00, 0x7e00};
  const double values[] = {0,
                           -0.0,
                           1,
                           -2,
                           65504,
                           std::ldexp(1, -14),
                           std::ldexp(1023, -24),
                           std::ldexp(1, -24),
                           -std::ldexp(1, -24),
                           INFINITY,
                           -INFINITY};
  for (size_t i = 0; i < std::size(values); ++i)
    EXPECT_EQ(kiln_element_value(KILN_PARAM_F16, halves, i), values[i]) << i;
  EXPECT_TRUE(std::isnan(kiln_element_value(KILN_PARAM_F16, halves, std::size(values))));
  const uint16_t brains[] = {0x3f80, 0xc020, 0x7f80};
  EXPECT_EQ(kiln_element_value(KILN_PARAM_BF16, brains, 0), 1);
  EXPECT_EQ(kiln_element_value(KILN_PARAM_BF16, brains, 1), -2.5);
  EXPECT_EQ(kiln_element_value(KILN_PARAM_BF16, brains, 2), INFINITY);
}

TEST(ElementValues, Agreement) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = NAN;
  struct {
    double a, b, absolute, relative;
    bool agree;
  } cases[] = {{1, 1, 0, 0, true},
               {1, 2, 0, 0, false},
               {1, 2, 1, 0, true},
               {1, 2, 0, 0.5, true},
               {2, 1, 0, 0.5, false},
               {-1, -2, 0, 0.5, true},
               {0.0, -0.0, 0, 0, true},
               {nan, nan, 0, 0, true},
               {nan, 1, 1e9, 0, false},
               {1, nan, 1e9, 1e9, false},
               {infinity, infinity, 0, 0, true},
               {infinity, -infinity, 1, 1, false},
               {1e300, infinity, 1, 0, false}};
  for (const auto &[a, b, absolute, relative, agree] : cases)
    EXPECT_EQ(kiln_elements_agree(KILN_PARAM_F64, &a, &b, 0, absolute, relative), agree)
        << a << " " << b;
  const double one = std::nan("1"), two = std::nan("2");
  EXPECT_TRUE(kiln_elements_agree(KILN_PARAM_F64, &one, &two, 0, 0, 0));
  const int32_t small[] = {0, 7}, large[] = {0, 8};
  EXPECT_FALSE(kiln_elements_agree(KILN_PARAM_I32, small, large, 1, 10, 10));
  const uint8_t bytes[] = {0x38}, others[] = {0x39};
  EXPECT_FALSE(kiln_elements_agree(KILN_PARAM_F8, bytes, others, 0, 100, 100));
}

} // namespace
