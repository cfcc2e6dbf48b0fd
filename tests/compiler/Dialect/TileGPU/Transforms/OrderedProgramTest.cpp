// Random kernels that read what they wrote, in other orders and by other arguments, on emulated
// GPUs with every check: program order against the reference, races on shared and global memory,
// barriers that not all threads reach. Tiles are small, so that many threads hold an element.
// --gtest_shuffle --gtest_random_seed=1 to 99999 runs others than always.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/RandomProgram.h"
#include "tests/compiler/Conversion/TileToCPU/Reference.h"
#include <random>

namespace kiln::testing {
namespace {

constexpr int size = 8192, start = 1024;

/// The kernel's three arguments are `numArrays` arrays.
void check(CompiledKernel &kernel, const std::string &text, unsigned seed, int numArrays) {
  Buffer<int32_t> memory(size_t(numArrays) * size);
  std::mt19937 random(seed);
  std::vector<int32_t> expected(memory.count());
  for (size_t i = 0; i < memory.count(); ++i)
    memory[i] = expected[i] = int(random() % 2000) - 500;
  int32_t *inMemory[3], *inExpected[3];
  for (int i = 0; i < 3; ++i) {
    size_t offset = size_t(std::min(i, numArrays - 1)) * size + start;
    inMemory[i] = memory.data() + offset;
    inExpected[i] = expected.data() + offset;
  }
  int32_t scalar = 5, one = 1, many = 100000;
  test::Reference(text).launch(
      {1, 1, 1}, {&inExpected[0], &inExpected[1], &inExpected[2], &scalar, &one, &many});
  kernel.use(memory);
  auto address = [](int32_t *pointer) { return uint64_t(reinterpret_cast<uintptr_t>(pointer)); };
  ASSERT_EQ(
      kernel.run({address(inMemory[0]), address(inMemory[1]), address(inMemory[2]), 5, 1, 100000}),
      "");
  for (size_t i = 0; i < memory.count(); ++i)
    ASSERT_EQ(memory[i], expected[i])
        << "element " << int(i % size) - start << " of array " << i / size;
}

void checkAll(const std::string &target, unsigned count) {
  unsigned first = unsigned(GTEST_FLAG_GET(random_seed)) * 1000;
  for (unsigned seed = first + 1; seed <= first + count; ++seed) {
    test::RandomProgramOptions options;
    options.seed = seed;
    options.anyExtents = seed % 4 == 0;
    options.numWarps = 1 << seed % 4;
    std::string text = test::randomProgram(options);
    CompiledKernel kernel(text, target);
    ASSERT_EQ(kernel.errors, "");
    for (int numArrays : {1, 2, 3}) {
      SCOPED_TRACE(target + ", seed " + std::to_string(seed) + ", " + std::to_string(numArrays) +
                   " arrays\n" + text);
      check(kernel, text, seed, numArrays);
      if (::testing::Test::HasFailure())
        return;
    }
  }
}

class OrderedProgram : public ::testing::TestWithParam<const char *> {};

TEST_P(OrderedProgram, MatchesTheReference) { checkAll(GetParam(), 60); }

INSTANTIATE_TEST_SUITE_P(Targets, OrderedProgram, ::testing::ValuesIn(testTargets), targetName);

} // namespace
} // namespace kiln::testing
