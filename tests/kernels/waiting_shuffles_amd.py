# Rows that run ahead of products as a warp's own would go from lane to lane through shared memory, one word at a time: stored there beside
# the other operand, at its barriers, they are read as the unit wants them.
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, 64, i32" -t hip:gfx1201 --emit asm | FileCheck %s
#
# CHECK-NOT: ds_bpermute_b32
# CHECK: v_wmma_f32_16x16x16_f16
# CHECK-NOT: ds_bpermute_b32
# CHECK: s_endpgm
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, depth, count):
    m = tl.arange(0, 64)
    k = tl.arange(0, 32)
    mask = (m < count)[:, None]
    sum = tl.zeros((64, 64), tl.float32)
    for start in range(0, depth, 32):
        x = tl.load(a + m[:, None] * 128 + start + k[None, :], mask=mask, other=0)
        y = tl.load(b + m[:, None] * 128 + start + k[None, :])
        sum = tl.dot(x, y.T, sum)
    tl.store(c + m[:, None] * 64 + m[None, :], sum.to(tl.float16), mask=mask)
