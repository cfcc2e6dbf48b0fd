// Random integer kernels against the reference interpreter, above all the order of loads and stores
// through memory that overlaps. Extents are powers of two or not; these run as they are and padded.
//
// Every program is a function of its seed; a failure prints both. Others than always:
// --gtest_shuffle --gtest_random_seed=1 to 99999, or --gtest_shuffle --gtest_repeat=100.

#include "tests/compiler/Conversion/TileToCPU/RandomProgram.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/Reference.h"
#include <gtest/gtest.h>
#include <random>

using namespace kiln::test;

namespace {

constexpr int memorySize = 8192;

/// Three pointers into one or several arrays: m1 and m2 may overlap m0, by a shift.
template <typename T>
void checkWith(const std::string &text, const CompiledKernel &kernel, unsigned seed) {
  Reference reference(text);
  std::mt19937 random(seed);
  for (int shift : {-1, 0, 3, 64}) {
    std::vector<T> original(3 * memorySize);
    for (T &cell : original)
      cell = T(int(random() % 2000) - 500);
    std::vector<T> expected = original, actual = original;
    auto run = [&](std::vector<T> &memory, auto &executor) {
      T *m0 = memory.data() + 1024, *m1 = shift < 0 ? m0 + memorySize : m0 + shift;
      T *m2 = shift < 0 ? m1 + memorySize : m1 + shift;
      int32_t scalar = 5, one = 1, many = 100000;
      executor.launch({2, 1, 1}, {&m0, &m1, &m2, &scalar, &one, &many});
    };
    run(expected, reference);
    run(actual, kernel);
    for (size_t i = 0; i != expected.size(); ++i)
      ASSERT_EQ(actual[i], expected[i]) << "element " << int(i) - 1024 << ", shift " << shift;
  }
}

void check(unsigned seed, bool anyExtents, bool padded) {
  const char *types[] = {"i32", "i8", "i32", "i16", "i64"};
  RandomProgramOptions program;
  program.seed = seed;
  program.memory = types[seed % 5];
  program.anyExtents = anyExtents;
  std::string text = randomProgram(program);
  SCOPED_TRACE("seed " + std::to_string(seed) + (padded ? ", padded" : "") + "\n" + text);
  kiln::CPUOptions options = hostOptions();
  options.vectorBits = 128 << seed % 3;
  const char *processors[] = {"x86-64-v2", "x86-64-v3", ""};
  CompiledKernel kernel(padded ? paddedText(text) : text, options, processors[seed % 3]);
  if (program.memory == "i8")
    checkWith<int8_t>(text, kernel, seed);
  else if (program.memory == "i16")
    checkWith<int16_t>(text, kernel, seed);
  else if (program.memory == "i32")
    checkWith<int32_t>(text, kernel, seed);
  else
    checkWith<int64_t>(text, kernel, seed);
}

/// Of `count` programs.
void checkAll(unsigned count, bool anyExtents, bool padded) {
  unsigned first = unsigned(GTEST_FLAG_GET(random_seed)) * 1000;
  for (unsigned seed = 1; seed <= count && !::testing::Test::HasFailure(); ++seed)
    check(first + seed, anyExtents, padded);
}

TEST(RandomPrograms, MatchTheReference) { checkAll(60, false, false); }

TEST(RandomPrograms, OfAnyExtentsMatchTheReference) { checkAll(40, true, false); }

TEST(RandomPrograms, OfAnyExtentsMatchTheReferenceWhenPadded) { checkAll(40, true, true); }

} // namespace
