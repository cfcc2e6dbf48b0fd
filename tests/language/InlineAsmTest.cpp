// Inline PTX: packing, the operations and the conversions against PTX's definitions.

#include "tests/language/SourceKernel.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.inline_asm_elementwise");

class InlineAsm : public SourceTest {
protected:
  /// Runs `text` on 16 words; `$0` is the result, `$1` and `$2` the inputs.
  std::vector<uint32_t> runWords(const std::string &text, std::vector<uint32_t> x,
                                 std::vector<uint32_t> y);
};

std::vector<uint32_t> InlineAsm::runWords(const std::string &text, std::vector<uint32_t> first,
                                          std::vector<uint32_t> second) {
  first.resize(16);
  second.resize(16);
  Buffer<uint32_t> x(first), y(second), z(16);
  EXPECT_EQ(runSource("@triton.jit\ndef kernel(x, y, z):\n    i = tl.arange(0, 16)\n"
                      "    r = tl.inline_asm_elementwise('''" +
                          text +
                          "''', '=r,r,r', [tl.load(x + i), tl.load(y + i)], dtype=tl.uint32, "
                          "is_pure=True, pack=1)\n    tl.store(z + i, r)\n",
                      GetParam(), {{"x", "*u32", x}, {"y", "*u32", y}, {"z", "*u32", z}}),
            "");
  return {z.data(), z.data() + 16};
}

uint32_t bits(float value) {
  uint32_t word;
  memcpy(&word, &value, 4);
  return word;
}

TEST_P(InlineAsm, Integers) {
  EXPECT_EQ(runWords("shf.l.wrap.b32 $0, $1, $2, 8;", {0x12345678}, {0x9abcdef0})[0], 0xbcdef012u);
  EXPECT_EQ(runWords("shl.b32 $0, $1, $2;", {1, 1, 3}, {4, 32, 31}),
            (std::vector<uint32_t>{16, 0, 0x80000000u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(runWords("shr.s32 $0, $1, $2;", {0x80000000u, 0x80000000u}, {4, 99})[0], 0xf8000000u);
  EXPECT_EQ(runWords("shr.s32 $0, $1, $2;", {0x80000000u, 0x80000000u}, {4, 99})[1], 0xffffffffu);
  EXPECT_EQ(runWords("lop3.b32 $0, $1, $2, 0xff00ff00, 0xca;", {0xf0f0f0f0}, {0x12345678})[0],
            (0xf0f0f0f0u & 0x12345678u) | (~0xf0f0f0f0u & 0xff00ff00u));
  EXPECT_EQ(runWords("prmt.b32 $0, $1, $2, 0x5140;", {0x04030201}, {0x08070685})[0], 0x06028501u);
  EXPECT_EQ(runWords("prmt.b32 $0, $1, $2, 0xc;", {0}, {0x80})[0] & 0xff, 0xffu);
  EXPECT_EQ(runWords("mad.lo.u32 $0, $1, $2, 7;", {5}, {6})[0], 37u);
  EXPECT_EQ(runWords("mul.hi.u32 $0, $1, $2;", {0xffffffffu}, {0xffffffffu})[0], 0xfffffffeu);
  EXPECT_EQ(runWords("mul.hi.s32 $0, $1, $2;", {0xffffffffu}, {5})[0], 0xffffffffu);
  EXPECT_EQ(runWords("min.s32 $0, $1, $2;", {0xffffffffu}, {5})[0], 0xffffffffu);
}

TEST_P(InlineAsm, PredicatesAndDeclaredRegisters) {
  auto result = runWords("{ .reg .pred p<2>; .reg .b32 t; // scratch\n mov.u32 t, $1;"
                         " setp.lt.s32 p1, $1, $2; @p1 add.s32 t, t, 100; selp.b32 $0, t, 7, p1; }",
                         {1, 5}, {3, 3});
  EXPECT_EQ(result[0], 101u);
  EXPECT_EQ(result[1], 7u);
}

TEST_P(InlineAsm, Floats) {
  auto result =
      runWords("{ .reg .f32 t; ex2.approx.ftz.f32 t, $1; fma.rn.f32 $0, t, $2, 0f3F800000; }",
               {bits(3.0f)}, {bits(2.0f)});
  EXPECT_EQ(result[0], bits(17.0f));
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(runWords("max.f32 $0, $1, $2;", {bits(nan)}, {bits(2.0f)})[0], bits(2.0f));
  uint32_t kept = runWords("max.NaN.f32 $0, $1, $2;", {bits(nan)}, {bits(2.0f)})[0];
  EXPECT_GT(kept & 0x7fffffff, 0x7f800000u);
  EXPECT_EQ(runWords("min.NaN.xorsign.abs.f32 $0, $1, $2;", {bits(-3.0f)}, {bits(2.0f)})[0],
            bits(-2.0f));
  EXPECT_EQ(runWords("mul.bf16x2 $0, $1, $2;", {0x40003f80}, {0x40404000})[0], 0x40c04000u);
  EXPECT_EQ(runWords("add.f16x2 $0, $1, $2;", {0x3c004000}, {0x3c003c00})[0], 0x40004200u);
}

TEST_P(InlineAsm, Conversions) {
  float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(runWords("cvt.rn.bf16x2.f32 $0, $1, $2;", {bits(1.0f)}, {bits(2.0f)})[0], 0x3f804000u);
  EXPECT_EQ(runWords("cvt.rn.f16x2.f32 $0, $1, $2;", {bits(1.0f)}, {bits(2.0f)})[0], 0x3c004000u);
  auto whole = runWords("cvt.rni.s32.f32 $0, $1;",
                        {bits(2.5f), bits(-3.5f), bits(1e20f), bits(-inf), bits(NAN)}, {});
  EXPECT_EQ(std::vector<uint32_t>(whole.begin(), whole.begin() + 5),
            (std::vector<uint32_t>{2, uint32_t(-4), 0x7fffffffu, 0x80000000u, 0}));
  EXPECT_EQ(runWords("{ .reg .b8 t<4>; mov.b32 {t0, t1, t2, t3}, $1; cvt.u32.u8 $0, t2; }",
                     {0x44332211}, {})[0],
            0x33u);
  auto fp8 = runWords("{ .reg .b16 t; cvt.rn.satfinite.e4m3x2.f32 t, $1, $2; cvt.u32.u16 $0, t; }",
                      {bits(1.0f), bits(1e6f)}, {bits(-2.0f), bits(-inf)});
  EXPECT_EQ(fp8[0], 0x38c0u);
  EXPECT_EQ(fp8[1], 0x7efeu);
  // The NaN of PTX has no sign.
  EXPECT_EQ(runWords("{ .reg .b16 t; cvt.rn.satfinite.e5m2x2.f32 t, $1, $2; cvt.u32.u16 $0, t; }",
                     {bits(NAN)}, {bits(-NAN)})[0],
            0x7f7fu);
}

TEST_P(InlineAsm, FourBitFloats) {
  // Ties go to the even code; 7 and NaN to the largest.
  std::vector<uint32_t> x, expected = {0, 0, 2, 2, 3, 4, 4, 4, 6, 6, 7, 7, 7, 15, 8, 10};
  for (float value : {0.f, .25f, .75f, 1.25f, 1.5f, 1.75f, 2.f, 2.5f, 3.5f, 5.f, 5.1f, 1e9f,
                      std::numeric_limits<float>::quiet_NaN(), -7.f, -0.f, -1.f})
    x.push_back(bits(value));
  EXPECT_EQ(
      runWords("{ .reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t, 0f00000000, $1; cvt.u32.u8 $0, t; }",
               x, {}),
      expected);
  std::vector<uint32_t> codes,
      halves = {0x0000, 0x3800, 0x3c00, 0x3e00, 0x4000, 0x4200, 0x4400, 0x4600,
                0x8000, 0xb800, 0xbc00, 0xbe00, 0xc000, 0xc200, 0xc400, 0xc600};
  for (uint32_t code = 0; code < 16; ++code) {
    codes.push_back(code | 0x20);
    halves[code] |= 0x3c000000;
  }
  EXPECT_EQ(runWords("{ .reg .b8 t; cvt.u8.u32 t, $1; cvt.rn.f16x2.e2m1x2 $0, t; }", codes, {}),
            halves);
}

TEST_P(InlineAsm, PacksNarrowElements) {
  Buffer<uint8_t> x(64), y(64);
  for (int i = 0; i < 64; ++i)
    x[size_t(i)] = uint8_t(i * 7);
  ASSERT_EQ(
      runSource(
          "@triton.jit\ndef kernel(x, y):\n    i = tl.arange(0, 64)\n"
          "    r = tl.inline_asm_elementwise('and.b32 $0, $1, 0x1F1F1F1F; shl.b32 $0, $0, 3;', "
          "'=r,r', [tl.load(x + i)], dtype=tl.int8, is_pure=True, pack=4)\n"
          "    tl.store(y + i, r)\n",
          GetParam(), {{"x", "*u8", x}, {"y", "*i8", y}}),
      "");
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(y[size_t(i)], uint8_t(x[size_t(i)] << 3)) << i;
}

TEST_P(InlineAsm, SeveralResultsOfDifferentWidths) {
  // Four bytes become four floats, and four sums of an integer tensor with them.
  Buffer<uint8_t> a(16);
  Buffer<float> b(16), c(16);
  Buffer<int32_t> d(16);
  for (int i = 0; i < 16; ++i) {
    a[size_t(i)] = uint8_t(200 + i);
    b[size_t(i)] = float(i * i) + 100.0f;
  }
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, c, d):
    i = tl.arange(0, 16)
    x, y = tl.inline_asm_elementwise(
        asm="""
        {
            .reg .b8 t<4>;
            mov.b32 {t0, t1, t2, t3}, $8;
            cvt.u32.u8 $0, t0; cvt.u32.u8 $1, t1; cvt.u32.u8 $2, t2; cvt.u32.u8 $3, t3;
        }
        cvt.rn.f32.s32 $4, $0; cvt.rn.f32.s32 $5, $1; cvt.rn.f32.s32 $6, $2; cvt.rn.f32.s32 $7, $3;
        max.f32 $4, $4, $9; max.f32 $5, $5, $10; max.f32 $6, $6, $11; max.f32 $7, $7, $12;
        """,
        constraints="=r,=r,=r,=r,=r,=r,=r,=r,r,r,r,r,r",
        args=[tl.load(a + i), tl.load(b + i)], dtype=(tl.int32, tl.float32), is_pure=True, pack=4)
    tl.store(d + i, x)
    tl.store(c + i, y)
)",
                      GetParam(),
                      {{"a", "*u8", a}, {"b", "*fp32", b}, {"c", "*fp32", c}, {"d", "*i32", d}}),
            "");
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(d[i], int(a[i])) << i;
    EXPECT_EQ(c[i], std::max(float(a[i]), b[i])) << i;
  }
}

TEST_P(InlineAsm, RoundingModes) {
  // 1 + 2^-30 and its negative.
  uint32_t one = bits(1.0f), tiny = bits(0x1p-30f), next = one + 1;
  auto sums = [&](const char *mode) {
    return runWords(std::string("add.") + mode + ".f32 $0, $1, $2;", {one, bits(-1.0f)},
                    {tiny, bits(-0x1p-30f)});
  };
  EXPECT_EQ(sums("rz")[0], one);
  EXPECT_EQ(sums("rp")[0], next);
  EXPECT_EQ(sums("rp")[1], bits(-1.0f));
  EXPECT_EQ(sums("rm")[1], next | 0x80000000u);
  EXPECT_EQ(runWords("div.rp.f32 $0, $1, $2;", {one}, {bits(3.0f)})[0], 0x3eaaaaabu);
  EXPECT_EQ(runWords("div.rm.f32 $0, $1, $2;", {one}, {bits(3.0f)})[0], 0x3eaaaaaau);
  EXPECT_EQ(runWords("cvt.rp.f32.s32 $0, $1;", {0x1000001}, {})[0], bits(0x1000002));
  EXPECT_EQ(runWords("cvt.rz.f32.u32 $0, $1;", {0xffffffffu}, {})[0], 0x4f7fffffu);
  EXPECT_EQ(runWords("cvt.rpi.f32.f32 $0, $1;", {bits(2.25f)}, {})[0], bits(3.0f));
}

TEST_P(InlineAsm, BytesBySelectorsOfRunTime) {
  auto result = runWords("prmt.b32 $0, $1, 0x88776655, $2;", {0x44332211, 0x44332211, 0xff332211},
                         {0x7410, 0x0123, 0xba98});
  EXPECT_EQ(result[0], 0x88552211u);
  EXPECT_EQ(result[1], 0x11223344u);
  EXPECT_EQ(result[2], 0xff000000u); // The signs of bytes 0 to 3.
  EXPECT_EQ(runWords("brev.b32 $0, $1;", {1, 0x80000000u}, {})[0], 0x80000000u);
  EXPECT_EQ(runWords("{ .reg .pred p; setp.ne.f32 p, $1, $2; selp.b32 $0, 1, 0, p; }",
                     {bits(NAN), bits(1.0f)}, {bits(1.0f), bits(2.0f)})[0],
            0u);
}

/// Exponents of scales, up: 1.5 becomes 2.
TEST_P(InlineAsm, Scales) {
  auto result =
      runWords("{ .reg .b16 t; cvt.rp.satfinite.ue8m0x2.f32 t, $1, $2; cvt.u32.u16 $0, t; }",
               {bits(1.0f), bits(1.5f), bits(3e38f), bits(0.0f), bits(NAN)},
               {bits(4.0f), bits(-4.5f), bits(INFINITY), bits(1e-44f), bits(0x1.8p-127f)});
  EXPECT_EQ(std::vector<uint32_t>(result.begin(), result.begin() + 5),
            (std::vector<uint32_t>{0x7f81, 0x8082, 0xfefe, 0x0000, 0xff01}));
}

/// `bra` out of a loop, as loops around a test have it.
TEST_P(InlineAsm, LoopsThatAreLeft) {
  auto result = runWords(R"({ .reg .pred p;
      mov.u32 $0, 0;
      again:
        setp.ge.u32 p, $0, $1;
        @p bra done;
        add.u32 $0, $0, $2;
        bra again;
      done:
        add.u32 $0, $0, 100; })",
                         {3, 0, 10, 5}, {1, 1, 4, 7});
  EXPECT_EQ(result[0], 103u);
  EXPECT_EQ(result[1], 100u);
  EXPECT_EQ(result[2], 112u);
  EXPECT_EQ(result[3], 107u);
}

TEST_P(InlineAsm, BranchesForwardAndBack) {
  // Elements leave at different times.
  auto result = runWords(R"({ .reg .pred p;
      mov.u32 $0, 0;
      setp.eq.u32 p, $1, 0;
      @p bra done;
      again:
        add.u32 $0, $0, $2;
        sub.u32 $1, $1, 1;
        setp.ne.u32 p, $1, 0;
        @p bra again;
      add.u32 $0, $0, 1000;
      done: })",
                         {3, 0, 1, 5}, {10, 10, 7, 2});
  EXPECT_EQ(result[0], 1030u);
  EXPECT_EQ(result[1], 0u);
  EXPECT_EQ(result[2], 1007u);
  EXPECT_EQ(result[3], 1010u);
}

KILN_SOURCE_TESTS(InlineAsm);

} // namespace
} // namespace kiln::testing
