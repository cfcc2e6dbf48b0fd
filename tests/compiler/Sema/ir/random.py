# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, seed=i32
import triton
import triton.language as tl


@triton.jit
def kernel(p, seed):
    # The key is the seed's two halves; ten rounds of two wide products each.
    # CHECK: %[[SEED:.*]] = arith.extsi %{{.*}} : i32 to i64
    # CHECK: arith.trunci %{{.*}} : i64 to i32
    # CHECK: arith.shrui %[[SEED]]
    # CHECK-COUNT-20: arith.mului_extended {{.*}} tensor<8xi32>
    # CHECK: arith.cmpi slt, %{{.*}} : tensor<8xi32>
    # CHECK: arith.sitofp %{{.*}} : tensor<8xi32> to tensor<8xf32>
    offsets = tl.arange(0, 8)
    u = tl.rand(seed, offsets)
    # CHECK: math.log
    # CHECK: math.sqrt
    # CHECK: math.cos
    n = tl.randn(seed, offsets, n_rounds=2)
    tl.store(p + offsets, u + n)
