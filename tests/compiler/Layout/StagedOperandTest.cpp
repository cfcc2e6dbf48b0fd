//===- StagedOperandTest.cpp - swizzled rows and who reads them -----------===//

#include "compiler/Layout/StagedOperand.h"
#include "compiler/Layout/LayoutConversion.h"
#include "compiler/Layout/MatrixUnits.h"
#include "compiler/Layout/TileLayouts.h"

#include <gtest/gtest.h>
#include <set>

using namespace kiln;
using Shape = llvm::SmallVector<int64_t, 4>;

namespace {

/// PTX ISA, "Tensor Swizzling Modes": which bits of a byte's address change, from the rows' length.
uint64_t swizzled(uint64_t address, unsigned rowBytes) {
  unsigned bits = rowBytes == 128 ? 3 : rowBytes == 64 ? 2 : rowBytes == 32 ? 1 : 0;
  return address ^ (address >> 7 & ((1u << bits) - 1)) << 4;
}

struct Tile {
  Shape shape;
  unsigned axis, elementBits, rowBytes;
};
const Tile tiles[] = {
    {{64, 64}, 1, 16, 128}, {{64, 128}, 1, 16, 128}, {{64, 256}, 0, 16, 128},
    {{16, 32}, 1, 16, 64},  {{32, 8}, 0, 16, 64},    {{16, 16}, 1, 16, 32},
    {{128, 8}, 1, 16, 16},  {{32, 128}, 1, 8, 128},  {{64, 16}, 1, 8, 16},
    {{32, 64}, 0, 8, 32},   {{64, 32}, 1, 32, 128},  {{8, 16}, 1, 32, 64},
    {{4, 64}, 0, 32, 16},   {{2, 64}, 1, 16, 128},
};

TEST(StagedOperand, SwizzledRowsHaveTheAddressesOfTheManual) {
  for (const Tile &tile : tiles) {
    SCOPED_TRACE(std::to_string(tile.shape[0]) + "x" + std::to_string(tile.shape[1]) + " along " +
                 std::to_string(tile.axis));
    EXPECT_EQ(swizzledRowBytes(tile.shape, tile.axis, tile.elementBits), tile.rowBytes);
    SharedLayout shared = swizzledShared(tile.shape, tile.axis, tile.elementBits);
    EXPECT_TRUE(shared.map.isBijective());
    EXPECT_EQ(shared.padInterval, 0u);
    LinearLayout offsets = shared.map.invert();
    unsigned bytes = tile.elementBits / 8;
    uint64_t rows = tile.shape[1 - tile.axis];
    for (int64_t row = 0; row < int64_t(rows); ++row)
      for (int64_t column = 0; column < tile.shape[tile.axis]; ++column) {
        uint64_t along = column * bytes, panel = along / tile.rowBytes;
        uint64_t address =
            swizzled((panel * rows + row) * tile.rowBytes + along % tile.rowBytes, tile.rowBytes);
        Shape place = tile.axis == 1 ? Shape{row, column} : Shape{column, row};
        ASSERT_EQ(offsets.apply(offsets.in().pack(place)) * bytes, address)
            << row << ", " << column;
      }
  }
}

TEST(StagedOperand, BatchesFollowOneAnother) {
  LinearLayout one = swizzledShared({16, 32}, 1, 16).map.invert(),
               all = swizzledShared({4, 16, 32}, 2, 16).map.invert();
  for (int64_t batch = 0; batch < 4; ++batch)
    for (int64_t i = 0; i < 16; ++i)
      for (int64_t j = 0; j < 32; ++j)
        ASSERT_EQ(all.apply(all.in().pack({batch, i, j})),
                  batch * 512 + one.apply(one.in().pack({i, j})));
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// The warps of a block read a buffer by ldmatrix (PTX ISA, "Warp-level matrix load instruction:
/// ldmatrix"): every register has its element, and the 8 rows of a matrix lie in different banks.
void simulate(const LinearLayout &distributed, const SharedLayout &shared, unsigned elementBits) {
  std::optional<MatrixAccess> access = planMatrixAccess(distributed, shared, elementBits);
  ASSERT_TRUE(access);
  unsigned bytes = elementBits / 8, perWord = 4 / bytes;
  for (int64_t warp = 0; warp < distributed.numWarps(); ++warp) {
    auto rowAddress = [&](const MatrixAccess::Part &part, unsigned lane) {
      return (multiply(access->laneOffsets, lane) ^ multiply(access->warpOffsets, warp) ^
              part.offset) *
             bytes;
    };
    std::set<unsigned> filled;
    for (const MatrixAccess::Part &part : access->parts) {
      ASSERT_EQ(part.registers.size(), access->matrices * perWord);
      for (unsigned matrix = 0; matrix < access->matrices; ++matrix) {
        std::set<uint64_t> banks;
        for (unsigned row = 0; row < 8; ++row) {
          uint64_t address = rowAddress(part, 8 * matrix + row);
          ASSERT_EQ(address % 16, 0u);
          banks.insert(address / 16 % 8);
        }
        EXPECT_EQ(banks.size(), 8u) << "conflicts";
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned element = 0; element < perWord; ++element) {
            // Plain, a lane has a word of row lane / 4; transposed, halves of two rows.
            unsigned row = access->transposed ? lane % 4 * 2 + element : lane / 4;
            unsigned byte = access->transposed ? lane / 4 * 2 : lane % 4 * 4 + element * bytes;
            uint64_t offset = (rowAddress(part, 8 * matrix + row) + byte) / bytes;
            unsigned reg = part.registers[matrix * perWord + element];
            filled.insert(reg);
            ASSERT_EQ(shared.map.out().unpack(shared.map.apply(offset)),
                      distributed.coordinates(reg, lane, warp))
                << "register " << reg << ", lane " << lane << ", warp " << warp;
          }
      }
    }
    EXPECT_EQ(filled.size(), size_t(distributed.numRegisters()));
  }
  EXPECT_EQ(access->wavefronts, int64_t(access->parts.size() * access->matrices));
}

LinearLayout operandOf(const char *instruction, MatrixOperand operand, Shape shape,
                       unsigned warpsM = 2, unsigned warpsN = 2) {
  const MatrixInstruction *unit = findMatrixInstruction(instruction);
  return MatrixTiling{unit, false, warpsM, warpsN}.layout(operand, shape);
}

TEST(StagedOperand, MatrixLoadsBringEveryRegisterItsElement) {
  for (int64_t k : {32, 64, 128}) {
    SCOPED_TRACE(k);
    for (auto [name, bits] : {std::pair("mma.m16n8k16.f16.f32", 16u),
                              {"mma.m16n8k8.tf32.f32", 32u},
                              {"mma.m16n8k32.s8.s32", 8u}}) {
      SCOPED_TRACE(name);
      simulate(operandOf(name, MatrixOperand::A, {64, k}), swizzledShared({64, k}, 1, bits), bits);
      simulate(operandOf(name, MatrixOperand::B, {k, 32}), swizzledShared({k, 32}, 0, bits), bits);
    }
  }
  // One matrix or two of an instruction, warps that hold the same.
  simulate(operandOf("mma.m16n8k16.f16.f32", MatrixOperand::A, {16, 16}, 1, 4),
           swizzledShared({16, 16}, 1, 16), 16);
  simulate(operandOf("mma.m16n8k16.f16.f32", MatrixOperand::B, {16, 32}, 1, 4),
           swizzledShared({16, 32}, 0, 16), 16);
}

TEST(StagedOperand, MatrixLoadsTransposeSixteenBits) {
  const char *name = "mma.m16n8k16.f16.f32";
  for (int64_t n : {16, 32, 64, 128}) {
    SCOPED_TRACE(n);
    SharedLayout rows = swizzledShared({64, n}, 1, 16);
    LinearLayout b = operandOf(name, MatrixOperand::B, {64, n}, 2, 1);
    simulate(b, rows, 16);
    EXPECT_TRUE(planMatrixAccess(b, rows, 16)->transposed);
    SharedLayout columns = swizzledShared({n, 64}, 0, 16);
    simulate(operandOf(name, MatrixOperand::A, {n, 64}, 1, 2), columns, 16);
  }
  EXPECT_FALSE(planMatrixAccess(operandOf("mma.m16n8k32.s8.s32", MatrixOperand::B, {64, 32}),
                                swizzledShared({64, 32}, 1, 8), 8));
  EXPECT_FALSE(planMatrixAccess(operandOf("mma.m16n8k8.tf32.f32", MatrixOperand::B, {64, 32}),
                                swizzledShared({64, 32}, 1, 32), 32));
}

TEST(StagedOperand, MatrixLoadsRefuseWhatDoesNotFit) {
  LinearLayout a = operandOf("mma.m16n8k16.f16.f32", MatrixOperand::A, {64, 64});
  SharedLayout rows = swizzledShared({64, 64}, 1, 16), padded = rows;
  EXPECT_TRUE(planMatrixAccess(a, rows, 16));
  padded.padInterval = 64;
  padded.padAmount = 8;
  EXPECT_FALSE(planMatrixAccess(a, padded, 16));
  EXPECT_FALSE(planMatrixAccess(coalescedLayout({64, 64}, {1, 0}, 8, 32, 4), rows, 16));
  EXPECT_FALSE(planMatrixAccess(coalescedLayout({64, 64}, {1, 0}, 1, 32, 4), rows, 64));
  EXPECT_FALSE(
      planMatrixAccess(operandOf("mfma.32x32x8.f16.f32", MatrixOperand::A, {64, 64}), rows, 16))
      << "64 lanes";
}

//===----------------------------------------------------------------------===//
// Pieces of a warp side by side, and reads across rows
//===----------------------------------------------------------------------===//

SharedMemoryShape memoryOfGfx950() {
  SharedMemoryShape memory;
  memory.banks = 64;
  memory.transposedReads = true;
  return memory;
}

TEST(StagedOperand, PiecesOfAWarpLieSideBySide) {
  SharedLayout rows = swizzledShared({64, 64}, 1, 16), padded = rows;
  std::optional<LinearLayout> layout = sideBySideLayout(rows, 16, /*numLanes=*/64, /*numWarps=*/4);
  ASSERT_TRUE(layout);
  for (unsigned warp = 0; warp < 4; ++warp)
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned reg = 0; reg < 16; ++reg)
        ASSERT_EQ(
            rows.map.out().unpack(rows.map.apply(reg / 8 * 2048 + warp * 512 + lane * 8 + reg % 8)),
            layout->coordinates(reg, lane, warp));
  auto isOf = [&](const LinearLayout &distributed, const SharedLayout &shared) {
    return isSideBySide(planSharedAccess(distributed, shared, 16, memoryOfGfx950()), shared, 16);
  };
  EXPECT_TRUE(isOf(*layout, rows));
  EXPECT_FALSE(isOf(coalescedLayout({64, 64}, {1, 0}, 8, 64, 4), rows)) << "the swizzle";
  EXPECT_FALSE(isOf(coalescedLayout({64, 64}, {1, 0}, 4, 64, 4), rows)) << "8 bytes";
  EXPECT_FALSE(sideBySideLayout(swizzledShared({16, 64}, 1, 16), 16, 64, 4)) << "half the lanes";
  padded.padInterval = 64;
  padded.padAmount = 8;
  EXPECT_FALSE(sideBySideLayout(padded, 16, 64, 4));
  EXPECT_FALSE(isOf(*layout, padded));
}

/// The warps of a block read a buffer by ds_read_b64_tr_b16: of 16 lanes each gives the address of
/// a quarter of a row, and gets the element of its column in each of the four rows; by
/// ds_read_b64_tr_b8 of a half, and of eight rows.
void simulateAcross(const LinearLayout &distributed, const SharedLayout &shared,
                    unsigned elementBits = 16) {
  std::optional<SharedAccess> access = planTransposedAccess(distributed, shared, elementBits);
  ASSERT_TRUE(access);
  const unsigned rows = 64 / elementBits, lanesOfRow = 16 / rows;
  for (int64_t warp = 0; warp < distributed.numWarps(); ++warp) {
    std::set<unsigned> filled;
    for (const SharedAccess::Part &part : access->parts)
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned row = 0; row < rows; ++row) {
          unsigned column = lane % 16, from = lane - column + lanesOfRow * row + column / rows;
          uint64_t piece = access->threadOffset(from, warp) ^ part.offset;
          ASSERT_EQ(piece % rows, 0u);
          unsigned reg = part.registers[row];
          filled.insert(reg);
          ASSERT_EQ(shared.map.out().unpack(shared.map.apply(piece + column % rows)),
                    distributed.coordinates(reg, lane, warp))
              << "register " << reg << ", lane " << lane << ", warp " << warp;
        }
    EXPECT_EQ(filled.size(), size_t(distributed.numRegisters()));
  }
}

TEST(StagedOperand, ReadsAcrossRowsBringEveryRegisterItsElement) {
  SharedMemoryShape memory = memoryOfGfx950(), without = memory;
  without.transposedReads = false;
  for (const char *name : {"mfma.16x16x32.f16.f32", "mfma.32x32x16.f16.f32"})
    for (int64_t n : {64, 128, 256}) {
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(n));
      LinearLayout b = operandOf(name, MatrixOperand::B, {64, n}),
                   alongN = coalescedLayout({64, n}, {1, 0}, 8, 64, 4);
      std::optional<SharedLayout> shared = planTransposedShared(alongN, b, 16, memory);
      ASSERT_TRUE(shared);
      simulateAcross(b, *shared);
      Staging across = planStaging(alongN, b, 16, memory, /*matrixLoads=*/false);
      EXPECT_TRUE(across.shared == *shared);
      EXPECT_LT(across.cost, planStaging(alongN, b, 16, without, false).cost);
      LinearLayout a = operandOf(name, MatrixOperand::A, {n, 64}),
                   alongM = coalescedLayout({n, 64}, {0, 1}, 8, 64, 4);
      shared = planTransposedShared(alongM, a, 16, memory);
      ASSERT_TRUE(shared);
      simulateAcross(a, *shared);
    }
}

// Of either kind of instruction for bytes, whose lanes have 16 of them along k or 32.
TEST(StagedOperand, ReadsAcrossRowsOfBytes) {
  SharedMemoryShape memory = memoryOfGfx950(), without = memory;
  without.transposedReads = false;
  for (const char *name : {"mfma.16x16x128.fp8.f32", "mfma.32x32x64.fp8.f32",
                           "mfma.16x16x64.i8.i32", "mfma.32x32x32.i8.i32"})
    for (int64_t n : {64, 128, 256}) {
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(n));
      LinearLayout b = operandOf(name, MatrixOperand::B, {128, n}),
                   alongN = coalescedLayout({128, n}, {1, 0}, 16, 64, 4),
                   a = operandOf(name, MatrixOperand::A, {n, 128}),
                   alongM = coalescedLayout({n, 128}, {0, 1}, 16, 64, 4);
      std::optional<SharedLayout> shared = planTransposedShared(alongN, b, 8, memory);
      ASSERT_TRUE(shared);
      simulateAcross(b, *shared, 8);
      EXPECT_EQ(planSharedAccess(alongN, *shared, 8, memory).vector, 16u) << "copies' pieces";
      // 64 lanes read 8 bytes each of 64 banks: two turns.
      SharedAccess read = *planTransposedAccess(b, *shared, 8);
      EXPECT_EQ(countWavefronts(read, *shared, 8, memory).wavefronts,
                int64_t(2 * read.parts.size()));
      Staging across = planStaging(alongN, b, 8, memory, /*matrixLoads=*/false);
      EXPECT_TRUE(across.shared == *shared);
      EXPECT_LT(across.cost, planStaging(alongN, b, 8, without, false).cost);
      shared = planTransposedShared(alongM, a, 8, memory);
      ASSERT_TRUE(shared);
      simulateAcross(a, *shared, 8);
    }
}

// A thread that has single elements of rows stores them one by one: words of them, which who reads
// would have to take apart, take longer. Rows along k stay such.
TEST(StagedOperand, RowsThatNoThreadHasAreReadAcross) {
  SharedMemoryShape memory = memoryOfGfx950();
  memory.countsRepackedWords = true;
  LinearLayout b = operandOf("mfma.32x32x16.f16.f32", MatrixOperand::B, {32, 128}),
               single = coalescedLayout({32, 128}, {1, 0}, 1, 64, 8),
               alongK = coalescedLayout({32, 128}, {0, 1}, 8, 64, 8);
  SharedLayout shared = *planTransposedShared(single, b, 16, memory);
  simulateAcross(b, shared);
  SharedAccess store = planSharedAccess(single, shared, 16, memory);
  EXPECT_EQ(store.vector, 1u);
  EXPECT_EQ(store.parts.size(), 32u * 128 / (64 * 8));
  EXPECT_TRUE(planStaging(single, b, 16, memory, /*matrixLoads=*/false).shared == shared);
  EXPECT_FALSE(planStaging(alongK, b, 16, memory, false).shared ==
               *planTransposedShared(alongK, b, 16, memory));
}

TEST(StagedOperand, ReadsAcrossRowsRefuseWhatDoesNotFit) {
  SharedMemoryShape memory = memoryOfGfx950();
  LinearLayout b = operandOf("mfma.16x16x32.f16.f32", MatrixOperand::B, {64, 128}),
               alongN = coalescedLayout({64, 128}, {1, 0}, 8, 64, 4);
  SharedLayout shared = *planTransposedShared(alongN, b, 16, memory), padded = shared;
  padded.padInterval = 64;
  padded.padAmount = 8;
  EXPECT_FALSE(planTransposedAccess(b, padded, 16));
  EXPECT_FALSE(planTransposedAccess(b, shared, 32));
  EXPECT_FALSE(planTransposedAccess(b, swizzledShared({64, 128}, 0, 16), 16)) << "along k";
  EXPECT_FALSE(planTransposedShared(alongN, b, 32, memory));
  EXPECT_FALSE(planTransposedShared(
      alongN, operandOf("mma.m16n8k16.f16.f32", MatrixOperand::B, {64, 128}), 16, memory))
      << "32 lanes";
  LinearLayout result = coalescedLayout({16, 16}, {1, 0}, 1, 64, 4),
               first = fmaOperandLayout(result, MatrixOperand::A, 8);
  EXPECT_FALSE(planTransposedShared(coalescedLayout({16, 8}, {0, 1}, 8, 64, 4), first, 16, memory))
      << "neighbouring lanes read one element";
}

//===----------------------------------------------------------------------===//
// Choosing a buffer
//===----------------------------------------------------------------------===//

TEST(StagedOperand, BuffersFollowTheOrderInMemory) {
  LinearLayout b = operandOf("mma.m16n8k16.f16.f32", MatrixOperand::B, {64, 128}),
               alongN = coalescedLayout({64, 128}, {1, 0}, 8, 32, 4),
               alongK = coalescedLayout({64, 128}, {0, 1}, 8, 32, 4);
  EXPECT_TRUE(planStaging(alongN, b, 16, {}, true).shared == swizzledShared({64, 128}, 1, 16));
  EXPECT_TRUE(planStaging(alongK, b, 16, {}, true).shared == swizzledShared({64, 128}, 0, 16));
  // 32 elements of k for each of 4 matrices: copies cost nothing, loads a wavefront a matrix and
  // an instruction for every four.
  EXPECT_EQ(planStaging(alongN, b, 16, {}, true).cost, 64 * 64 / 64 + 64 * 64 / 64 / 4);
  EXPECT_TRUE(planStaging(alongN, b, 16, {}, false).shared ==
              planSharedExchange(alongN, b, 16, {}).shared);
}

// Each thread loads 8 x 8 elements, along k as memory has them: turned around for reads across rows
// they are stored by threads, which put the words together.
TEST(StagedOperand, WhatThreadsPutTogetherIsNoCopy) {
  SharedMemoryShape memory = memoryOfGfx950();
  memory.countsRepackedWords = true;
  LinearLayout b = operandOf("mfma.32x32x16.f16.f32", MatrixOperand::B, {128, 256}, 2, 4);
  Shape shape{128, 256};
  LinearLayout alongK = blockedLayout(shape, {{8, 8}, {16, 4}, {1, 8}, {0, 1}}),
               alongN = blockedLayout(shape, {{8, 8}, {2, 32}, {8, 1}, {1, 0}});
  SharedLayout asTheyAre = *planTransposedShared(alongN, b, 16, memory),
               turned = *planTransposedShared(alongK, b, 16, memory);
  EXPECT_EQ(repackedWords(alongN, asTheyAre, 16), 0);
  EXPECT_EQ(repackedWords(alongK, turned, 16), 8 * 8 / 2);
  Staging staging = planStaging(alongK, b, 16, memory, /*matrixLoads=*/false);
  EXPECT_TRUE(planStaging(alongN, b, 16, memory, false).shared == asTheyAre);
  EXPECT_FALSE(staging.shared == turned);
  EXPECT_EQ(repackedWords(alongK, staging.shared, 16), 0) << "rows along k";
}

// With warps along n alone, a warp loads whole pieces of what it multiplies: shuffles would do.
TEST(StagedOperand, PiecesOfAWarpsOwnGoThroughABuffer) {
  LinearLayout b = operandOf("mma.m16n8k16.f16.f32", MatrixOperand::B, {32, 256}, 1, 4),
               alongK = coalescedLayout({32, 256}, {0, 1}, 8, 32, 4);
  ASSERT_EQ(classifyConversion(alongK, b), ConversionKind::Shuffle);
  std::optional<Staging> staging = planOperandStaging(alongK, b, 16, {}, /*matrixLoads=*/true);
  ASSERT_TRUE(staging.has_value());
  EXPECT_TRUE(staging->shared == swizzledShared({32, 256}, 0, 16));
  EXPECT_LT(staging->cost + 2 * barrierCost,
            planConversion(alongK, b, 16, {}).shuffle->cost(/*elementBits=*/16));
  EXPECT_FALSE(planOperandStaging(alongK, b, 16, {}, /*matrixLoads=*/false).has_value());
  EXPECT_FALSE(planOperandStaging(b, b, 16, {}, true).has_value()) << "renamed registers";
}

TEST(StagedOperand, UnitsTransposeOnlySixteenBits) {
  LinearLayout alongN = coalescedLayout({64, 128}, {1, 0}, 8, 32, 4),
               alongK = coalescedLayout({64, 128}, {0, 1}, 8, 32, 4);
  Staging transposed = planUnitStaging(alongN, /*axisK=*/0, 16, {});
  EXPECT_TRUE(transposed.shared == swizzledShared({64, 128}, 1, 16));
  EXPECT_EQ(transposed.cost, 0);
  EXPECT_TRUE(planUnitStaging(alongK, 0, 16, {}).shared == swizzledShared({64, 128}, 0, 16));
  // A thread has single elements, and the lanes of a warp are neighbours along N.
  LinearLayout single = coalescedLayout({64, 128}, {1, 0}, 1, 32, 4);
  EXPECT_TRUE(planUnitStaging(single, 0, 16, {}).shared == swizzledShared({64, 128}, 1, 16));
  EXPECT_TRUE(planUnitStaging(single, 1, 16, {}).shared == swizzledShared({64, 128}, 1, 16));
  for (unsigned bits : {8u, 32u}) {
    Staging stored = planUnitStaging(alongN, 0, bits, {});
    EXPECT_TRUE(stored.shared == swizzledShared({64, 128}, 0, bits));
    EXPECT_GT(stored.cost, 0) << "element by element";
  }
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

// PTX ISA, "Matrix Descriptor Format" and "Strides".
TEST(StagedOperand, DescriptorsOfSwizzledRows) {
  struct Case {
    Shape shape;
    unsigned axis, axisK, bits;
    MatrixDescriptor expected;
  };
  const Case cases[] = {
      {{128, 64}, 1, 1, 16, {false, 1, 16, 1024}}, {{128, 128}, 1, 1, 16, {false, 1, 16, 1024}},
      {{64, 32}, 1, 1, 16, {false, 2, 16, 512}},   {{64, 16}, 1, 1, 16, {false, 3, 16, 256}},
      {{64, 128}, 0, 0, 16, {false, 1, 16, 1024}}, {{64, 256}, 1, 0, 16, {true, 1, 8192, 1024}},
      {{32, 32}, 1, 0, 16, {true, 2, 2048, 512}},  {{64, 64}, 0, 1, 16, {true, 1, 8192, 1024}},
      {{64, 128}, 1, 1, 8, {false, 1, 16, 1024}},  {{64, 32}, 1, 1, 8, {false, 3, 16, 256}},
      {{32, 128}, 0, 0, 32, {false, 1, 16, 1024}},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(&c - cases);
    auto found = describeOperand(swizzledShared(c.shape, c.axis, c.bits), c.axisK, c.bits);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->transposed, c.expected.transposed);
    EXPECT_EQ(found->swizzle, c.expected.swizzle);
    EXPECT_EQ(found->leadingBytes, c.expected.leadingBytes);
    EXPECT_EQ(found->strideBytes, c.expected.strideBytes);
  }
}

TEST(StagedOperand, WhatNoDescriptorTells) {
  for (unsigned bits : {8u, 32u})
    EXPECT_FALSE(describeOperand(swizzledShared({64, 64}, 1, bits), 0, bits)) << "transposed";
  EXPECT_FALSE(describeOperand(swizzledShared({64, 8}, 1, 16), 1, 16)) << "rows of 16 bytes";
  EXPECT_FALSE(describeOperand(swizzledShared({2, 64, 64}, 2, 16), 1, 16)) << "batches";
  EXPECT_FALSE(describeOperand(SharedLayout{plainShared({64, 64}, {1, 0})}, 1, 16)) << "no swizzle";
}

//===----------------------------------------------------------------------===//
// One buffer for several readers
//===----------------------------------------------------------------------===//

const OperandReader asItIs{{0, 1}, nullptr, 0}, transposed{{1, 0}, nullptr, 0};

TEST(StagedOperand, OneBufferForUnits) {
  LinearLayout loaded = coalescedLayout({32, 64}, {1, 0}, 8, 32, 4);
  std::optional<Staging> both =
      planCommonStaging(loaded, {asItIs, transposed}, {1, 0}, 16, {}, true);
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->shared == swizzledShared({32, 64}, 1, 16));
  EXPECT_EQ(both->cost, 0);
  EXPECT_FALSE(planCommonStaging(loaded, {asItIs, transposed}, {0}, 16, {}, true))
      << "two buffers are cheaper to fill";
  EXPECT_FALSE(planCommonStaging(coalescedLayout({32, 64}, {1, 0}, 4, 32, 4), {asItIs, transposed},
                                 {1, 0}, 32, {}, true))
      << "32 bits are not transposed";
}

TEST(StagedOperand, OneBufferForMatrixLoads) {
  const char *name = "mma.m16n8k16.f16.f32";
  LinearLayout loaded = coalescedLayout({32, 64}, {1, 0}, 8, 32, 4),
               plain = operandOf(name, MatrixOperand::B, {32, 64}),
               other = operandOf(name, MatrixOperand::B, {64, 32});
  const OperandReader first{{0, 1}, &plain}, second{{1, 0}, &other};
  std::optional<Staging> both = planCommonStaging(loaded, {first, second}, {1, 0}, 16, {}, true);
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->shared == swizzledShared({32, 64}, 1, 16));
  EXPECT_TRUE(planCommonStaging(loaded, {first, transposed}, {1, 0}, 16, {}, true));
  EXPECT_FALSE(planCommonStaging(loaded, {first, second}, {1, 0}, 16, {}, false));
}

} // namespace
