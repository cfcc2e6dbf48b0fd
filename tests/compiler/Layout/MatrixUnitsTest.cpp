//===- MatrixUnitsTest.cpp - fragments against the manuals' formulas ------===//

#include "compiler/Layout/MatrixUnits.h"

#include <gtest/gtest.h>

using namespace kiln;
using Point = llvm::SmallVector<int64_t, 4>;

static Point at(const LinearLayout &layout, uint64_t reg, uint64_t lane) {
  return layout.out().unpack(layout.apply({{Dim::Register, reg}, {Dim::Lane, lane}}));
}

static const MatrixInstruction &unit(llvm::StringRef name) {
  const MatrixInstruction *found = findMatrixInstruction(name);
  EXPECT_TRUE(found) << name.str();
  return *found;
}

static std::optional<MatrixTiling> select(const char *target, MatrixProblem problem) {
  return selectMatrixTiling(llvm::cantFail(parseTarget(target)), problem);
}

TEST(MatrixUnits, EveryFragmentCoversItsOperand) {
  for (const MatrixInstruction &u : allMatrixInstructions()) {
    int64_t rows[] = {u.m, u.depth(MatrixOperand::B), u.m},
            columns[] = {u.depth(MatrixOperand::A), u.n, u.n};
    for (MatrixOperand operand : {MatrixOperand::A, MatrixOperand::B, MatrixOperand::C}) {
      LinearLayout fragment = u.fragment(operand);
      EXPECT_TRUE(fragment.isSurjective()) << u.name.str();
      EXPECT_EQ(fragment.numLanes(), u.numLanes()) << u.name.str();
      EXPECT_EQ(fragment.shape(), (Point{rows[int(operand)], columns[int(operand)]}))
          << u.name.str();
      EXPECT_EQ(fragment.numWarps(), u.numWarps()) << u.name.str();
      bool ofGfx11 = u.family == MatrixFamily::WmmaGfx11 || u.family == MatrixFamily::WmmaGfx11By2;
      bool replicated = (ofGfx11 && operand != MatrixOperand::C) ||
                        (u.family == MatrixFamily::Wgmma && operand == MatrixOperand::B);
      EXPECT_EQ(fragment.isInjective(), !replicated) << u.name.str();
    }
    EXPECT_EQ(findMatrixInstruction(u.name), &u);
  }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
TEST(MatrixUnits, MmaSyncF16) {
  const MatrixInstruction &u = unit("mma.m16n8k16.f16.f32");
  LinearLayout a = u.fragment(MatrixOperand::A), b = u.fragment(MatrixOperand::B),
               c = u.fragment(MatrixOperand::C);
  for (int lane = 0; lane < 32; ++lane) {
    int group = lane >> 2, inGroup = lane % 4;
    for (int i = 0; i < 8; ++i) {
      int row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
      int column = inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      EXPECT_EQ(at(a, i, lane), (Point{row, column}));
    }
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(at(b, i, lane), (Point{inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0), group}));
      EXPECT_EQ(at(c, i, lane), (Point{i < 2 ? group : group + 8, inGroup * 2 + (i & 1)}));
    }
  }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k8", .tf32, and "… mma.m16n8k32", .s8.
TEST(MatrixUnits, MmaSyncTF32AndInt8) {
  LinearLayout a = unit("mma.m16n8k8.tf32.f32").fragment(MatrixOperand::A);
  LinearLayout b = unit("mma.m16n8k8.tf32.f32").fragment(MatrixOperand::B);
  LinearLayout wide = unit("mma.m16n8k32.s8.s32").fragment(MatrixOperand::A);
  for (int lane = 0; lane < 32; ++lane) {
    int group = lane >> 2, inGroup = lane % 4;
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(at(a, i, lane),
                (Point{i == 0 || i == 2 ? group : group + 8, i < 2 ? inGroup : inGroup + 4}));
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(at(b, i, lane), (Point{inGroup + 4 * i, group}));
    for (int i = 0; i < 16; ++i) {
      int row = (i < 4 || (i >= 8 && i < 12)) ? group : group + 8;
      int column = inGroup * 4 + (i & 3) + (i >= 8 ? 16 : 0);
      EXPECT_EQ(at(wide, i, lane), (Point{row, column}));
    }
  }
}

// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", and "… m64nNk32": a warp has 16 rows.
TEST(MatrixUnits, Wgmma) {
  auto at = [](const LinearLayout &layout, uint64_t reg, uint64_t lane, uint64_t warp) {
    return layout.out().unpack(
        layout.apply({{Dim::Register, reg}, {Dim::Lane, lane}, {Dim::Warp, warp}}));
  };
  LinearLayout a = unit("wgmma.m64n128k16.f16.f32").fragment(MatrixOperand::A),
               c = unit("wgmma.m64n128k16.f16.f32").fragment(MatrixOperand::C),
               bytes = unit("wgmma.m64n128k32.s8.s32").fragment(MatrixOperand::A);
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < 32; ++lane) {
      int row = 16 * warp + lane / 4, inGroup = lane % 4;
      for (int i = 0; i < 8; ++i)
        EXPECT_EQ(at(a, i, lane, warp),
                  (Point{row + 8 * (i / 2 % 2), inGroup * 2 + i % 2 + 8 * (i / 4)}));
      for (int i = 0; i < 64; ++i)
        EXPECT_EQ(at(c, i, lane, warp),
                  (Point{row + 8 * (i / 2 % 2), inGroup * 2 + i % 2 + 8 * (i / 4)}));
      for (int i = 0; i < 16; ++i)
        EXPECT_EQ(at(bytes, i, lane, warp),
                  (Point{row + 8 * (i / 4 % 2), inGroup * 4 + i % 4 + 16 * (i / 8)}));
    }
}

// Instinct MI300 ISA: accumulator r of lane l of a 32x32 result.
TEST(MatrixUnits, Mfma32x32) {
  const MatrixInstruction &u = unit("mfma.32x32x8.f16.f32");
  LinearLayout a = u.fragment(MatrixOperand::A), c = u.fragment(MatrixOperand::C);
  for (int lane = 0; lane < 64; ++lane) {
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(at(a, i, lane), (Point{lane % 32, lane / 32 * 4 + i}));
    for (int r = 0; r < 16; ++r)
      EXPECT_EQ(at(c, r, lane), (Point{8 * (r / 4) + 4 * (lane / 32) + r % 4, lane % 32}));
  }
}

TEST(MatrixUnits, Mfma16x16) {
  const MatrixInstruction &u = unit("mfma.16x16x16.f16.f32");
  LinearLayout b = u.fragment(MatrixOperand::B), c = u.fragment(MatrixOperand::C);
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(at(b, i, lane), (Point{lane / 16 * 4 + i, lane % 16}));
      EXPECT_EQ(at(c, i, lane), (Point{lane / 16 * 4 + i, lane % 16}));
    }
}

// Instinct ISA, "Matrix Arithmetic Instructions": a lane has every fourth row of an f64 result.
TEST(MatrixUnits, MfmaF64) {
  const MatrixInstruction &u = unit("mfma.16x16x4.f64.f64");
  LinearLayout a = u.fragment(MatrixOperand::A), c = u.fragment(MatrixOperand::C);
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(at(a, 0, lane), (Point{lane % 16, lane / 16}));
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(at(c, i, lane), (Point{4 * i + lane / 16, lane % 16}));
  }
  MatrixProblem f64{64, 64, 64, MatrixElement::F64, MatrixElement::F64, 4};
  for (const char *target : {"hip:gfx90a", "hip:gfx942", "hip:gfx950"})
    EXPECT_EQ(select(target, f64)->instruction->name, "mfma.16x16x4x2.f64.f64");
  EXPECT_FALSE(select("hip:gfx1201", f64));
}

/// The unit's A is the product's B.
TEST(MatrixUnits, OfTwoTypes) {
  MatrixProblem bytes{64, 64, 128, MatrixElement::F8E4M3, MatrixElement::F32, 4};
  bytes.operandB = MatrixElement::F8E5M2;
  EXPECT_EQ(select("hip:gfx942", bytes)->instruction->name, "mfma.32x32x16x2.bf8.fp8.f32");
  EXPECT_EQ(select("hip:gfx950", bytes)->instruction->name, "mfma.32x32x64.bf8.fp8.f32");
  EXPECT_EQ(select("hip:gfx1201", bytes)->instruction->name, "wmma12.16x16x16.bf8.fp8.f32");
  EXPECT_FALSE(select("hip:gfx90a", bytes));
  EXPECT_FALSE(select("cuda:sm_90a", bytes));
  std::swap(bytes.operand, *bytes.operandB);
  EXPECT_EQ(select("hip:gfx942", bytes)->instruction->name, "mfma.32x32x16x2.fp8.bf8.f32");
}

/// Results are operands of instructions that have neighbours four by four, register by register.
TEST(MatrixUnits, MfmaOfResults) {
  for (const MatrixInstruction &u : allMatrixInstructions()) {
    if (u.family != MatrixFamily::MfmaBy4)
      continue;
    unsigned groups = 64 / u.m, together = 4 * groups;
    LinearLayout a = u.fragment(MatrixOperand::A), b = u.fragment(MatrixOperand::B),
                 c = u.fragment(MatrixOperand::C);
    for (int lane = 0; lane < 64; ++lane)
      for (unsigned i = 0; i < u.k / groups; ++i) {
        int64_t place = i / 4 * together + lane / u.m * 4 + i % 4;
        EXPECT_EQ(at(a, i, lane), (Point{lane % u.m, place})) << u.name.str();
        EXPECT_EQ(at(b, i, lane), (Point{place, lane % u.n})) << u.name.str();
        if (place < u.m) {
          EXPECT_EQ(at(c, i, lane), (Point{place, lane % u.n})) << u.name.str();
        }
      }
  }
}

// composable_kernel, test/mx_mfma_op: of 8-bit numbers a lane has 16 and 16 that lie behind those
// of all groups, of 4-bit ones 32 neighbours; a row's scales lie in the groups' lanes one after the
// other.
TEST(MatrixUnits, ScaledMfma) {
  const MatrixInstruction &bytes = unit("mfma.scale.16x16x128.f8.f32"),
                          &pairs = unit("mfma.scale.32x32x64.f4.f32");
  for (int lane = 0; lane < 64; ++lane) {
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(at(bytes.fragment(MatrixOperand::A), i, lane),
                (Point{lane % 16, i / 16 * 64 + lane / 16 * 16 + i % 16}));
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(at(pairs.fragment(MatrixOperand::B), i, lane),
                (Point{lane / 32 * 16 + i, lane % 32}));
    EXPECT_EQ(at(bytes.scaleFragment(), 0, lane), (Point{lane % 16, lane / 16}));
    EXPECT_EQ(at(pairs.scaleFragment(), 0, lane), (Point{lane % 32, lane / 32}));
  }
  auto tiling = select("hip:gfx950", {64, 64, 128, MatrixElement::F8E4M3, MatrixElement::F32, 4,
                                      true, false, 0, false, true});
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->instruction->name, "mfma.scale.32x32x64.f8.f32");
  EXPECT_FALSE(select("hip:gfx942", {64, 64, 128, MatrixElement::F8E4M3, MatrixElement::F32, 4,
                                     true, false, 0, false, true}));
  // Of two widths a lane has as many numbers of both operands.
  const MatrixInstruction &both = unit("mfma.scale.16x16x128.f4.f8.f32");
  EXPECT_EQ(both.fragment(MatrixOperand::A),
            unit("mfma.scale.16x16x128.f4.f32").fragment(MatrixOperand::A));
  EXPECT_EQ(both.fragment(MatrixOperand::B), bytes.fragment(MatrixOperand::B));
  MatrixProblem ofTwo{64, 64,    128,  MatrixElement::E2M1x2, MatrixElement::F32, 4, true, false,
                      0,  false, true, MatrixElement::F8E4M3};
  EXPECT_EQ(select("hip:gfx950", ofTwo)->instruction->name, "mfma.scale.32x32x64.f8.f4.f32");
  // Whoever holds a row has its scales, along the same warps.
  LinearLayout a = tiling->layout(MatrixOperand::A, {64, 128}),
               b = tiling->layout(MatrixOperand::B, {128, 64}),
               scaleA = tiling->scaleLayout(MatrixOperand::A, {64, 4}),
               scaleB = tiling->scaleLayout(MatrixOperand::B, {64, 4});
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < 64; ++lane) {
      EXPECT_EQ(a.coordinates(0, lane, warp)[0], scaleA.coordinates(0, lane, warp)[0]);
      EXPECT_EQ(b.coordinates(0, lane, warp)[1], scaleB.coordinates(0, lane, warp)[0]);
    }
}

// RDNA3 and RDNA4 ISA, "Wave Matrix Multiply Accumulate".
TEST(MatrixUnits, Wmma) {
  const MatrixInstruction &old = unit("wmma.16x16x16.f16.f32");
  const MatrixInstruction &now = unit("wmma12.16x16x16.f16.f32");
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(at(old.fragment(MatrixOperand::A), i, lane), (Point{lane % 16, i}));
    for (int r = 0; r < 8; ++r) {
      EXPECT_EQ(at(old.fragment(MatrixOperand::C), r, lane), (Point{2 * r + lane / 16, lane % 16}));
      EXPECT_EQ(at(now.fragment(MatrixOperand::C), r, lane), (Point{r + lane / 16 * 8, lane % 16}));
    }
  }
}

/// Half of a lane's operand is what the lane has of a result, the other half what its partner has.
TEST(MatrixUnits, WmmaOfResults) {
  unsigned seen = 0;
  for (const MatrixInstruction &u : allMatrixInstructions()) {
    if (u.family != MatrixFamily::WmmaGfx11By2)
      continue;
    ++seen;
    LinearLayout a = u.fragment(MatrixOperand::A), b = u.fragment(MatrixOperand::B),
                 c = u.fragment(MatrixOperand::C);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 16; ++i) {
        Point held = at(c, i % 8, i / 8 * 16 + lane % 16);
        EXPECT_EQ(at(b, i, lane), held) << u.name.str();
        EXPECT_EQ(at(a, i, lane), (Point{held[1], held[0]})) << u.name.str();
      }
  }
  EXPECT_EQ(seen, 2u);
}

/// Lanes have as many neighbours of a result as are asked for, as far as they have elements of it;
/// and where the unit has a row of A's the result has it, too.
TEST(MatrixUnits, NeighboursOfResults) {
  for (const char *name : {"wmma.16x16x16.f16.f32", "wmma.16x16x16by2.bf16.f32",
                           "wmma12.16x16x16.f16.f32", "mfma.32x32x8.f16.f32"})
    for (unsigned neighbours : {1u, 2u, 4u, 8u}) {
      const MatrixInstruction &u = unit(name);
      MatrixTiling tiling{&u, /*swapped=*/false, 1, 1, neighbours};
      LinearLayout a = tiling.fragment(MatrixOperand::A), b = tiling.fragment(MatrixOperand::B),
                   c = tiling.fragment(MatrixOperand::C);
      EXPECT_GE(c.contiguousRegisters({0}), int64_t(neighbours)) << name;
      EXPECT_EQ(b, u.fragment(MatrixOperand::B)) << name;
      for (unsigned lane = 0; lane < u.numLanes(); ++lane) {
        for (unsigned reg = 0; reg < c.numRegisters(); ++reg) {
          Point ofUnit = at(u.fragment(MatrixOperand::C), reg, lane);
          EXPECT_EQ(at(c, reg, lane), (Point{at(a, 0, ofUnit[0])[0], ofUnit[1]})) << name;
        }
        for (unsigned reg = 0; reg < a.numRegisters(); ++reg)
          EXPECT_EQ(at(a, reg, lane)[1], at(u.fragment(MatrixOperand::A), reg, lane)[1]) << name;
      }
      tiling.swapped = true;
      EXPECT_EQ(tiling.fragment(MatrixOperand::B), a.transpose({1, 0})) << name;
      EXPECT_EQ(tiling.fragment(MatrixOperand::C), c.transpose({1, 0})) << name;
    }
}

/// Rows that stand for several instructions: a lane has 16 bytes of neighbours along k, the same of
/// both operands.
TEST(MatrixUnits, PackedRowsHaveNeighboursOfBothOperandsAlike) {
  unsigned packed = 0;
  for (const MatrixInstruction &u : allMatrixInstructions()) {
    if (u.numSteps() == 1)
      continue;
    ++packed;
    LinearLayout a = u.fragment(MatrixOperand::A), b = u.fragment(MatrixOperand::B);
    EXPECT_EQ(a.numRegisters() * elementBits(u.operand), 128u) << u.name.str();
    EXPECT_EQ(a.contiguousRegisters({1}), int64_t(a.numRegisters())) << u.name.str();
    EXPECT_EQ(b.contiguousRegisters({0}), int64_t(b.numRegisters())) << u.name.str();
    for (unsigned lane = 0; lane < u.numLanes(); ++lane)
      for (unsigned reg = 0; reg < a.numRegisters(); ++reg)
        EXPECT_EQ(at(a, reg, lane)[1], at(b, reg, lane)[0]) << u.name.str();
  }
  EXPECT_EQ(packed, 21u);
}

TEST(MatrixUnits, SelectionByTargetAndShape) {
  MatrixProblem f16{128, 128, 64, MatrixElement::F16, MatrixElement::F32, 4};
  EXPECT_EQ(select("cuda:sm_80", f16)->instruction->name, "mma.m16n8k16.f16.f32");
  EXPECT_EQ(select("hip:gfx942", f16)->instruction->name, "mfma.32x32x8x2.f16.f32");
  EXPECT_EQ(select("hip:gfx950", f16)->instruction->name, "mfma.32x32x16.f16.f32");
  EXPECT_EQ(select("hip:gfx1100", f16)->instruction->name, "wmma.16x16x16.f16.f32");
  EXPECT_EQ(select("hip:gfx1201", f16)->instruction->name, "wmma12.16x16x16.f16.f32");
  MatrixProblem small{32, 32, 32, MatrixElement::F16, MatrixElement::F32, 4};
  EXPECT_EQ(select("hip:gfx942", small)->instruction->name, "mfma.16x16x16x2.f16.f32")
      << "all warps are busy";
  small.k = 16;
  EXPECT_EQ(select("hip:gfx942", small)->instruction->name, "mfma.16x16x16.f16.f32");
  MatrixProblem tf32{128, 128, 64, MatrixElement::TF32, MatrixElement::F32, 4};
  EXPECT_EQ(select("hip:gfx942", tf32)->instruction->name, "mfma.32x32x4x2.xf32.f32");
  EXPECT_FALSE(select("hip:gfx90a", tf32));
  EXPECT_FALSE(select("hip:gfx950", tf32));
  MatrixProblem f64{64, 64, 64, MatrixElement::F64, MatrixElement::F64, 4};
  EXPECT_FALSE(select("cuda:sm_80", f64));
  MatrixProblem fp8{64, 64, 64, MatrixElement::F8E4M3, MatrixElement::F32, 4};
  EXPECT_FALSE(select("cuda:sm_80", fp8));
  EXPECT_TRUE(select("cuda:sm_89", fp8));
  MatrixProblem thin{8, 64, 64, MatrixElement::F16, MatrixElement::F32, 4};
  EXPECT_EQ(select("cuda:sm_80", thin)->instruction->name, "mma.m16n8k16.f16.f32");
  MatrixProblem thinner{4, 64, 64, MatrixElement::F16, MatrixElement::F32, 4};
  EXPECT_TRUE(select("cuda:sm_80", thinner)->swapped);
}

TEST(MatrixUnits, WarpGroupsWantFourWarpsAndSharedMemory) {
  MatrixProblem f16{128, 128, 64, MatrixElement::F16, MatrixElement::F32, 4};
  EXPECT_EQ(select("cuda:sm_90a", f16)->instruction->name, "wgmma.m64n128k16.f16.f32");
  EXPECT_EQ(select("cuda:sm_100a", f16)->instruction->name, "mma.m16n8k16.f16.f32");
  MatrixProblem registers = f16, fewWarps = f16, flat = f16;
  registers.fromShared = false;
  fewWarps.numWarps = 2;
  flat.m = 32;
  for (const MatrixProblem &problem : {registers, fewWarps, flat})
    EXPECT_EQ(select("cuda:sm_90a", problem)->instruction->name, "mma.m16n8k16.f16.f32");
  MatrixProblem eight{128, 256, 64, MatrixElement::BF16, MatrixElement::F32, 8};
  auto tiling = select("cuda:sm_90a", eight);
  EXPECT_EQ(tiling->warpsM * tiling->warpsN, 2u) << "groups of four";
}

TEST(MatrixUnits, WarpsAreDealtForTheLeastTraffic) {
  auto tiling = select("cuda:sm_80", {128, 128, 64, MatrixElement::F16, MatrixElement::F32, 4});
  EXPECT_EQ(tiling->warpsM, 2u);
  EXPECT_EQ(tiling->warpsN, 2u);
  auto flat = select("cuda:sm_80", {16, 256, 64, MatrixElement::F16, MatrixElement::F32, 4});
  EXPECT_EQ(flat->warpsM, 1u);
  EXPECT_EQ(flat->warpsN, 4u);
}

TEST(MatrixUnits, OfTheSizeThatIsAskedFor) {
  MatrixProblem f16{64, 64, 64, MatrixElement::F16, MatrixElement::F32, 4};
  f16.size = 16;
  EXPECT_EQ(select("hip:gfx942", f16)->instruction->name, "mfma.16x16x16x2.f16.f32");
  EXPECT_EQ(select("hip:gfx950", f16)->instruction->name, "mfma.16x16x32.f16.f32");
  f16.isSingle = true;
  EXPECT_EQ(select("hip:gfx942", f16)->instruction->name, "mfma.16x16x16.f16.f32");
  f16.m = 32;
  f16.size = 32;
  EXPECT_EQ(select("hip:gfx942", f16)->instruction->name, "mfma.32x32x8.f16.f32")
      << "though warps are idle";
  f16.isAlongM = true;
  EXPECT_FALSE(select("hip:gfx942", f16)) << "there is one of the size for the problem itself";
  f16.isAlongM = false;
  f16.m = 16;
  EXPECT_EQ(select("hip:gfx942", f16)->instruction->name, "mfma.16x16x16.f16.f32")
      << "none of the size has so few rows";
}

TEST(MatrixUnits, WarpsAlongMHaveRowsOfTheirOwn) {
  MatrixProblem f16{64, 64, 64, MatrixElement::F16, MatrixElement::F32, 4};
  EXPECT_EQ(select("hip:gfx942", f16)->instruction->name, "mfma.32x32x8x2.f16.f32");
  f16.isAlongM = true;
  auto tiling = select("hip:gfx942", f16);
  EXPECT_EQ(tiling->instruction->name, "mfma.16x16x16x2.f16.f32");
  EXPECT_EQ(tiling->warpsM, 4u);
  EXPECT_EQ(tiling->warpsN, 1u);
  f16.numWarps = 8;
  EXPECT_FALSE(select("hip:gfx942", f16)) << "128 rows";
}

TEST(MatrixUnits, WhatIsMissingOnTheShorterSideIsRepeated) {
  MatrixProblem vector{1, 64, 64, MatrixElement::F16, MatrixElement::F32, 4};
  auto tiling = select("cuda:sm_90a", vector);
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->instruction->name, "mma.m16n8k16.f16.f32");
  EXPECT_TRUE(tiling->swapped);
  EXPECT_EQ(tiling->warpsN, 4u);
  EXPECT_EQ(tiling->fragmentRegisters(MatrixOperand::C, {1, 64}),
            (llvm::SmallVector<unsigned>{0, 0, 1, 1}));
  EXPECT_EQ(tiling->fragmentRegisters(MatrixOperand::C, {2, 64}),
            (llvm::SmallVector<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(tiling->layout(MatrixOperand::C, {1, 64}).numRegisters(), 2);
  vector.n = 8;
  EXPECT_FALSE(select("cuda:sm_90a", vector)) << "on one side only";
  std::swap(vector.m, vector.n);
  vector.m = 64;
  EXPECT_FALSE(select("cuda:sm_90a", vector)->swapped);
  for (int64_t rows : {1, 4, 8})
    EXPECT_EQ(select("hip:gfx942", {rows, 256, 64, MatrixElement::F16, MatrixElement::F32, 4})
                  ->instruction->name,
              "mfma.16x16x16x2.f16.f32")
        << "of which less is repeated";
}

// Whoever multiplies must hold both factors: per warp, the rows of A's and C's
// elements agree, as do the columns of B's and C's, and A and B pair equal k.
TEST(MatrixUnits, OperandLayoutsOfWholeTilesMatch) {
  for (const char *target :
       {"cuda:sm_80", "hip:gfx90a", "hip:gfx942", "hip:gfx1100", "hip:gfx1201"}) {
    for (int64_t m : {32, 128})
      for (int64_t n : {16, 64}) {
        const int64_t k = 64;
        auto tiling = select(target, {m, n, k, MatrixElement::BF16, MatrixElement::F32, 4});
        ASSERT_TRUE(tiling) << target;
        LinearLayout a = tiling->layout(MatrixOperand::A, {m, k});
        LinearLayout b = tiling->layout(MatrixOperand::B, {k, n});
        LinearLayout c = tiling->layout(MatrixOperand::C, {m, n});
        EXPECT_TRUE(a.isSurjective() && b.isSurjective() && c.isSurjective());
        for (int64_t warp = 0; warp < 4; ++warp) {
          auto first = c.coordinates(0, 0, warp);
          EXPECT_EQ(a.coordinates(0, 0, warp)[0], first[0]) << target;
          EXPECT_EQ(b.coordinates(0, 0, warp)[1], first[1]) << target;
          EXPECT_EQ(a.coordinates(0, 0, warp)[1], 0);
        }
        // The fragment's registers stay lowest, in the instruction's order.
        LinearLayout fragment = tiling->fragment(MatrixOperand::C);
        for (int64_t r = 0; r < fragment.numRegisters(); ++r)
          for (int64_t lane = 0; lane < fragment.numLanes(); ++lane)
            EXPECT_EQ(c.coordinates(r, lane, 0), at(fragment, r, lane));
      }
  }
}

TEST(MatrixUnits, FmaOperandsHoldAllOfK) {
  LinearLayout c =
      llvm::cantFail(LinearLayout::parse("register: 0,1; lane: 0,2 1,0; warp: 2,0; block: -> 4x4"));
  EXPECT_EQ(fmaOperandLayout(c, MatrixOperand::A, 8).str(),
            "register: 0,1 0,2 0,4; lane: 0,0 1,0; warp: 2,0; block: -> 4x8");
  EXPECT_EQ(fmaOperandLayout(c, MatrixOperand::B, 8).str(),
            "register: 0,1 1,0 2,0 4,0; lane: 0,2 0,0; warp: 0,0; block: -> 8x4");
}
