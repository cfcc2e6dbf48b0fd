# A branch that returns on some of its paths: a flag says whether, and the rest stands under it.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, n=i32, m=i32
import triton
import triton.language as tl


@triton.jit
def kernel(p, n, m):
    x = 1.0
    # CHECK: %[[R:.*]]:2 = scf.if %{{.*}} -> (i1, f32) {
    if n > 0:
        # CHECK: %[[INNER:.*]]:2 = scf.if %{{.*}} -> (i1, f32) {
        # CHECK: arith.constant true
        # CHECK: ub.poison : f32
        # CHECK: arith.constant false
        # CHECK: scf.yield %[[INNER]]#0, %[[INNER]]#1 : i1, f32
        if m > 0:
            return
        x = 2.0
    # CHECK: scf.if %[[R]]#0 {
    # CHECK-NEXT: } else {
    # CHECK: tile.store %{{.*}}, %[[R]]#1
    tl.store(p, x)
