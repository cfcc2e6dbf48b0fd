# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32
import triton
import triton.language as tl


@triton.jit
def kernel(p):
    a = tl.load(p + tl.arange(0, 8))
    # CHECK: %[[JOINED:.*]] = arith.select %{{.*}} : tensor<8x2xi1>, tensor<8x2xf32>
    joined = tl.join(a, a * 2.0)
    # CHECK: %[[FIRST:.*]]:2 = tile.reduce(%[[JOINED]], %{{.*}}) axis 1 : (tensor<8x2xf32>, tensor<8x2xi32>) -> (tensor<8xf32>, tensor<8xi32>)
    # CHECK: arith.cmpi slt
    # CHECK: %[[SECOND:.*]]:2 = tile.reduce(%[[JOINED]]
    # CHECK: arith.cmpi sgt
    first, second = joined.split()
    # CHECK: tile.reshape %{{.*}} : tensor<8x2xf32> -> tensor<16xf32>
    mixed = tl.interleave(first, second)
    # CHECK: tile.trans %{{.*}}, [1, 0] : tensor<16x2xf32> -> tensor<2x16xf32>
    # CHECK: tile.reshape %{{.*}} : tensor<2x16xf32> -> tensor<32xf32>
    both = tl.cat(mixed, mixed, can_reorder=True)
    tl.store(p + tl.arange(0, 32), both)
