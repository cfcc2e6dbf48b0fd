# Where a processor holds twice as many blocks for it, a product's operands share memory, one after the other. RDNA 3 would hold the first
# one in twice the registers while it waits for the second; what does not fit side by side is multiplied in parts there.
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32" -t hip:gfx1201 --emit asm | FileCheck %s --check-prefixes CHECK,TURN
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32" -t hip:gfx1100 --emit asm | FileCheck %s --check-prefixes CHECK,BOTH
# RUN: kiln compile %s -n large -s "*fp16:16, *fp16:16, *fp16:16, i32" -t hip:gfx1100 -w 8 -ns 1 --emit tilegpu | FileCheck %s --check-prefix LARGE
#
# LARGE: tilegpu.shared_bytes = 49152
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


@triton.jit
def large(a, b, c, count):
    m = tl.arange(0, 128)
    n = tl.arange(0, 256)
    total = tl.zeros((128, 256), tl.float32)
    for i in range(count):
        x = tl.load(a + m[:, None] * 4096 + i * 128 + m[None, :])
        y = tl.load(b + (i * 128 + m[:, None]) * 256 + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * 256 + n[None, :], total.to(tl.float16))
