// Calls of a generated library, compared: a config that is wrong on purpose is found beside the
// most generic variant, and an emulated GPU's beside the CPU's.
#include "twice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

constexpr int Count = 1000, Rows = 33, Columns = 80;

class GeneratedDifferentialTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(kiln_emulator_create("sm_90a", nullptr, &emulator), KILN_SUCCESS);
    for (int i = 0; i < Count; ++i)
      x[i] = float(i);
    for (int i = 0; i < Rows * Columns; ++i)
      matrix[i] = 0x3c00; // 1
  }
  void TearDown() override {
    EXPECT_EQ(kiln_set_differential(&twice_library, nullptr), KILN_SUCCESS);
    kiln_emulator_destroy(emulator);
  }
  void compare(kiln_reference reference, kiln_mismatch_function function = nullptr) {
    kiln_differential how = {reference, 1, 0, 0, function, &mismatches};
    ASSERT_EQ(kiln_set_differential(&twice_library, &how), KILN_SUCCESS) << kiln_last_error();
  }
  void expectCounts(uint64_t compared, uint64_t skipped, uint64_t different) {
    kiln_differential_counts counts;
    ASSERT_EQ(kiln_differential_count(&twice_library, &counts), KILN_SUCCESS);
    EXPECT_EQ(counts.compared, compared);
    EXPECT_EQ(counts.skipped, skipped);
    EXPECT_EQ(counts.mismatches, different);
  }
  // What the spec's wrong config makes of element 300 is there all the same.
  void expectDoubled(int shift, int count, bool isWrong) {
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(out[i], 2 * float(i + shift) + float(isWrong && i == 300)) << i;
  }
  kiln_status sums(kiln_stream stream) {
    const int64_t shape[] = {Rows, Columns};
    return sums_f16(stream, kiln_contiguous_tensor(matrix, 2, shape), out, Rows, Columns);
  }

  kiln_emulator *emulator = nullptr;
  std::vector<std::string> mismatches;
  alignas(64) float x[Count];
  alignas(64) float out[Count];
  alignas(64) kiln_fp16 matrix[Rows * Columns];
};

TEST_F(GeneratedDifferentialTest, BesideTheMostGenericVariant) {
  const kiln_stream cpu = kiln_cpu_stream(nullptr);
  for (kiln_stream stream : {cpu, kiln_emulator_stream(emulator)}) {
    compare(KILN_REFERENCE_GENERIC);
    EXPECT_EQ(twice_f32(stream, x, out, 996), KILN_ERROR_MISMATCH);
    std::string message = kiln_last_error();
    EXPECT_EQ(message.find("twice_f32: variant 0 ("), 0u) << message;
    EXPECT_NE(message.find("): out[300] is 601, expected 600 as variant 1 ("), std::string::npos)
        << message;
    EXPECT_NE(message.find("1 of 996 elements differ"), std::string::npos) << message;
    expectDoubled(0, 996, true);
    // Nothing is more generic than what unaligned arrays get.
    EXPECT_EQ(twice_f32(stream, x + 1, out, 996), KILN_SUCCESS) << kiln_last_error();
    expectDoubled(1, 996, false);
    expectCounts(1, 1, 1);
    EXPECT_EQ(twice_f32(stream, x, out, 300), KILN_SUCCESS) << kiln_last_error();
    EXPECT_EQ(twice_f32(stream, x, out, 0), KILN_SUCCESS) << kiln_last_error();
    EXPECT_EQ(sums(stream), KILN_SUCCESS) << kiln_last_error();
    for (int row = 0; row < Rows; ++row)
      EXPECT_EQ(out[row], Columns);
    expectCounts(4, 1, 1);
  }
}

TEST_F(GeneratedDifferentialTest, BesideTheCpu) {
  compare(KILN_REFERENCE_CPU, [](void *user, const kiln_mismatch *mismatch) {
    static_cast<std::vector<std::string> *>(user)->push_back(std::string(mismatch->name) + " " +
                                                             mismatch->argument + "[" +
                                                             std::to_string(mismatch->index) + "]");
  });
  kiln_stream stream = kiln_emulator_stream(emulator);
  EXPECT_EQ(kiln_emulator_register(emulator, x, sizeof x), KILN_SUCCESS);
  EXPECT_EQ(kiln_emulator_register(emulator, out, sizeof out), KILN_SUCCESS);
  EXPECT_EQ(kiln_emulator_register(emulator, matrix, sizeof matrix), KILN_SUCCESS);
  kiln_emulator_set_check(emulator, 1);
  EXPECT_EQ(twice_f32(stream, x, out, 996), KILN_SUCCESS) << kiln_last_error();
  expectDoubled(0, 996, true);
  EXPECT_EQ(twice_f32(stream, x + 1, out, 996), KILN_SUCCESS) << kiln_last_error();
  expectDoubled(1, 996, false);
  EXPECT_EQ(sums(stream), KILN_SUCCESS) << kiln_last_error();
  expectCounts(3, 0, 1);
  EXPECT_EQ(mismatches, std::vector<std::string>{"twice_f32 out[300]"});
}

// Beside memory that the program registers, the copies are registered, too.
TEST_F(GeneratedDifferentialTest, CopiesAreWithinWhatTheEmulatorChecks) {
  compare(KILN_REFERENCE_GENERIC);
  EXPECT_EQ(kiln_emulator_register(emulator, x, sizeof x), KILN_SUCCESS);
  EXPECT_EQ(kiln_emulator_register(emulator, out, sizeof out), KILN_SUCCESS);
  kiln_emulator_set_check(emulator, 1);
  EXPECT_EQ(twice_f32(kiln_emulator_stream(emulator), x, out, 300), KILN_SUCCESS)
      << kiln_last_error();
  expectCounts(1, 0, 0);
}

TEST_F(GeneratedDifferentialTest, WhatHasNoSizesIsLaunched) {
  compare(KILN_REFERENCE_GENERIC);
  EXPECT_EQ(unsized_f32(kiln_cpu_stream(nullptr), x, out, Count), KILN_SUCCESS);
  expectDoubled(0, Count, false);
  expectCounts(0, 0, 0);
  EXPECT_EQ(unsized_f32_entry.comparison, nullptr);
}

// A plan runs what it was made for.
TEST_F(GeneratedDifferentialTest, PlansAreNotCompared) {
  compare(KILN_REFERENCE_GENERIC);
  twice_f32_plan plan;
  const kiln_stream cpu = kiln_cpu_stream(nullptr);
  ASSERT_EQ(twice_f32_plan_init(&plan, cpu, x, out, 996), KILN_SUCCESS);
  EXPECT_EQ(twice_f32_run(&plan, x, out, 996), KILN_SUCCESS);
  expectCounts(0, 0, 0);
  expectDoubled(0, 996, true);
}

} // namespace
