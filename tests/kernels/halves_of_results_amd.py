# Results that become f16 are written to halves of registers, so that nothing puts pairs together.
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16" -t hip:gfx1100 --emit asm | FileCheck %s
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16" -t hip:gfx1201 --emit asm | FileCheck %s
# Without products LLVM's own choice is kept.
# RUN: kiln compile %s -n narrow -s "*fp32:16, *fp16:16" -t hip:gfx1201 --emit asm | FileCheck %s --check-prefix WHOLE
#
# CHECK: v_wmma_f32_16x16x16_f16
# CHECK-NOT: v_pack_b32_f16
# CHECK-DAG: v_cvt_f16_f32_e32 v{{[0-9]+}}.l
# CHECK-DAG: v_cvt_f16_f32_e32 v{{[0-9]+}}.h
# CHECK-NOT: v_pack_b32_f16
# CHECK: s_endpgm
# WHOLE-NOT: v_cvt_f16_f32_e32 v{{[0-9]+}}.
# WHOLE: v_cvt_f16_f32_e32 v{{[0-9]+}}, v
import triton
import triton.language as tl


@triton.jit
def product(a, b, c):
    m = tl.arange(0, 64)
    x = tl.load(a + m[:, None] * 64 + m[None, :])
    y = tl.load(b + m[None, :] * 64 + m[:, None])
    tl.store(c + m[:, None] * 64 + m[None, :], tl.dot(x, y).to(tl.float16))


@triton.jit
def narrow(singles, halves):
    i = tl.arange(0, 512)
    tl.store(halves + i, tl.load(singles + i).to(tl.float16))
