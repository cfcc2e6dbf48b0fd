# A conditional expression on a run-time value guards the loads inside it.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, i=i32, FLAG=True
import triton
import triton.language as tl


@triton.jit
def kernel(p, i, FLAG: tl.constexpr):
    # CHECK: %[[V:.*]] = scf.if %{{.*}} -> (f32) {
    # CHECK: tile.load
    # CHECK: scf.yield
    # CHECK: } else {
    # CHECK: arith.constant 0.000000e+00 : f32
    v = tl.load(p + i - 1) if i > 0 else 0.0
    # CHECK: tile.arange 0, 8
    offsets = tl.arange(0, 8 if FLAG else missing)
    # CHECK: arith.andi %{{.*}} : i1
    # CHECK: arith.xori
    if (i > 1 and i < 9) or not i == 5:
        tl.store(p + offsets, v)
