// Elementwise kernels, run emulated.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/SampleKernels.h"
#include "gtest/gtest.h"

namespace kiln::testing {
namespace {

class Execution : public ::testing::TestWithParam<const char *> {};

TEST_P(Execution, VectorAddOfOddSizes) {
  for (int n : {1, 7, 127, 1000, 4097}) {
    CompiledKernel kernel(vectorAddText(), GetParam());
    ASSERT_EQ(kernel.errors, "");
    Buffer<float> x(n), y(n), out(n);
    Random random(n);
    for (int i = 0; i < n; ++i) {
      x[i] = random.next();
      y[i] = random.next();
    }
    kernel.use(x);
    kernel.use(y);
    kernel.use(out);
    ASSERT_EQ(kernel.run({x.argument(), y.argument(), out.argument(), uint64_t(n)},
                         {uint32_t(n + 1023) / 1024, 1, 1}),
              "");
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(out[i], x[i] + y[i]) << "element " << i << " of " << n;
  }
}

TEST_P(Execution, WideAccessesWhereFactsAllow) {
  CompiledKernel kernel(vectorAddText(/*aligned=*/true), GetParam());
  ASSERT_EQ(kernel.errors, "");
  Buffer<float> x(1040, 1), y(1040, 2), out(1040);
  kernel.use(x);
  kernel.use(y);
  kernel.use(out);
  unsigned accesses = 0;
  for (const kiln_emulator_count &count :
       kernel.count({x.argument(), y.argument(), out.argument(), 1040}, {2, 1, 1}))
    if (llvm::StringRef(count.kind).starts_with("global ")) {
      // 16 bytes a thread, in two blocks of 1024 elements.
      EXPECT_EQ(16 * count.thread_instructions, 2 * 1024 * sizeof(float));
      ++accesses;
    }
  EXPECT_EQ(accesses, 3u);
  EXPECT_EQ(out[1039], 3);
}

INSTANTIATE_TEST_SUITE_P(AllTargets, Execution, ::testing::ValuesIn(testTargets), targetName);

} // namespace
} // namespace kiln::testing
