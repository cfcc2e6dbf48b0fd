// Matrix instructions: fragments against the formulas of the ISA documents, written out one by one,
// and products of small integers, which are exact in every type.

#include "runtime/emulator/Fragments.h"
#include "tests/runtime/emulator/EmulatedBlock.h"
#include <cmath>
#include <cstring>

using namespace kiln::emulator;
using namespace kiln::emulator::testing;

namespace {

SITE(site, "mma", 20);

kiln_emu_matrix shape(uint32_t family, uint32_t m, uint32_t n, uint32_t k, uint32_t operand,
                      uint32_t accumulator) {
  return {family, m, n, k, operand, operand, accumulator, 0};
}

struct Formula {
  kiln_emu_matrix matrix;
  Place (*a)(uint32_t lane, uint32_t i);
  Place (*b)(uint32_t lane, uint32_t i);
  Place (*c)(uint32_t lane, uint32_t i);
};

Place mmaC(uint32_t lane, uint32_t i) {
  return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)};
}

const Formula formulas[] = {
    // PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" (.f16, .bf16).
    {shape(KILN_EMU_MMA_SYNC, 16, 8, 16, KILN_EMU_F16, KILN_EMU_F32),
     [](uint32_t lane, uint32_t i) -> Place {
       bool isLow = i < 2 || (i >= 4 && i < 6);
       return {isLow ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8)};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8), lane / 4};
     },
     mmaC},
    // "Matrix Fragments for mma.m16n8k8", .f16 and .bf16.
    {shape(KILN_EMU_MMA_SYNC, 16, 8, 8, KILN_EMU_BF16, KILN_EMU_F32),
     [](uint32_t lane, uint32_t i) -> Place {
       return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane % 4 * 2 + i, lane / 4};
     },
     mmaC},
    // "Matrix Fragments for mma.m16n8k8", .tf32.
    {shape(KILN_EMU_MMA_SYNC, 16, 8, 8, KILN_EMU_TF32, KILN_EMU_F32),
     [](uint32_t lane, uint32_t i) -> Place {
       return {i == 0 || i == 2 ? lane / 4 : lane / 4 + 8, i < 2 ? lane % 4 : lane % 4 + 4};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {i == 0 ? lane % 4 : lane % 4 + 4, lane / 4};
     },
     mmaC},
    // "Matrix Fragments for mma.m16n8k32" (.s8, .e4m3).
    {shape(KILN_EMU_MMA_SYNC, 16, 8, 32, KILN_EMU_S8, KILN_EMU_S32),
     [](uint32_t lane, uint32_t i) -> Place {
       bool isLow = i < 4 || (i >= 8 && i < 12);
       return {isLow ? lane / 4 : lane / 4 + 8, lane % 4 * 4 + (i & 3) + (i < 8 ? 0 : 16)};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane % 4 * 4 + (i & 3) + (i < 4 ? 0 : 16), lane / 4};
     },
     mmaC},
    // "Matrix Fragments for mma.m8n8k4 with .f64".
    {shape(KILN_EMU_MMA_SYNC, 8, 8, 4, KILN_EMU_F64, KILN_EMU_F64),
     [](uint32_t lane, uint32_t) -> Place {
       return {lane >> 2, lane % 4};
     },
     [](uint32_t lane, uint32_t) -> Place {
       return {lane % 4, lane >> 2};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane >> 2, lane % 4 * 2 + i};
     }},
    // AMD matrix instruction calculator, v_mfma_f32_32x32x8_f16: A[i][k] is in lane i + 32 (k / 4),
    // element k % 4; D[i][j] in lane j + 32 (i / 4 % 2), register i % 4 + 4 (i / 8).
    {shape(KILN_EMU_MFMA, 32, 32, 8, KILN_EMU_F16, KILN_EMU_F32),
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane & 31, lane / 32 * 4 + i};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane / 32 * 4 + i, lane & 31};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {i / 4 * 8 + lane / 32 * 4 + i % 4, lane & 31};
     }},
    // v_mfma_f32_16x16x16_f16: D[i][j] in lane j + 16 (i / 4), register i % 4.
    {shape(KILN_EMU_MFMA, 16, 16, 16, KILN_EMU_BF16, KILN_EMU_F32),
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane & 15, lane / 16 * 4 + i};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane / 16 * 4 + i, lane & 15};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane / 16 * 4 + i, lane & 15};
     }},
    // v_mfma_i32_16x16x32_i8: eight elements of k in each lane.
    {shape(KILN_EMU_MFMA, 16, 16, 32, KILN_EMU_S8, KILN_EMU_S32),
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane & 15, lane / 16 * 8 + i};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane / 16 * 8 + i, lane & 15};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane / 16 * 4 + i, lane & 15};
     }},
    // v_mfma_f32_32x32x2_f32.
    {shape(KILN_EMU_MFMA, 32, 32, 2, KILN_EMU_F32, KILN_EMU_F32),
     [](uint32_t lane, uint32_t) -> Place {
       return {lane & 31, lane / 32};
     },
     [](uint32_t lane, uint32_t) -> Place {
       return {lane / 32, lane & 31};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {i / 4 * 8 + lane / 32 * 4 + i % 4, lane & 31};
     }},
    // RDNA3 ISA, "Wave Matrix Multiply Accumulate": A's row is lane % 16 with all of k, twice; D's
    // row is 2 i + lane / 16.
    {shape(KILN_EMU_WMMA_GFX11, 16, 16, 16, KILN_EMU_F16, KILN_EMU_F32),
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane % 16, i};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {i, lane % 16};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {2 * i + lane / 16, lane % 16};
     }},
    // RDNA4 ISA: the halves of the wave hold the halves of k, and of D's rows.
    {shape(KILN_EMU_WMMA_GFX12, 16, 16, 16, KILN_EMU_BF16, KILN_EMU_F32),
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane % 16, lane / 16 * 8 + i};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane / 16 * 8 + i, lane % 16};
     },
     [](uint32_t lane, uint32_t i) -> Place {
       return {lane / 16 * 8 + i, lane % 16};
     }},
};

/// The bits of a small integer in a type; 0 to 3 and -1 are exact in all.
uint64_t encoded(uint32_t type, int value) {
  double wide = value;
  float single = float(value);
  uint64_t bits = 0;
  switch (type) {
  case KILN_EMU_F64:
    std::memcpy(&bits, &wide, 8);
    return bits;
  case KILN_EMU_F32:
  case KILN_EMU_TF32:
    std::memcpy(&bits, &single, 4);
    return bits;
  case KILN_EMU_BF16:
    std::memcpy(&bits, &single, 4);
    return bits >> 16;
  case KILN_EMU_F16: {
    const uint16_t halves[] = {0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    return halves[value + 1];
  }
  case KILN_EMU_E4M3: {
    const uint8_t bytes[] = {0xb8, 0, 0x38, 0x40, 0x44};
    return bytes[value + 1];
  }
  case KILN_EMU_E5M2: {
    const uint8_t bytes[] = {0xbc, 0, 0x3c, 0x40, 0x42};
    return bytes[value + 1];
  }
  case KILN_EMU_E4M3FNUZ: {
    const uint8_t bytes[] = {0xc0, 0, 0x40, 0x48, 0x4c};
    return bytes[value + 1];
  }
  case KILN_EMU_E5M2FNUZ: {
    const uint8_t bytes[] = {0xc0, 0, 0x40, 0x44, 0x46};
    return bytes[value + 1];
  }
  default:
    return uint32_t(value);
  }
}

double decoded(uint32_t type, const unsigned char *bytes) {
  float single;
  double wide;
  int32_t word;
  uint16_t half;
  switch (type) {
  case KILN_EMU_F64:
    std::memcpy(&wide, bytes, 8);
    return wide;
  case KILN_EMU_S32:
    std::memcpy(&word, bytes, 4);
    return word;
  case KILN_EMU_F16:
    std::memcpy(&half, bytes, 2);
    return (half & 0x8000 ? -1 : 1) *
           (half & 0x7fff ? std::ldexp(1024 + (half & 1023), (half >> 10 & 31) - 25) : 0);
  default:
    std::memcpy(&single, bytes, 4);
    return single;
  }
}

int valueA(uint32_t row, uint32_t k) { return int((row * 7 + k * 3) % 5) - 1; }
int valueB(uint32_t k, uint32_t column) { return int((k * 5 + column * 11 + 2) % 5) - 1; }

/// Multiplies in one warp, with operands laid out by the functions under test.
void multiplies(const kiln_emu_matrix &matrix) {
  EmulatedBlock block;
  block.threads = block.warpSize = matrix.family == KILN_EMU_MFMA ? 64 : 32;
  uint32_t bytesC = bitsOf(matrix.c) / 8;
  auto reports = block.run([&](kiln_emu_thread *t) {
    alignas(16) unsigned char a[256], b[256], c[256], d[256];
    for (uint32_t e = 0; e < elementsOfA(matrix); ++e) {
      Place place = placeOfA(matrix, t->thread, e);
      uint64_t bits = encoded(matrix.a, valueA(place.row, place.column));
      std::memcpy(a + e * bitsOf(matrix.a) / 8, &bits, bitsOf(matrix.a) / 8);
    }
    for (uint32_t e = 0; e < elementsOfB(matrix); ++e) {
      Place place = placeOfB(matrix, t->thread, e);
      uint64_t bits = encoded(matrix.b, valueB(place.row, place.column));
      std::memcpy(b + e * bitsOf(matrix.b) / 8, &bits, bitsOf(matrix.b) / 8);
    }
    for (uint32_t e = 0; e < elementsOfC(matrix); ++e) {
      uint64_t bits = encoded(matrix.c, int(e % 3));
      std::memcpy(c + e * bytesC, &bits, bytesC);
    }
    kiln_emu_multiply(t, &site, &matrix, a, b, c, d);
    for (uint32_t e = 0; e < elementsOfC(matrix); ++e) {
      Place place = placeOfC(matrix, t->thread, e);
      int expected = int(e % 3);
      for (uint32_t k = 0; k < matrix.k; ++k)
        expected += valueA(place.row, k) * valueB(k, place.column);
      EXPECT_EQ(decoded(matrix.c, d + e * bytesC), expected)
          << matrix.family << " " << matrix.m << "x" << matrix.n << "x" << matrix.k << " type "
          << matrix.a << ": " << place.row << ", " << place.column;
    }
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
}

TEST(Matrix, FragmentsAreThoseOfTheDocuments) {
  for (const Formula &formula : formulas) {
    const kiln_emu_matrix &m = formula.matrix;
    ASSERT_TRUE(isDescribed(m));
    for (uint32_t lane = 0; lane < (m.family == KILN_EMU_MFMA ? 64 : 32); ++lane) {
      for (uint32_t e = 0; e < elementsOfA(m); ++e)
        EXPECT_EQ(placeOfA(m, lane, e), formula.a(lane, e)) << m.k << " " << lane << " " << e;
      for (uint32_t e = 0; e < elementsOfB(m); ++e)
        EXPECT_EQ(placeOfB(m, lane, e), formula.b(lane, e)) << m.k << " " << lane << " " << e;
      for (uint32_t e = 0; e < elementsOfC(m); ++e)
        EXPECT_EQ(placeOfC(m, lane, e), formula.c(lane, e)) << m.k << " " << lane << " " << e;
    }
  }
}

TEST(Matrix, ProductsOfEveryTypeAreExact) {
  for (const Formula &formula : formulas)
    multiplies(formula.matrix);
  multiplies(shape(KILN_EMU_MMA_SYNC, 16, 8, 16, KILN_EMU_F16, KILN_EMU_F16));
  for (uint32_t type : {KILN_EMU_E4M3, KILN_EMU_E5M2})
    multiplies(shape(KILN_EMU_MMA_SYNC, 16, 8, 32, type, KILN_EMU_F32));
  for (uint32_t type : {KILN_EMU_E4M3FNUZ, KILN_EMU_E5M2FNUZ}) {
    multiplies(shape(KILN_EMU_MFMA, 32, 32, 16, type, KILN_EMU_F32));
    multiplies(shape(KILN_EMU_MFMA, 16, 16, 32, type, KILN_EMU_F32));
  }
  multiplies(shape(KILN_EMU_MFMA, 16, 16, 4, KILN_EMU_F32, KILN_EMU_F32));
  multiplies(shape(KILN_EMU_MFMA, 16, 16, 4, KILN_EMU_F64, KILN_EMU_F64));
  multiplies(shape(KILN_EMU_MFMA, 32, 32, 16, KILN_EMU_S8, KILN_EMU_S32));
  multiplies(shape(KILN_EMU_WMMA_GFX11, 16, 16, 16, KILN_EMU_S8, KILN_EMU_S32));
  multiplies(shape(KILN_EMU_WMMA_GFX12, 16, 16, 16, KILN_EMU_E4M3, KILN_EMU_F32));
}

/// composable_kernel, test/mx_mfma_op: each row of A and column of B has a scale for every 32
/// elements along k, in the lanes that follow one another in groups of m.
void multipliesScaled(uint32_t m, uint32_t k, uint32_t type) {
  kiln_emu_matrix matrix = shape(KILN_EMU_MFMA_SCALED, m, m, k, type, KILN_EMU_F32);
  ASSERT_TRUE(isDescribed(matrix));
  auto scaleA = [](uint32_t row, uint32_t group) { return 127 + row % 3 + group; };
  auto scaleB = [](uint32_t column, uint32_t group) { return 125 + column % 4 - group; };
  EmulatedBlock block;
  block.threads = block.warpSize = 64;
  auto reports = block.run([&](kiln_emu_thread *t) {
    uint32_t lane = t->thread, bits = bitsOf(type);
    alignas(16) unsigned char a[32] = {}, b[32] = {};
    float c[16], d[16];
    for (uint32_t e = 0; e < 32; ++e) {
      uint32_t from = bits == 4 ? 32 * (lane / m) + e : e / 16 * (k / 2) + 16 * (lane / m) + e % 16;
      Place inA = placeOfA(matrix, lane, e), inB = placeOfB(matrix, lane, e);
      EXPECT_EQ(inA, (Place{lane % m, from}));
      EXPECT_EQ(inB, (Place{from, lane % m}));
      const uint8_t nibbles[] = {10, 0, 2, 4, 5}; // -1 to 3
      auto code = [&](int value) {
        return bits == 4 ? nibbles[value + 1] : uint8_t(encoded(type, value));
      };
      a[e * bits / 8] |= uint8_t(code(valueA(inA.row, inA.column)) << (e * bits % 8));
      b[e * bits / 8] |= uint8_t(code(valueB(inB.row, inB.column)) << (e * bits % 8));
    }
    for (uint32_t e = 0; e < m * m / 64; ++e)
      c[e] = float(e);
    kiln_emu_multiply_scaled(t, &site, &matrix, a, b, c, d, scaleA(lane % m, lane / m),
                             scaleB(lane % m, lane / m));
    for (uint32_t e = 0; e < m * m / 64; ++e) {
      Place place = placeOfC(matrix, lane, e);
      double expected = e;
      for (uint32_t i = 0; i < k; ++i)
        expected += std::ldexp(valueA(place.row, i) * valueB(i, place.column),
                               int(scaleA(place.row, i / 32) + scaleB(place.column, i / 32)) - 254);
      EXPECT_EQ(d[e], expected) << m << " type " << type << ": " << place.row << ", "
                                << place.column;
    }
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
}

TEST(Matrix, ScalesAreForThirtyTwoNeighbours) {
  for (uint32_t type : {KILN_EMU_E4M3, KILN_EMU_E5M2, KILN_EMU_E2M1}) {
    multipliesScaled(16, 128, type);
    multipliesScaled(32, 64, type);
  }
}

TEST(Matrix, TF32LooksAtTenBitsOfMantissa) {
  EmulatedBlock block;
  kiln_emu_matrix matrix = shape(KILN_EMU_MMA_SYNC, 16, 8, 8, KILN_EMU_TF32, KILN_EMU_F32);
  auto reports = block.run([&](kiln_emu_thread *t) {
    // 1 + 2^-11 in every element of A: the instruction sees 1.
    uint32_t a[4], b[2], d[4];
    std::fill(a, a + 4, 0x3f801000u);
    std::fill(b, b + 2, 0x3f800000u);
    const float c[4] = {};
    kiln_emu_multiply(t, &site, &matrix, a, b, c, d);
    for (unsigned e = 0; e < 4; ++e)
      EXPECT_EQ(d[e], 0x41000000u); // 8
  });
  EXPECT_TRUE(reports.empty());
}

// PTX ISA, "ldmatrix": lane 8 i + r gives row r of matrix i; lane l receives elements 2 (l % 4) and
// 2 (l % 4) + 1 of row l / 4, or with .trans rows 2 (l % 4) and 2 (l % 4) + 1 of column l / 4.
TEST(Matrix, LdmatrixAndStmatrixDealRowsOut) {
  for (uint32_t transposed : {0, 1}) {
    EmulatedBlock block;
    block.sharedBytes = 2048;
    auto reports = block.run([&](kiln_emu_thread *t) {
      uint32_t lane = t->thread;
      uint16_t row[8];
      for (unsigned e = 0; e < 8; ++e)
        row[e] = uint16_t(lane * 8 + e);
      kiln_emu_store(t, &site, KILN_EMU_SHARED, t->shared + lane * 16, row, 16, 16, 1);
      kiln_emu_barrier(t, &site, 0, 0);
      uint32_t words[4];
      kiln_emu_ldmatrix(t, &site, t->shared + lane * 16, 4, transposed, words);
      for (uint32_t i = 0; i < 4; ++i)
        for (uint32_t e = 0; e < 2; ++e) {
          uint32_t from = transposed ? lane % 4 * 2 + e : lane / 4;
          uint32_t column = transposed ? lane / 4 : lane % 4 * 2 + e;
          EXPECT_EQ(words[i] >> (16 * e) & 0xffff, (8 * i + from) * 8 + column);
        }
      kiln_emu_stmatrix(t, &site, t->shared + 1024 + lane * 16, 4, transposed, words);
      kiln_emu_barrier(t, &site, 0, 0);
      EXPECT_EQ(std::memcmp(t->shared + lane * 16, t->shared + 1024 + lane * 16, 16), 0);
    });
    EXPECT_TRUE(reports.empty()) << reports[0];
  }
}

} // namespace
