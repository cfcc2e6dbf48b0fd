# A run-time condition merges the names that its branches bind.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(p, n):
    x = tl.load(p)
    count = 0
    # CHECK: %[[CONDITION:.*]] = arith.cmpi sgt
    # CHECK: %[[R:.*]]:3 = scf.if %[[CONDITION]] -> (f32, i32, f32)
    if n > 4:
        # CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, i32, f32
        x = x * 2.0
        count += 1
        y = x
        only_here = 1
    else:
        # CHECK: else
        # CHECK: scf.yield
        y = 0.0
    # CHECK: tile.store %{{.*}}, %{{.*}} : (!tile.ptr<f32>, f32) -> ()
    tl.store(p, x + y + count)
