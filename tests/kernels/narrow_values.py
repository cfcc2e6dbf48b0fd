# What is widened from 8 or 16 bits takes no more instructions than it needs.
# RUN: kiln compile %s -n widened_product -s "*bf16:16, *fp32:16, *fp32:16, 32, 64" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=ONE
# RUN: kiln compile %s -n widened_product -s "*bf16:16, *fp16:16, *fp32:16, 32, 64" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefix=BOTH
# RUN: kiln compile %s -n widened_product -s "*fp32:16, *fp32:16, *fp32:16, 32, 64" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefix=NONE
# RUN: kiln compile %s -n scale_bytes -s "*u8:16, *fp16:16, 1024" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=BYTES
# RUN: kiln compile %s -n scale_bytes -s "*i8:16, *fp16:16, 1024" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefix=SIGNED
# RUN: kiln compile %s -n scale_packed -s "*i32:16, *fp16:16, 128" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=PACKED
#
# 32 x 64 and 64 x 32 elements by two warps along each axis: 32 registers of each operand in a thread. tf32 holds 16-bit floats as they are.
# ONE-COUNT-32: cvt.rn.tf32.f32
# ONE-NOT: cvt.rn.tf32.f32
# BOTH-NOT: cvt.rna.tf32.f32
# NONE-COUNT-64: cvt.rna.tf32.f32
#
# Two neighbouring bytes become two halves at once, without a conversion.
# BYTES-NOT: cvt.rn.f16
# BYTES-COUNT-4: prmt.b32
# BYTES-NOT: cvt.rn.f16
# SIGNED-NOT: cvt.rn.f16
# SIGNED: -2139062144
# SIGNED: prmt.b32
# SIGNED-NOT: cvt.rn.f16
# PACKED-COUNT-2: prmt.b32
# PACKED-NOT: cvt.rn.f16
import triton
import triton.language as tl


@triton.jit
def widened_product(a, b, c, M: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    k = tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :]).to(tl.float32)
    y = tl.load(b + k[:, None] * M + m[None, :]).to(tl.float32)
    tl.store(c + m[:, None] * M + m[None, :], tl.dot(x, y))


@triton.jit
def scale_bytes(p, q, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(q + i, tl.load(p + i).to(tl.float16) * 0.37)


@triton.jit
def scale_packed(p, q, N: tl.constexpr):
    i = tl.arange(0, N)
    words = tl.load(p + i)
    for j in tl.static_range(4):
        tl.store(q + j * N + i, ((words >> (8 * j)) & 255).to(tl.float16) * 0.37)
