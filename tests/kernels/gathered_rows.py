# Rows' numbers are loaded by the threads that load the rows, and by those that store them: not exchanged.
# RUN: kiln compile %s -n rows -s "*fp16:16, *i32:16, *fp16:16, *fp16:16, i32:16, i32" -t cuda:sm_90a --emit tilegpu | FileCheck %s
#
# CHECK: func.func @rows
# CHECK-COUNT-2: tile.load {{.*}} -> tensor<64xi32,
# CHECK-NOT: convert_layout {{.*}} tensor<64x1xi
# CHECK: return

import triton
import triton.language as tl


@triton.jit
def rows(a, index, b, c, K, limit):
    i = tl.load(index + tl.program_id(0) * 64 + tl.arange(0, 64))
    exists = i < limit
    k = tl.arange(0, 64)
    j = tl.arange(0, 128)
    sum = tl.zeros((64, 128), tl.float32)
    for s in range(0, K, 64):
        x = tl.load(a + i[:, None] * K + s + k[None, :], mask=exists[:, None], other=0.0)
        y = tl.load(b + (s + k)[:, None] * 128 + j[None, :])
        sum = tl.dot(x, y, sum)
    tl.store(c + i[:, None] * 128 + j[None, :], sum.to(tl.float16), mask=exists[:, None])
