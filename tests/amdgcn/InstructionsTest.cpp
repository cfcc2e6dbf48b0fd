// Instructions against values that are worked out by hand or by the host.
#include "tests/amdgcn/OneWave.h"

namespace kiln::amdgcn {
namespace {

class Instructions : public OneWave {};

TEST_F(Instructions, ArithmeticWritesActiveLanesAlone) {
  set(1, [](unsigned lane) { return bitsAs<uint32_t>(float(lane)); });
  set(2, [](unsigned) { return 77u; });
  wave->setMask(ExecLow, 0xff);
  run("v_add_f32_e32 v2, 0.5, v1");
  EXPECT_EQ(getFloat(2, 7), 7.5f);
  EXPECT_EQ(get(2, 8), 77u);
}

TEST_F(Instructions, SignsAndScales) {
  set(1, [](unsigned) { return bitsAs<uint32_t>(-3.f); });
  run("v_mul_f32_e64 v2, |v1|, -v1 mul:2");
  EXPECT_EQ(getFloat(2, 0), 18.f);
  run("v_add_f32_e64 v2, v1, v1 clamp");
  EXPECT_EQ(getFloat(2, 0), 0.f);
}

TEST_F(Instructions, SignsOfBits) {
  set(1, [](unsigned) { return 0x12343c00u; });
  set(2, [](unsigned) { return 0xbc00u; });
  run("v_pack_b32_f16 v3, -v1, |v2|");
  EXPECT_EQ(get(3, 0), 0x3c00bc00u);
  wave->setMask(VccLow, 1);
  run("v_cndmask_b32_e64 v3, -v1, |v1|, vcc");
  EXPECT_EQ(get(3, 0), 0x12343c00u);
  EXPECT_EQ(get(3, 1), 0x92343c00u);
}

TEST_F(Instructions, FusedMultiplyAddRoundsOnce) {
  set(1, [](unsigned) { return bitsAs<uint32_t>(1.f + 0x1p-12f); });
  set(2, [](unsigned) { return bitsAs<uint32_t>(-1.f - 0x1p-11f); });
  run("v_fmac_f32_e32 v2, v1, v1");
  EXPECT_EQ(getFloat(2, 5), 0x1p-24f);
}

TEST_F(Instructions, DivisionStepsGiveTheRoundedQuotient) {
  const std::pair<float, float> cases[] = {
      {1, 3},        {7, 9}, {0x1p-140f, 3}, {0x1p120f, 3e-7f}, {3e38f, 2e-10f},     {5, 0x1p127f},
      {1, INFINITY}, {0, 3}, {-2, 7},        {3e38f, 1e-40f},   {-1, 0xffffffp-149f}};
  for (auto [numerator, denominator] : cases) {
    set(1, [&, n = numerator](unsigned) { return bitsAs<uint32_t>(n); });
    set(2, [&, d = denominator](unsigned) { return bitsAs<uint32_t>(d); });
    // The sequence that LLVM makes of a division.
    for (const char *line :
         {"v_div_scale_f32 v3, s[0:1], v2, v2, v1", "v_rcp_f32_e32 v4, v3",
          "v_div_scale_f32 v5, vcc, v1, v2, v1", "v_fma_f32 v6, -v3, v4, 1.0",
          "v_fmac_f32_e32 v4, v6, v4", "v_mul_f32_e32 v6, v5, v4", "v_fma_f32 v7, -v3, v6, v5",
          "v_fmac_f32_e32 v6, v7, v4", "v_fma_f32 v3, -v3, v6, v5", "v_div_fmas_f32 v3, v3, v4, v6",
          "v_div_fixup_f32 v3, v3, v2, v1"})
      run(line);
    EXPECT_EQ(getFloat(3, 0), numerator / denominator) << numerator << " / " << denominator;
  }
}

TEST_F(Instructions, UnfusedMultiplyAddRoundsTwice) {
  set(1, [](unsigned) { return bitsAs<uint32_t>(1.f + 0x1p-12f); });
  set(2, [](unsigned) { return bitsAs<uint32_t>(-1.f - 0x1p-11f); });
  run("v_mad_f32 v3, v1, v1, v2");
  EXPECT_EQ(getFloat(3, 5), 0.f);
  set(2, [](unsigned) { return bitsAs<uint32_t>(0x1p-130f); });
  run("v_madmk_f32 v3, v2, 0x4f800000, v1");
  EXPECT_EQ(getFloat(3, 5), 1.f + 0x1p-12f);
}

TEST_F(Instructions, ExtremesKeepNaNs) {
  set(1, [](unsigned) { return 0x7e003c00u; }); // 1 and a NaN
  set(2, [](unsigned) { return 0x40004000u; }); // 2 and 2
  run("v_pk_maximum3_f16 v3, v1, v2, v1");
  EXPECT_EQ(get(3, 0), 0x7e004000u);
  run("v_pk_max_f16 v3, v1, v2");
  EXPECT_EQ(get(3, 0), 0x40004000u);
  set(4, [](unsigned) { return 0u; });
  set(5, [](unsigned) { return 0x3ff00000u; }); // 1
  set(6, [](unsigned) { return 0u; });
  set(7, [](unsigned) { return 0x7ff80000u; });
  run("v_minimum_f64 v[8:9], v[4:5], v[6:7]");
  EXPECT_EQ(get(9, 0), 0x7ff80000u);
}

TEST_F(Instructions, TheLargerOfTwoNaNsIsQuiet) {
  set(1, [](unsigned) { return 0x7f800001u; });
  run("v_max_f32_e32 v2, v1, v1");
  EXPECT_EQ(get(2, 0), 0x7fc00001u);
  run("v_max_f32_e32 v2, 1.0, v1");
  EXPECT_EQ(getFloat(2, 0), 1.f);
}

TEST_F(Instructions, BytesArePermuted) {
  set(1, [](unsigned) { return 0x77665544u; });
  set(2, [](unsigned) { return 0x33221180u; });
  wave->setScalar(0, 0x0c070400);
  run("v_perm_b32 v3, v1, v2, s0");
  EXPECT_EQ(get(3, 0), 0x00774480u);
  wave->setScalar(0, 0x080d0b00);
  run("v_perm_b32 v3, v1, v2, s0");
  EXPECT_EQ(get(3, 0), 0x00ff0080u);
}

TEST_F(Instructions, FieldsOfBits) {
  wave->setScalar(1, 0xfedcba98);
  run("s_bfe_u32 s2, s1, 0x80004");
  EXPECT_EQ(wave->scalar(2), 0xa9u);
  run("s_bfe_i32 s2, s1, 0x80004");
  EXPECT_EQ(wave->scalar(2), 0xffffffa9u);
  wave->setScalarPair(4, 0x123456789abcdef0);
  run("s_bfe_i64 s[2:3], s[4:5], 0x100008");
  EXPECT_EQ(wave->scalar(2), 0xffffbcdeu);
  EXPECT_EQ(wave->scalar(3), 0xffffffffu);
  set(1, [](unsigned) { return 0xabcd1234u; });
  run("v_bfe_u32 v2, v1, 8, 8");
  EXPECT_EQ(get(2, 3), 0x12u);
  run("v_bitop3_b32 v2, v1, -1, 0 bitop3:0x6c");
  // 0x6c: (a & b) ^ ... of its table at a, 1, 0: bits 6 and 2, which are both set.
  EXPECT_EQ(get(2, 3), 0xffffffffu);
}

TEST_F(Instructions, ScalarCarriesAndOverflows) {
  wave->setScalarPair(0, 0xffffffff);
  run("s_add_u32 s2, s0, 1");
  EXPECT_TRUE(wave->scc);
  run("s_addc_u32 s3, s1, 0");
  EXPECT_EQ(wave->scalarPair(2), 0x100000000u);
  wave->setScalar(0, 0x7fffffff);
  run("s_add_i32 s2, s0, 1");
  EXPECT_TRUE(wave->scc);
  run("s_cmpk_lt_i32 s2, 0xffff");
  EXPECT_TRUE(wave->scc);
}

TEST_F(Instructions, LanesReadOthers) {
  set(1, [](unsigned lane) { return lane; });
  run("v_mov_b32_dpp v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1");
  EXPECT_EQ(get(2, 6), 7u);
  set(2, [](unsigned) { return 99u; });
  run("v_mov_b32_dpp v2, v1 row_bcast:15 row_mask:0xa bank_mask:0xf");
  EXPECT_EQ(get(2, 15), 99u);
  EXPECT_EQ(get(2, 16), 15u);
  EXPECT_EQ(get(2, 32), 99u);
  EXPECT_EQ(get(2, 50), 47u);
  run("v_mov_b32_dpp v2, v1 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:1");
  EXPECT_EQ(get(2, 18), 0u);
  EXPECT_EQ(get(2, 19), 16u);
  run("v_mov_b32_dpp v2, v1 row_ror:4 row_mask:0xf bank_mask:0xf");
  EXPECT_EQ(get(2, 16), 28u);
  run("v_permlane32_swap_b32_e32 v1, v2");
  EXPECT_EQ(get(1, 32), 12u);
  EXPECT_EQ(get(2, 0), 32u);
}

TEST_F(Instructions, PartsOfRegisters) {
  set(1, [](unsigned) { return 0x8899aabbu; });
  set(2, [](unsigned) { return 0x11223344u; });
  run("v_or_b32_sdwa v3, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 "
      "src1_sel:WORD_0");
  EXPECT_EQ(get(3, 0) >> 16, 0x33ccu);
  run("v_and_b32_sdwa v3, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 "
      "src1_sel:DWORD");
  EXPECT_EQ(get(3, 0), 0x11223300u);
}

TEST_F(Instructions, FloatsInScalarRegisters) {
  begin(Generation::Gfx12);
  wave->setScalar(1, bitsAs<uint32_t>(8.f));
  run("v_s_log_f32 s2, s1");
  EXPECT_EQ(bitsAs<float>(wave->scalar(2)), 3.f);
  run("v_s_rsq_f32 s2, |s2| mul:2");
  EXPECT_EQ(bitsAs<float>(wave->scalar(2)), float(2 / std::sqrt(3.)));
  run("s_fmac_f32 s1, 2.0, 0.5");
  EXPECT_EQ(bitsAs<float>(wave->scalar(1)), 9.f);
  run("s_cvt_f16_f32 s3, s1");
  EXPECT_EQ(wave->scalar(3), 0x4880u);
  run("s_add_f16 s3, s3, 0x3c00");
  EXPECT_EQ(wave->scalar(3), 0x4900u);
  run("v_s_rcp_f16 s4, 2.0");
  EXPECT_EQ(wave->scalar(4), 0x3800u);
  run("s_cmp_nge_f16 s4, s3");
  EXPECT_TRUE(wave->scc);
  wave->setScalar(5, bitsAs<uint32_t>(NAN));
  run("s_max_num_f32 s6, s5, s1");
  EXPECT_EQ(bitsAs<float>(wave->scalar(6)), 9.f);
  run("s_cmp_lg_f32 s5, s1");
  EXPECT_FALSE(wave->scc);
  run("s_cvt_i32_f32 s6, s5");
  EXPECT_EQ(wave->scalar(6), 0u);
  run("s_cvt_u32_f32 s6, 0xc0a00000");
  EXPECT_EQ(wave->scalar(6), 0u);
}

// What a wave of GFX90A has in its first registers, and LLVM's accesses by it.
TEST_F(Instructions, PrivateMemoryByABuffer) {
  wave->setScalarPair(0, uint64_t(1) << 63);
  wave->setScalarPair(2, 64 * 64 | uint64_t(1 << 23 | 3 << 21 | 1 << 19) << 32);
  set(1, [](unsigned lane) { return 100 + lane; });
  set(2, [](unsigned lane) { return 4 * (lane % 2); });
  run("buffer_store_dword v1, off, s[0:3], 0 offset:8");
  wave->setScalar(4, 8 * 64);
  run("buffer_store_dword v1, v2, s[0:3], s4 offen offset:8");
  run("buffer_load_dwordx2 v[4:5], off, s[0:3], 0 offset:16");
  run("buffer_load_dword v6, v2, s[0:3], 0 offen offset:8");
  run("s_waitcnt vmcnt(0)");
  EXPECT_EQ(get(4, 10), 110u);
  EXPECT_EQ(get(5, 11), 111u);
  EXPECT_EQ(get(6, 10), 110u);
  EXPECT_NE(mistakeOf("buffer_load_dword v6, off, s[0:3], 0 offset:64"), "");
  wave->setScalar(4, 8);
  EXPECT_NE(mistakeOf("buffer_load_dword v6, off, s[0:3], s4"), "");
}

TEST_F(Instructions, HalvesOfRegistersOnGfx11) {
  begin(Generation::Gfx11);
  set(1, [](unsigned) { return 0x3c004000u; }); // 1 and 2
  set(2, [](unsigned) { return 0u; });
  run("v_add_f16_e32 v2.h, v1.l, v1.h");
  EXPECT_EQ(get(2, 0), 0x42000000u);
  run("v_mov_b16_e32 v2.l, v1.h");
  EXPECT_EQ(get(2, 0), 0x42003c00u);
  run("v_swap_b16 v1.l, v2.h");
  EXPECT_EQ(get(1, 0), 0x3c004200u);
  EXPECT_EQ(get(2, 0), 0x40003c00u);
  run("v_swap_b16 v1.l, v1.h");
  EXPECT_EQ(get(1, 0), 0x42003c00u);
  run("v_swap_b32 v1, v2");
  EXPECT_EQ(get(1, 0), 0x40003c00u);
  EXPECT_EQ(get(2, 0), 0x42003c00u);
}

TEST_F(Instructions, MixedPrecisions) {
  set(1, [](unsigned) { return 0x40003c00u; }); // 1 and 2
  set(2, [](unsigned) { return bitsAs<uint32_t>(10.f); });
  run("v_fma_mix_f32 v3, v1, v2, v1 op_sel:[1,0,0] op_sel_hi:[1,0,1]");
  EXPECT_EQ(getFloat(3, 0), 21.f);
  set(4, [](unsigned) { return 0xffffffffu; });
  run("v_fma_mixhi_f16 v4, v1, v2, v1 op_sel:[1,0,0] op_sel_hi:[1,0,1]");
  EXPECT_EQ(get(4, 0), 0x4d40ffffu);
  run("v_pk_add_f16 v5, v1, v1 op_sel:[1,0] op_sel_hi:[0,1]");
  EXPECT_EQ(get(5, 0), 0x42004200u);
  run("v_pk_ashrrev_i16 v5, 1, v4 op_sel_hi:[0,1]");
  EXPECT_EQ(get(5, 0), 0x26a0ffffu);
}

TEST_F(Instructions, PackedSingles) {
  set(2, [](unsigned) { return bitsAs<uint32_t>(3.f); });
  set(3, [](unsigned) { return bitsAs<uint32_t>(5.f); });
  run("v_pk_fma_f32 v[4:5], v[2:3], v[2:3], 1.0 op_sel:[0,1,0] op_sel_hi:[1,0,0] neg_lo:[1,0,0]");
  EXPECT_EQ(getFloat(4, 0), -14.f);
  EXPECT_EQ(getFloat(5, 0), 16.f);
  // LLVM's change of signs.
  run("v_pk_add_f32 v[4:5], v[2:3], 0 neg_lo:[1,1] neg_hi:[1,1]");
  EXPECT_EQ(getFloat(4, 0), -3.f);
  EXPECT_EQ(getFloat(5, 0), -5.f);
  EXPECT_NE(mistakeOf("v_pk_add_f32 v[4:5], v[2:3], 1.0"), "") << "the upper part of 1.0";
}

TEST_F(Instructions, SmallFloatsByGeneration) {
  set(1, [](unsigned) { return 0x00000038u; });
  run("v_cvt_f32_fp8_sdwa v2, v1 src0_sel:BYTE_0");
  EXPECT_EQ(getFloat(2, 0), 0.5f); // with a bias of 8
  set(1, [](unsigned) { return 0x40384838u; });
  run("v_cvt_pk_f32_fp8_sdwa v[2:3], v1 src0_sel:WORD_1");
  EXPECT_EQ(getFloat(2, 0), 0.5f);
  EXPECT_EQ(getFloat(3, 0), 1.f);
  begin(Generation::Gfx12);
  set(1, [](unsigned) { return 0x00003800u; });
  run("v_cvt_f32_fp8_e64 v2, v1 byte_sel:1");
  EXPECT_EQ(getFloat(2, 0), 1.f);
  set(1, [](unsigned) { return 0x40384838u; });
  run("v_cvt_pk_f32_fp8_e64 v[2:3], v1 op_sel:[1,0]");
  EXPECT_EQ(getFloat(2, 0), 1.f);
  EXPECT_EQ(getFloat(3, 0), 2.f);
}

/// Times the power of two of a number's exponent; a half of the word by op_sel.
TEST_F(Instructions, PairsOfSmallFloatsBecomeHalves) {
  surroundings.hasOcpFloats = true;
  set(1, [](unsigned) { return 0x7fb83c38u; });
  run("v_cvt_scalef32_pk_f16_fp8 v2, v1, 1.0");
  EXPECT_EQ(get(2, 0), 0x3e003c00u); // 1 and 1.5
  set(3, [](unsigned) { return bitsAs<uint32_t>(-5.f); });
  run("v_cvt_scalef32_pk_bf16_fp8 v2, v1, v3");
  EXPECT_EQ(get(2, 0), 0x40c04080u) << "times 4";
  run("v_cvt_scalef32_pk_f16_fp8 v2, v1, 1.0 op_sel:[1,0,0]");
  EXPECT_EQ(get(2, 0) & 0xffff, 0xbc00u);
  EXPECT_GT(get(2, 0) >> 16 & 0x7fff, 0x7c00u) << "a NaN";
  run("v_cvt_scalef32_pk_f16_bf8 v2, v1, 1.0");
  EXPECT_EQ(get(2, 0), 0x3c003800u); // 0.5 and 1
}

/// The same of two numbers of 4 bits, in a byte of the word. The largest exponent makes NaN.
TEST_F(Instructions, PairsOfFourBitsBecomeWider) {
  surroundings.hasOcpFloats = true;
  set(1, [](unsigned) { return 0x9f00712au; });
  set(3, [](unsigned) { return bitsAs<uint32_t>(4.f); });
  run("v_cvt_scalef32_pk_bf16_fp4 v2, v1, 1.0");
  EXPECT_EQ(get(2, 0), 0x3f80bf80u) << "-1 and 1";
  run("v_cvt_scalef32_pk_f16_fp4 v2, v1, v3 op_sel:[1,0,0]");
  EXPECT_EQ(get(2, 0), 0x4e004000u) << "0.5 and 6, times 4";
  run("v_cvt_scalef32_pk_f32_fp4 v[4:5], v1, v3 op_sel:[1,1,0]");
  EXPECT_EQ(getFloat(4, 0), -24.f);
  EXPECT_EQ(getFloat(5, 0), -2.f);
  set(3, [](unsigned) { return 0u; });
  run("v_cvt_scalef32_pk_bf16_fp4 v2, v1, v3 op_sel:[1,0,0]");
  EXPECT_EQ(get(2, 0), 0x01400020u) << "0.5 and 6, times 2^-127";
  set(3, [](unsigned) { return 0x7f800000u; });
  run("v_cvt_scalef32_pk_bf16_fp4 v2, v1, v3 op_sel:[0,1,0]");
  EXPECT_GT(get(2, 0) & 0x7fff, 0x7f80u) << "a NaN of zero";
}

/// Of 16 lanes each has a column of the rows of 16 elements whose parts the lanes give.
TEST_F(Instructions, ReadsAcrossRows) {
  set(0, [](unsigned lane) { return 8 * lane; });
  set(2, [](unsigned lane) { return 0x03020100u + 8 * (lane % 32) * 0x01010101u; });
  set(3, [](unsigned lane) { return 0x07060504u + 8 * (lane % 32) * 0x01010101u; });
  run("ds_write_b64 v0, v[2:3]");
  run("s_waitcnt lgkmcnt(0)");
  run("ds_read_b64_tr_b8 v[4:5], v0");
  run("ds_read_b64_tr_b16 v[6:7], v0");
  run("s_waitcnt lgkmcnt(0)");
  // Byte i of 128 is i: row r of 16 bytes begins with 16 * r.
  EXPECT_EQ(get(4, 5), 0x35251505u);
  EXPECT_EQ(get(5, 5), 0x75655545u);
  EXPECT_EQ(get(4, 31), 0xbfaf9f8fu);
  // Row r of 16 halves begins with 32 * r.
  EXPECT_EQ(get(6, 5), 0x2b2a0b0au);
  EXPECT_EQ(get(7, 5), 0x6b6a4b4au);
}

TEST_F(Instructions, SmallFloatsRoundToNearest) {
  for (const SmallFloat &format : {halfFormat, bfloatFormat, ocpE4M3, ocpE5M2, fnuzE4M3, fnuzE5M2})
    for (uint32_t bits = 0; bits + 1 < 1u << (format.bits() - 1); ++bits) {
      double low = format.decode(bits), high = format.decode(bits + 1);
      if (!std::isfinite(low) || !std::isfinite(high))
        continue;
      ASSERT_EQ(format.encode(low), bits);
      ASSERT_EQ(format.encode((low + high) / 2), bits % 2 ? bits + 1 : bits);
      ASSERT_EQ(format.encode(low + (high - low) * 0.75), bits + 1);
    }
}

// --- matrices: A has a row of ones at `row`, and B has its k at each column ---

/// A bit pattern of a half or of bfloat16, twice in a register.
uint32_t twice(uint32_t bits) { return bits | bits << 16; }

TEST_F(Instructions, Mfma16HasItsRowsInBlocksOfFour) {
  // Row 6 of A is ones: lanes 6, 22, 38 and 54. B's column c is c.
  set(0, [](unsigned lane) { return lane % 16 == 6 ? twice(0x3c00) : 0; });
  set(1, [](unsigned lane) { return lane % 16 == 6 ? twice(0x3c00) : 0; });
  for (unsigned v : {2, 3})
    set(v, [](unsigned lane) { return twice(halfBits(lane % 16)); });
  run("v_mfma_f32_16x16x16_f16 v[4:7], v[0:1], v[2:3], 1.0");
  for (unsigned lane = 0; lane != 64; ++lane)
    for (unsigned i = 0; i != 4; ++i)
      ASSERT_EQ(getFloat(4 + i, lane), lane / 16 == 1 && i == 2 ? 16 * (lane % 16) + 1 : 1) << lane;
}

TEST_F(Instructions, Mfma32HasItsRowsInBlocksOfEight) {
  // Row 13: block 1 of eight, of which the upper half of the wave has rows 4 to 7.
  for (unsigned v : {0, 1})
    set(v, [](unsigned lane) { return lane % 32 == 13 ? twice(0x3c00) : 0; });
  for (unsigned v : {2, 3})
    set(v, [](unsigned lane) { return twice(halfBits(lane % 32)); });
  run("v_mfma_f32_32x32x8_f16 v[4:19], v[0:1], v[2:3], 0");
  for (unsigned lane = 0; lane != 64; ++lane)
    for (unsigned i = 0; i != 16; ++i)
      ASSERT_EQ(getFloat(4 + i, lane), lane >= 32 && i == 5 ? 8 * (lane % 32) : 0) << lane;
}

TEST_F(Instructions, MfmaOfF64HasItsRowsInTurn) {
  set(0, [](unsigned) { return 0u; });
  set(1, [](unsigned lane) { return lane % 16 == 6 ? 0x3ff00000u : 0; });
  set(2, [](unsigned) { return 0u; });
  set(3, [](unsigned) { return 0x40000000u; });
  run("v_mfma_f64_16x16x4_f64 v[4:11], v[0:1], v[2:3], 0");
  for (unsigned lane = 0; lane != 64; ++lane)
    for (unsigned i = 0; i != 4; ++i)
      ASSERT_EQ(get(5 + 2 * i, lane), lane / 16 == 2 && i == 1 ? 0x40200000u : 0) << lane;
}

TEST_F(Instructions, WmmaOfGfx11WantsBothHalvesOfTheWave) {
  begin(Generation::Gfx11);
  for (unsigned v = 0; v != 8; ++v) {
    set(v, [](unsigned lane) { return lane % 16 == 5 ? twice(0x3c00) : 0; });
    set(8 + v, [](unsigned lane) { return twice(halfBits(lane % 16)); });
  }
  run("v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[8:15], 0");
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned i = 0; i != 8; ++i)
      ASSERT_EQ(getFloat(16 + i, lane), lane >= 16 && i == 2 ? 16 * (lane % 16) : 0) << lane;
  set(3, [](unsigned lane) { return lane; });
  EXPECT_EQ(mistakeOf("v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[8:15], 0"),
            "the halves of the wave hold different rows of a matrix");
}

TEST_F(Instructions, WmmaOfGfx12HasEightRowsInEachHalf) {
  begin(Generation::Gfx12);
  for (unsigned v = 0; v != 4; ++v) {
    set(v, [](unsigned lane) { return lane % 16 == 10 ? twice(0x3f80) : 0; });
    set(8 + v, [](unsigned lane) { return lane % 16 == 3 ? twice(0x4000) : 0; });
  }
  run("v_wmma_f32_16x16x16_bf16 v[16:23], v[0:3], v[8:11], 0");
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned i = 0; i != 8; ++i)
      ASSERT_EQ(getFloat(16 + i, lane), lane == 19 && i == 2 ? 32 : 0) << lane;
}

TEST_F(Instructions, WmmaOfFactorsWithTurnedSigns) {
  begin(Generation::Gfx12);
  for (unsigned v = 0; v != 4; ++v) {
    set(v, [](unsigned lane) { return lane % 16 == 10 ? 0x40003c00u : 0; });
    set(8 + v, [](unsigned lane) { return lane % 16 == 3 ? twice(0x3c00) : 0; });
  }
  auto sumOf = [&](const std::string &signs) {
    run("v_wmma_f32_16x16x16_f16 v[16:23], v[0:3], v[8:11], 0" + signs);
    return getFloat(18, 19);
  };
  EXPECT_EQ(sumOf(""), 8 + 16);
  EXPECT_EQ(sumOf(" neg_lo:[1,0,0]"), 16 - 8);
  EXPECT_EQ(sumOf(" neg_hi:[1,0,0]"), 8 - 16);
  EXPECT_EQ(sumOf(" neg_lo:[0,1,0] neg_hi:[0,1,0]"), -8 - 16);
  EXPECT_EQ(sumOf(" neg_lo:[1,1,0] neg_hi:[0,1,0]"), 8 - 16);
}

} // namespace
} // namespace kiln::amdgcn
