// Instructions that are kept apart, and by how much.
#include "tests/amdgcn/WaitStates.h"
#include <gtest/gtest.h>

namespace kiln::amdgcn {
namespace {

/// What is wrong with the last of these instructions; "" where nothing is.
std::string mistakeOf(std::initializer_list<const char *> code) {
  WaitStates states;
  std::vector<std::unique_ptr<Instruction>> kept;
  std::string mistake;
  for (const char *text : code) {
    EXPECT_EQ(mistake, "");
    try {
      kept.push_back(std::make_unique<Instruction>(parseInstruction(text)));
      states.issue(*kept.back());
    } catch (const Fault &fault) {
      mistake = fault.what();
    }
  }
  return mistake;
}

const char *product = "v_mfma_f32_16x16x16_f16 v[0:3], v[8:9], v[10:11], 0";
const char *large = "v_mfma_f32_32x32x8_f16 a[0:15], v[8:9], v[10:11], a[0:15]";

TEST(WaitStates, ProductsAreTouchedLater) {
  EXPECT_EQ(mistakeOf({product, "v_mul_f32_e32 v4, v3, v3"}),
            "touches what v_mfma_f32_16x16x16_f16 writes, 7 wait states too early");
  EXPECT_NE(mistakeOf({product, "s_nop 5", "v_mul_f32_e32 v4, v3, v3"}), "");
  EXPECT_EQ(mistakeOf({product, "s_nop 6", "v_mul_f32_e32 v4, v3, v3"}), "");
  EXPECT_EQ(mistakeOf({product, "v_mul_f32_e32 v4, v5, v5"}), "");
  EXPECT_NE(mistakeOf({product, "v_mov_b32_e32 v1, 0"}), "");
  EXPECT_NE(mistakeOf({product, "ds_write_b64 v20, v[2:3]"}), "");
  EXPECT_NE(mistakeOf({product, "global_store_dwordx4 v20, v[0:3], s[2:3]"}), "");
  EXPECT_NE(mistakeOf({large, "s_nop 9", "v_accvgpr_read_b32 v4, a15"}), "");
  EXPECT_EQ(mistakeOf({large, "s_nop 10", "v_accvgpr_read_b32 v4, a15"}), "");
}

TEST(WaitStates, ProductsOfProducts) {
  EXPECT_EQ(mistakeOf({product, "v_mfma_f32_16x16x16_f16 v[0:3], v[8:9], v[10:11], v[0:3]"}), "");
}

TEST(WaitStates, AddressesInScalarRegisters) {
  const char *first = "v_readfirstlane_b32 s6, v0",
             *load = "buffer_load_dword v1, v2, s[4:7], 0 offen";
  EXPECT_NE(mistakeOf({first, load}), "");
  EXPECT_NE(mistakeOf({first, "s_nop 3", load}), "");
  EXPECT_EQ(mistakeOf({first, "s_nop 4", load}), "");
  EXPECT_EQ(mistakeOf({first, "s_mov_b32 s9, s6", "buffer_load_dword v1, v2, s[8:11], 0 offen"}),
            "");
  EXPECT_NE(mistakeOf({"v_add_co_u32_e64 v0, s[4:5], v1, v2", load}), "");
}

TEST(WaitStates, OtherLanes) {
  const char *read = "v_mov_b32_dpp v1, v0 row_shr:1 row_mask:0xf bank_mask:0xf";
  EXPECT_NE(mistakeOf({"v_mov_b32_e32 v0, 5", read}), "");
  EXPECT_NE(mistakeOf({"v_mov_b32_e32 v0, 5", "s_nop 0", read}), "");
  EXPECT_EQ(mistakeOf({"v_mov_b32_e32 v0, 5", "s_nop 1", read}), "");
  EXPECT_EQ(mistakeOf({"v_mov_b32_e32 v2, 5", read}), "");
}

TEST(WaitStates, CopiesToSharedMemory) {
  const char *copy = "buffer_load_dwordx4 v0, s[4:7], 0 offen lds";
  EXPECT_NE(mistakeOf({"s_mov_b32 m0, s3", copy}), "");
  EXPECT_EQ(mistakeOf({"s_mov_b32 m0, s3", "s_nop 0", copy}), "");
}

} // namespace
} // namespace kiln::amdgcn
