# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp16
import triton
import triton.language as tl


@triton.jit
def kernel(p):
    # CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<8xf16>
    x = tl.load(p + tl.arange(0, 8))
    # Places that differ in the last bit first, then in the last but one, and so on.
    # CHECK: %[[ONE:.*]] = tile.reshape %[[X]] : tensor<8xf16> -> tensor<4x2x1xf16>
    # CHECK: %[[BITS:.*]] = tile.bitcast %[[ONE]] : tensor<4x2x1xf16> -> tensor<4x2x1xi16>
    # CHECK: tile.reduce(%[[BITS]]) axis 1
    # CHECK: arith.xori
    # CHECK: %[[OTHER:.*]] = tile.bitcast {{.*}} : tensor<4x2x1xi16> -> tensor<4x2x1xf16>
    # CHECK: arith.cmpf ogt, %[[ONE]], %[[OTHER]] : tensor<4x2x1xf16>
    # CHECK: arith.select {{.*}}, %[[OTHER]], %[[ONE]]
    # CHECK: tile.reshape {{.*}} -> tensor<2x2x2xf16>
    # CHECK: tile.reshape {{.*}} -> tensor<4x2x1xf16>
    # CHECK: tile.reshape {{.*}} -> tensor<1x2x4xf16>
    # CHECK: tile.reshape {{.*}} -> tensor<2x2x2xf16>
    # CHECK: tile.reshape {{.*}} -> tensor<4x2x1xf16>
    # CHECK: %[[SORTED:.*]] = tile.reshape {{.*}} : tensor<4x2x1xf16> -> tensor<8xf16>
    y = tl.sort(x)
    # Narrow floats become fp32 where elements are dropped, as in Triton.
    # CHECK: tile.reduce({{.*}}) axis 1 : (tensor<2x2x2xf32>) -> tensor<2x2xf32>
    # CHECK: arith.maxnumf
    # CHECK: tile.reshape {{.*}} -> tensor<2xf32>
    best = tl.topk(y, 2)
    # CHECK: tile.reshape {{.*}} : tensor<2xf32> -> tensor<1x2x1xf32>
    reversed = tl.flip(best)
    # CHECK: tile.store
    tl.store(p + tl.arange(0, 2), reversed)
