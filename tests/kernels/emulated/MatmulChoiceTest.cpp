// Which tiles the cost model takes for products of many shapes on a GPU of 132 processors
// (sm_90a): plans choose, and launch nothing.

#include "matmul.h"
#include <gtest/gtest.h>
#include <string>

namespace {

class MatmulChoice : public testing::Test {
protected:
  MatmulChoice() { EXPECT_EQ(kiln_emulator_create("sm_90a", nullptr, &emulator), KILN_SUCCESS); }
  ~MatmulChoice() override { kiln_emulator_destroy(emulator); }

  /// The name of the variant for A, B and C at `address`, rows `gap` elements longer than they need
  /// to be.
  std::string chosen(int m, int n, int k, int gap = 0, uintptr_t address = 4096) {
    void *array = reinterpret_cast<void *>(address);
    matmul_f16_plan plan;
    EXPECT_EQ(matmul_f16_plan_init(&plan, kiln_emulator_stream(emulator), array, array, array, m, n,
                                   k, k + gap, 1, n + gap, 1, n + gap, 1),
              KILN_SUCCESS)
        << kiln_last_error();
    return kiln_variant_name(&matmul_f16_entry, plan.variant);
  }

  static std::string tile(int m, int n, int k) {
    return "BLOCK_SIZE_M=" + std::to_string(m) + ", BLOCK_SIZE_N=" + std::to_string(n) +
           ", BLOCK_SIZE_K=" + std::to_string(k) + ",";
  }

  kiln_emulator *emulator = nullptr;
};

TEST_F(MatmulChoice, LargeTilesForLargeProducts) {
  EXPECT_EQ(chosen(512, 512, 512).find(tile(64, 64, 128)), 0u);
  EXPECT_EQ(chosen(1024, 1024, 1024).find(tile(64, 128, 64)), 0u);
  for (int size : {2048, 3072, 4096, 8192})
    EXPECT_EQ(chosen(size, size, size).find(tile(128, 256, 64)), 0u) << size;
}

TEST_F(MatmulChoice, NarrowTilesForFewRows) {
  for (int rows : {1, 16})
    EXPECT_EQ(chosen(rows, 8192, 8192).find(tile(16, 64, 256)), 0u) << rows;
  EXPECT_EQ(chosen(64, 8192, 8192).find(tile(64, 64, 128)), 0u);
  EXPECT_EQ(chosen(128, 8192, 8192).find(tile(64, 128, 64)), 0u);
  EXPECT_EQ(chosen(256, 8192, 8192).find(tile(128, 128, 64)), 0u);
}

TEST_F(MatmulChoice, AlignedOperandsGetTheirOwnTiles) {
  const std::string any = "any arguments";
  // The model alone would take 32 x 32 for unaligned operands.
  EXPECT_EQ(chosen(16, 32, 64).find(any), std::string::npos);
  EXPECT_NE(chosen(16, 32, 64, /*gap=*/1).find(any), std::string::npos);
  EXPECT_NE(chosen(4096, 4096, 4096, /*gap=*/8).find(any), std::string::npos);
  EXPECT_NE(chosen(4096, 4096, 4096, 0, /*address=*/4098).find(any), std::string::npos);
}

} // namespace
