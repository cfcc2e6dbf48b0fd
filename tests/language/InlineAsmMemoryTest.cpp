// Inline PTX that accesses memory, orders accesses, or asks where it runs.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

class InlineAsmMemory : public SourceTest {};

TEST_P(InlineAsmMemory, LoadsAndStores) {
  Buffer<int32_t> x(64), y(64);
  for (int i = 0; i < 64; ++i)
    x[size_t(i)] = i * i - 100;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, y):
    i = tl.arange(0, 64)
    v = tl.inline_asm_elementwise("ld.global.b32 $0, [$1];", "=r,l", [x + i], dtype=tl.int32,
                                  is_pure=False, pack=1)
    tl.inline_asm_elementwise("st.global.cs.b32 [$1+0], $2; mov.u32 $0, 0;", "=r,l,r", [y + i, v + 1],
                              dtype=tl.int32, is_pure=False, pack=1)
)",
                      GetParam(), {{"x", "*i32", x}, {"y", "*i32", y}}),
            "");
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], x[i] + 1);
}

TEST_P(InlineAsmMemory, VectorsOffsetsAndGuards) {
  Buffer<int32_t> x(80), y(80);
  for (int i = 0; i < 80; ++i)
    x[size_t(i)] = i;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, y, n):
    i = tl.arange(0, 16)
    a, b, c, d = tl.inline_asm_elementwise("""
        {
            .reg .pred %p0;
            setp.eq.s32 %p0, $5, 1;
            mov.u32 $0, 7; mov.u32 $1, 7; mov.u32 $2, 7; mov.u32 $3, 7;
            @%p0 ld.volatile.global.v4.b32 {$0, $1, $2, $3}, [$4+16];
        }""", "=r,=r,=r,=r,l,r", [x + i * 4, (i < n).to(tl.int32)],
        dtype=(tl.int32, tl.int32, tl.int32, tl.int32), is_pure=False, pack=1)
    tl.inline_asm_elementwise("""
        {
            .reg .pred %p0;
            setp.ne.s32 %p0, $6, 1;
            @%p0 bra end;
            st.relaxed.gpu.global.v4.b32 [$1], {$2, $3, $4, $5};
            end:
        }""", "=r,l,r,r,r,r,r", [y + i * 4, a, b, c, d, (i < 15).to(tl.int32)], dtype=tl.uint32,
        is_pure=False, pack=1)
)",
                      GetParam(), {{"x", "*i32", x}, {"y", "*i32", y}, {"n", "i32", 10}}),
            "");
  for (int i = 0; i < 80; ++i)
    EXPECT_EQ(y[size_t(i)], i >= 60 ? 0 : i < 40 ? i + 4 : 7) << i;
}

TEST_P(InlineAsmMemory, NarrowElements) {
  Buffer<int8_t> x(32);
  Buffer<int32_t> y(64);
  for (int i = 0; i < 32; ++i)
    x[size_t(i)] = int8_t(i * 9 - 128);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, y):
    i = tl.arange(0, 32)
    s = tl.inline_asm_elementwise("ld.global.s8 $0, [$1];", "=r,l", [x + i], dtype=tl.int32,
                                  is_pure=False, pack=1)
    u = tl.inline_asm_elementwise("ld.global.u8 $0, [$1];", "=r,l", [x + i], dtype=tl.int32,
                                  is_pure=False, pack=1)
    tl.store(y + i, s)
    tl.store(y + 32 + i, u)
)",
                      GetParam(), {{"x", "*i8", x}, {"y", "*i32", y}}),
            "");
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(y[i], x[i]);
    EXPECT_EQ(y[32 + i], uint8_t(x[i]));
  }
}

TEST_P(InlineAsmMemory, Atomics) {
  Buffer<int32_t> counters({5, -7, 3, 0x0f, 1, 9, 40, 0}), old(8);
  Buffer<float> sum(1, 1.5f);
  ASSERT_EQ(runSource(R"(
@triton.jit
def one(asm: tl.constexpr, p, v):
    return tl.inline_asm_elementwise(asm, "=r,l,r", [p, v], dtype=tl.int32, is_pure=False, pack=1)

@triton.jit
def kernel(p, old, sum):
    tl.store(old, one("atom.add.release.gpu.global.u32 $0, [$1], $2;", p, 4))
    tl.store(old + 1, one("atom.global.max.s32 $0, [$1], $2;", p + 1, -2))
    tl.store(old + 2, one("atom.acq_rel.sys.global.exch.b32 $0, [$1], $2;", p + 2, 30))
    tl.store(old + 3, one("atom.and.b32 $0, [$1], $2;", p + 3, 0x3c))
    tl.store(old + 4, one("atom.global.acquire.sys.cas.b32 $0, [$1], 1, $2;", p + 4, 77))
    tl.store(old + 5, one("atom.global.cas.b32 $0, [$1], 1, $2;", p + 5, 77))
    one("red.release.gpu.global.add.s32 [$1], $2;", p + 6, -3)
    i = tl.arange(0, 16)
    one("red.global.add.u32 [$1], $2;", p + 7 + i * 0, i)
    tl.inline_asm_elementwise("red.add.f32 [$1], $2;", "=r,l,f", [sum, 0.25], dtype=tl.float32,
                              is_pure=False, pack=1)
)",
                      GetParam(),
                      {{"p", "*i32", counters}, {"old", "*i32", old}, {"sum", "*fp32", sum}}),
            "");
  const int32_t after[] = {9, -2, 30, 0x0c, 77, 9, 37, 120}, before[] = {5, -7, 3, 0x0f, 1, 9};
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(counters[i], after[i]) << i;
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(old[i], before[i]) << i;
  EXPECT_EQ(sum[0], 1.75f);
}

/// Blocks pass a token round: each waits for its own turn, by the loops of symmetric memory's
/// barriers.
TEST_P(InlineAsmMemory, FencesAndSpinLoops) {
  Buffer<int32_t> flags({1, 0, 0, 0, 0}), values(5);
  SourceOptions options;
  options.grid = {4, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(flags, values):
    pid = tl.program_id(0)
    tl.inline_asm_elementwise("""{
            .reg .u32   %tmp32_<1>;
            .reg .pred  %p<1>;
            wait_signal:
                atom.global.sys.acquire.cas.b32 %tmp32_0, [$1], 1, 0;
                setp.eq.u32 %p0, %tmp32_0, 1;
                @!%p0 bra wait_signal;
        }""", "=r,l", [flags + pid], dtype=tl.int32, is_pure=False, pack=1)
    before = tl.load(values + pid, volatile=True)
    tl.store(values + pid + 1, before + pid + 1)
    tl.inline_asm_elementwise("fence.sc.sys; MEMBAR.SC.GPU; fence.acq_rel.gpu;", "=r", [],
                              dtype=tl.int32, is_pure=False, pack=1)
    tl.debug_barrier()
    tl.inline_asm_elementwise("""{
            .reg .u32   %tmp32_<1>;
            .reg .pred  %p<1>;
            send_signal:
                atom.global.release.sys.cas.b32 %tmp32_0, [$1], 0, 1;
                setp.eq.u32 %p0, %tmp32_0, 0;
                @!%p0 bra send_signal;
        }""", "=r,l", [flags + pid + 1], dtype=tl.int32, is_pure=False, pack=1)
)",
                      GetParam(), {{"flags", "*i32", flags}, {"values", "*i32", values}}, {},
                      options),
            "");
  EXPECT_EQ(values[4], 1 + 2 + 3 + 4);
  EXPECT_EQ(flags[4], 1);
}

TEST_P(InlineAsmMemory, SpinLoopOfATensor) {
  Buffer<int32_t> flags(16);
  for (size_t i = 0; i < 16; ++i)
    flags[i] = 1;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(flags):
    i = tl.arange(0, 16)
    tl.inline_asm_elementwise("""{
            .reg .u32 t; .reg .pred p;
            again: ld.acquire.gpu.global.u32 t, [$1]; setp.eq.u32 p, t, 0; @p bra again;
            st.release.gpu.global.u32 [$1], 2; }""", "=r,l", [flags + i], dtype=tl.int32,
            is_pure=False, pack=1)
)",
                      GetParam(), {{"flags", "*i32", flags}}),
            "");
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(flags[i], 2);
}

TEST_P(InlineAsmMemory, SpecialRegisters) {
  Buffer<int32_t> x(8);
  SourceOptions options;
  options.grid = {3, 1, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def read(asm: tl.constexpr):
    return tl.inline_asm_elementwise(asm, "=r", [], dtype=tl.int32, is_pure=False, pack=1)

@triton.jit
def kernel(p):
    if tl.program_id(0) == 2:
        tl.store(p, read("mov.u32 $0, %ctaid.x;"))
        tl.store(p + 1, read("mov.u32 $0, %nctaid.x;"))
        tl.store(p + 2, read("mov.u32 $0, %ntid.x;") // 4)
        tl.store(p + 3, read("mov.u32 $0, %smid;"))
        a = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64,
                                      is_pure=False, pack=1)
        tl.store(p + 4, (a > 0).to(tl.int32))
)",
                      GetParam(), {{"p", "*i32", x}}, {}, options),
            "");
  EXPECT_EQ(x[0], 2);
  EXPECT_EQ(x[1], 3);
  EXPECT_GE(x[2], 1);
  EXPECT_GE(x[3], 0);
  EXPECT_EQ(x[4], 1);
}

TEST_P(InlineAsmMemory, Immediates) {
  Buffer<int32_t> x({0x1234, 0x5678}), y(2);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(x, y, MASK: tl.constexpr, TABLE: tl.constexpr):
    i = tl.arange(0, 2)
    r = tl.inline_asm_elementwise("lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n",
                                  [tl.load(x + i), MASK, 0x64006400, TABLE], dtype=tl.int32,
                                  is_pure=True, pack=1)
    tl.store(y + i, r)
)",
                      GetParam(), {{"x", "*i32", x}, {"y", "*i32", y}},
                      {{"MASK", 0x000f000f}, {"TABLE", (0xf0 & 0xcc) | 0xaa}}),
            "");
  EXPECT_EQ(y[0], 0x64006404);
  EXPECT_EQ(y[1], 0x64006408);
}

std::string errorOf(const std::string &text, const std::string &constraints = "=r,l") {
  Buffer<int32_t> x(16);
  return SourceKernel("@triton.jit\ndef kernel(x):\n    i = tl.arange(0, 16)\n"
                      "    r = tl.inline_asm_elementwise('''" +
                          text + "''', '" + constraints +
                          "', [x + i], dtype=tl.int32, is_pure=False, pack=1)\n"
                          "    tl.store(x + i, r)\n",
                      "cpu", {{"x", "*i32", x}})
      .errors();
}

TEST(InlineAsmMemoryErrors, NameTheInstruction) {
  auto contains = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos && text.find("test.py:") != std::string::npos;
  };
  EXPECT_TRUE(
      contains(errorOf("ld.shared.b32 $0, [$1];"), "instruction 'ld.shared.b32' is not supported"));
  EXPECT_TRUE(contains(errorOf("atom.global.inc.u32 $0, [$1], 3;"), "'atom.global.inc.u32'"));
  EXPECT_TRUE(contains(errorOf("multimem.st.global.b32 [$1], 3;"), "'multimem.st.global.b32'"));
  EXPECT_TRUE(contains(errorOf("mov.u32 $0, %tid.x;"), "'%tid.x' is a thread's"));
  EXPECT_TRUE(contains(errorOf("bra nowhere;"), "'bra' to 'nowhere'"));
  EXPECT_TRUE(
      contains(errorOf("mov.u32 $0, 0; bra in; a: mov.u32 $0, 1; in: mov.u32 $0, 2; bra a;"),
               "'bra' to 'in'"));
  EXPECT_TRUE(
      contains(errorOf("a: mov.u32 $0, 1; bra out; bra a; mov.u32 $0, 2; out: mov.u32 $0, 3;"),
               "'bra' to 'out'"));
  EXPECT_TRUE(contains(errorOf("a: mov.u32 $0, 1; b: mov.u32 $0, 2; bra a; mov.u32 $0, 3; bra b;"),
                       "'bra' between two loops"));
  EXPECT_TRUE(contains(errorOf("mbarrier.init.shared::cta.b64 [$1], 1;"), "'mbarrier.init"));
  EXPECT_TRUE(contains(errorOf("mov.u32 $0, 1;", "=r,n"), "constraint 'n'"));
}

KILN_SOURCE_TESTS(InlineAsmMemory);

} // namespace
} // namespace kiln::testing
