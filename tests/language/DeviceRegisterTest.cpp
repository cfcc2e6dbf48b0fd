// What a program is told of the processor that runs it.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

KILN_COVERS("tl.smid tl.globaltimer tl.memrealtime");

class DeviceRegister : public SourceTest {};

TEST_P(DeviceRegister, ClockGoesOn) {
  // The second reading stands behind a loop whose result it needs.
  Buffer<int64_t> times(3);
  Buffer<float> x(1024), y(1);
  for (size_t i = 0; i < 1024; ++i)
    x[i] = 1;
  ASSERT_EQ(
      runSource(R"(
from triton.language.extra.cuda import globaltimer
from triton.language.extra import hip

@triton.jit
def kernel(times, x, y, n):
    start = globaltimer()
    total = 0.0
    for i in range(n):
        total += tl.sum(tl.load(x + tl.arange(0, 1024)))
    tl.store(y, total)
    tl.store(times, start)
    tl.store(times + 1, tl.extra.cuda.globaltimer())
    tl.store(times + 2, hip.memrealtime())
)",
                GetParam(),
                {{"times", "*i64", times}, {"x", "*fp32", x}, {"y", "*fp32", y}, {"n", "i32", 20}}),
      "");
  EXPECT_EQ(y[0], 20 * 1024);
  EXPECT_GT(times[0], 0);
  EXPECT_GT(times[1], times[0]);
  EXPECT_LT(times[1] - times[0], int64_t(600) * 1000000000);
  EXPECT_GE(times[2], times[1] / 10);
}

/// One reading serves the whole program, so that it may decide where the program goes.
TEST_P(DeviceRegister, ClockIsOneForTheProgram) {
  Buffer<int64_t> times(256);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(times):
    i = tl.arange(0, 256)
    now = tl.extra.cuda.globaltimer()
    if now % 2 == 0:
        tl.debug_barrier()
        tl.store(times + i, i * 0 + now)
    else:
        tl.debug_barrier()
        tl.store(times + i, now - i * 0)
)",
                      GetParam(), {{"times", "*i64", times}}),
            "");
  for (size_t i = 0; i < 256; ++i)
    EXPECT_EQ(times[i], times[0]);
}

TEST_P(DeviceRegister, ProcessorHasANumber) {
  Buffer<int32_t> number(3);
  ASSERT_EQ(runSource(R"(
from triton.language.extra.cuda import smid, num_threads, num_warps

@triton.jit
def kernel(p):
    tl.store(p, smid() + tl.extra.hip.smid() * 0)
    tl.store(p + 1, num_threads())
    tl.store(p + 2, tl.extra.cuda.num_warps())
)",
                      GetParam(), {{"p", "*i32", number}}),
            "");
  EXPECT_GE(number[0], 0);
  EXPECT_LT(number[0], 1 << 16);
  EXPECT_EQ(number[2], 4);
  EXPECT_EQ(number[1] % 4, 0);
}

/// Of a grid that has more axes than the kernel asks for.
TEST_P(DeviceRegister, NumberAlongOneAxis) {
  Buffer<int32_t> counts(3);
  SourceOptions options;
  options.grid = {2, 3, 4};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p):
    tl.atomic_add(p + tl.program_id(1), 1)
)",
                      GetParam(), {{"p", "*i32", counts}}, {}, options),
            "");
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(counts[i], 8);
}

KILN_SOURCE_TESTS_ON_ALL(DeviceRegister);
/// Whose programs' numbers are in other registers.
INSTANTIATE_TEST_SUITE_P(Rdna4, DeviceRegister, ::testing::Values("emu:gfx1201"),
                         kiln::testing::sourceTargetName);

} // namespace
} // namespace kiln::testing
