# Where a processor holds twice as many blocks for it, a product's operands share memory, one after the other. RDNA 3 would hold the first
# one in twice the registers while it waits for the second.
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32" -t hip:gfx1201 --emit asm | FileCheck %s --check-prefixes CHECK,TURN
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32" -t hip:gfx1100 --emit asm | FileCheck %s --check-prefixes CHECK,BOTH
#
# BOTH: ds_store_b128
# BOTH: ds_store_b128
# TURN: ds_store_b128
# TURN: s_barrier_wait
# TURN: ds_load_b128
# TURN: s_barrier_wait
# TURN: ds_store_b128
# CHECK: v_wmma_f32_16x16x16_f16
# TURN: .amdhsa_group_segment_fixed_size 8192
# BOTH: .amdhsa_group_segment_fixed_size 16384
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, count):
    m = tl.arange(0, 64)
    rows = (m < count)[:, None]
    x = tl.load(a + m[:, None] * 64 + m[None, :], mask=rows, other=0)
    y = tl.load(b + m[:, None] + m[None, :] * 64)
    tl.store(c + m[:, None] * 64 + m[None, :], tl.dot(x, y).to(tl.float16), mask=rows)
