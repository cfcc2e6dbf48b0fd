# The flags of an older tl.dot.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp16
import triton
import triton.language as tl


@triton.jit
def kernel(p):
    i = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]
    # CHECK: %[[X:.*]] = tile.load
    x = tl.load(p + i)
    # CHECK: %[[T:.*]] = tile.trans %[[X]], [1, 0]
    # CHECK: tile.dot %[[X]], %[[T]], %{{.*}} -> tensor<16x16xf32>
    a = tl.dot(x, x, trans_b=True)
    # CHECK: %[[U:.*]] = tile.trans %[[X]], [1, 0]
    # CHECK: tile.dot %[[U]], %[[X]], %{{.*}} -> tensor<32x32xf32>
    b = tl.dot(x, x, trans_a=True, trans_b=False)
    tl.store(p, tl.sum(a) + tl.sum(b))
