# In the loop of attention's backward pass each block of Q and dO is an operand of two products, once transposed: it has one buffer, filled ahead, by
# threads (more than two products in the loop, of 32 rows); the rows' maxima are copied by a few threads, without a branch.
# RUN: kiln compile %s -n backward -s "*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, *fp32:16, *fp32:16, i32, 64, 32" -t cuda:sm_90a -w 4 -ns 5 --emit tilegpu | FileCheck %s
# RUN: kiln compile %s -n backward -s "*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, *fp32:16, *fp32:16, i32, 64, 32" -t cuda:sm_90a -w 4 -ns 5 --emit ptx | FileCheck %s --check-prefix=PTX
# RUN: kiln compile %s -n backward -s "*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, *fp32:16, *fp32:16, i32, 64, 32" -t cuda:sm_80 -w 4 -ns 3 --emit ptx | FileCheck %s --check-prefix=SM80
# RUN: kiln compile %s -n backward -s "*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, *fp32:16, *fp32:16, i32, 128, 32" -t cuda:sm_90a -w 4 -ns 5 --emit tilegpu | FileCheck %s --check-prefix=ROOM
# RUN: kiln compile %s -n backward -s "*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, *fp32:16, *fp32:16, i32, 128, 64" -t cuda:sm_90a -w 8 -ns 2 --emit tilegpu | FileCheck %s --check-prefix=ENGINE
#
# CHECK: scf.for
# CHECK: tilegpu.wait pending 3
# CHECK: tilegpu.barrier
# CHECK-NOT: {{tilegpu\.(barrier|shared_store|proxy_fence|alloc)}}
# CHECK: tilegpu.copy_async
# CHECK-NOT: {{tilegpu\.(barrier|shared_store|proxy_fence|alloc)}}
# CHECK: tilegpu.copy_async
# CHECK-NOT: {{tilegpu\.(barrier|shared_store|proxy_fence|alloc)}}
# CHECK: tilegpu.dot
# CHECK-NOT: {{tilegpu\.(barrier|shared_store|proxy_fence|alloc)}}
# CHECK: tilegpu.dot
# CHECK-NOT: {{tilegpu\.(barrier|shared_store|proxy_fence|alloc)}}
# CHECK: tilegpu.dot
# CHECK-NOT: {{tilegpu\.(barrier|shared_store|proxy_fence|alloc)}}
# CHECK: tilegpu.dot
# CHECK-NOT: {{tilegpu\.(barrier|shared_store|proxy_fence|alloc)}}
# CHECK: scf.yield
#
# The gradients of values run beside the next product, whose wait they share.
# PTX: @{{[a-z%0-9]+}} cp.async.ca.shared.global
# PTX: wgmma.wait_group.sync.aligned 0
# PTX: wgmma.mma_async{{.*}}m64n64k16
# PTX-NOT: wgmma.wait_group
# PTX: wgmma.mma_async{{.*}}m64n32k16
# PTX: wgmma.wait_group.sync.aligned 0
# PTX: wgmma.mma_async{{.*}}m64n64k16
# PTX: wgmma.wait_group.sync.aligned 0
#
# With heads of 128 five stages would take a second block's room.
# ROOM: tilegpu.alloc {{.*}} : <128x32xf16, {{.*}}, slots 3>
# ROOM: tilegpu.alloc {{.*}} : <32x128xf16, {{.*}}, slots 3>
#
# Blocks of 64 rows come by the copy engine.
# ENGINE: tilegpu.tma_load
# ENGINE: tilegpu.tma_load
#
# Both ways of reading rows.
# SM80-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
# SM80-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
import triton
import triton.language as tl


@triton.jit
def backward(k, v, q, do, m, dk, dv, steps, D: tl.constexpr, ROWS: tl.constexpr):
    n = tl.arange(0, 128)[:, None]
    s = tl.arange(0, ROWS)
    d = tl.arange(0, D)
    keys = tl.load(k + n * D + d[None, :])
    values = tl.load(v + n * D + d[None, :])
    sum_k = tl.zeros((128, D), tl.float32)
    sum_v = tl.zeros((128, D), tl.float32)
    at_q = q + d[:, None] + s[None, :] * D
    at_do = do + s[:, None] * D + d[None, :]
    for step in range(steps):
        block_q = tl.load(at_q)
        p = tl.math.exp2(tl.dot(keys, block_q) - tl.load(m + step * ROWS + s)[None, :])
        block_do = tl.load(at_do)
        sum_v += tl.dot(p.to(tl.float16), block_do)
        ds = p * tl.dot(values, tl.trans(block_do))
        sum_k += tl.dot(ds.to(tl.float16), tl.trans(block_q))
        at_q += ROWS * D
        at_do += ROWS * D
    tl.store(dk + n * D + d[None, :], sum_k)
    tl.store(dv + n * D + d[None, :], sum_v)
