// Random kernels on tiles of any extents, on emulated GPUs, against the reference. The output has
// no room for padding, and the emulator reports what is out of bounds.
// --gtest_shuffle --gtest_random_seed=1 to 99999 runs others than always.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/RandomProgram.h"
#include "tests/compiler/Conversion/TileToCPU/Reference.h"
#include <random>

namespace kiln::testing {
namespace {

constexpr int inputSize = 8192, inputStart = 1024;

void check(const std::string &target, unsigned seed, bool anyExtents) {
  test::RandomProgramOptions options;
  options.seed = seed;
  options.anyExtents = anyExtents;
  options.separate = true;
  options.numWarps = 1 << seed % 3;
  std::string text = test::randomProgram(options);
  SCOPED_TRACE(target + ", seed " + std::to_string(seed) + "\n" + text);
  Buffer<int32_t> input(inputSize), output(test::separateOutput);
  std::vector<int32_t> expected(test::separateOutput);
  std::mt19937 random(seed);
  for (int i = 0; i < inputSize; ++i)
    input[i] = int(random() % 2000) - 500;
  int32_t *from = input.data() + inputStart, *to = expected.data(), *unused = nullptr;
  int32_t scalar = 5, one = 1, many = 100000;
  test::Reference(text).launch({1, 1, 1}, {&from, &to, &unused, &scalar, &one, &many});

  CompiledKernel kernel(text, target);
  ASSERT_EQ(kernel.errors, "");
  kernel.use(input);
  kernel.use(output);
  auto address = [](int32_t *pointer) { return uint64_t(reinterpret_cast<uintptr_t>(pointer)); };
  ASSERT_EQ(kernel.run({address(from), output.argument(), 0, 5, 1, 100000}), "");
  for (int i = 0; i < test::separateOutput; ++i)
    ASSERT_EQ(output[i], expected[i]) << "element " << i;
}

void checkAll(const std::string &target, unsigned count, bool anyExtents) {
  unsigned first = unsigned(GTEST_FLAG_GET(random_seed)) * 1000;
  for (unsigned seed = 1; seed <= count && !::testing::Test::HasFailure(); ++seed)
    check(target, first + seed, anyExtents);
}

class PaddedProgram : public ::testing::TestWithParam<const char *> {};

TEST_P(PaddedProgram, MatchesTheReference) { checkAll(GetParam(), 100, true); }

TEST_P(PaddedProgram, PowersOfTwoMatchToo) { checkAll(GetParam(), 20, false); }

INSTANTIATE_TEST_SUITE_P(Targets, PaddedProgram, ::testing::ValuesIn(testTargets), targetName);

} // namespace
} // namespace kiln::testing
