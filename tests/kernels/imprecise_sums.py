# A loop over k of 8-bit floats on Hopper's unit: sums of so many products, from zero, are added to the whole in f32. Without
# a limit the unit goes on with the whole sum, a product in flight.
# RUN: kiln compile %s -n product -s "*fp8e4nv:16, *fp8e4nv:16, *fp32:16, i32:16, 64" -t cuda:sm_90a --emit tilegpu | FileCheck %s --check-prefix=CUT
# RUN: kiln compile %s -n product -s "*fp8e4nv:16, *fp8e4nv:16, *fp32:16, i32:16, 64" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=PTX
# RUN: kiln compile %s -n product -s "*fp8e4nv:16, *fp8e4nv:16, *fp32:16, i32:16, None" -t cuda:sm_90a --emit tilegpu | FileCheck %s --check-prefix=WHOLE
#
# CUT: tilegpu.dot %{{.*}} {sum_depth = 64 : i32}
# CUT-NOT: tilegpu.dot async
# WHOLE: tilegpu.dot async
# WHOLE-NOT: sum_depth
# PTX-COUNT-2: wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3
# PTX: wgmma.wait_group.sync.aligned 0
# PTX: add.f32
# PTX-COUNT-2: wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3
# PTX: wgmma.wait_group.sync.aligned 0
# PTX: add.f32
# PTX-NOT: wgmma.mma_async

import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, K, MOST: tl.constexpr):
    rows = tl.arange(0, 64)
    k = tl.arange(0, 128)
    a_ptrs = a_ptr + rows[:, None] * K + k[None, :]
    b_ptrs = b_ptr + k[:, None] + rows[None, :] * K
    c = tl.zeros((64, 64), tl.float32)
    for step in range(0, tl.cdiv(K, 128)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - step * 128, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - step * 128, other=0.0)
        c = tl.dot(a, b, c, max_num_imprecise_acc=MOST)
        a_ptrs += 128
        b_ptrs += 128
    tl.store(c_ptr + rows[:, None] * 64 + rows[None, :], c)
