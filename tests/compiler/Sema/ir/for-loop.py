# Names that the body changes are carried; the others are not.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, q=*fp32, n=i32, BLOCK=16, FLAG=False
import triton
import triton.language as tl


@triton.jit
def kernel(p, q, n, BLOCK: tl.constexpr, FLAG: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    pair = (acc, 0)
    other = 1.0
    # CHECK: %[[LOOP:.*]]:4 = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (!tile.ptr<f32>, tensor<16xf32>, tensor<16xf32>, i32)
    for i in range(0, n, BLOCK):
        # CHECK: arith.subi %{{.*}}, %[[I]]
        acc += tl.load(p + offsets, mask=offsets < n - i)
        p += BLOCK
        pair = (acc, pair[1] + i)
        if FLAG:
            other = other + 1.0
        # CHECK: scf.yield
    # CHECK: tile.store
    tl.store(q + offsets, acc + pair[0] + pair[1] + other)

    # num_stages is recorded; a negative step counts up and is turned round.
    # CHECK: scf.for
    # CHECK: %{{.*}} = arith.subi %{{.*}}, %{{.*}} : i32
    # CHECK: } {tile.num_stages = 2 : i32}
    for j in tl.range(n - 1, -1, -1, num_stages=2):
        tl.store(q + j, 0.0)
