# An early return puts the rest of the function into the other branch.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, n=i32
import triton
import triton.language as tl


@triton.jit
def pick(x, n):
    if n == 0:
        return x
    y = x + 1.0
    if n == 1:
        return y
    return y * 2.0


# CHECK-LABEL: func.func @kernel
# CHECK: scf.if
# CHECK-NEXT: } else {
@triton.jit
def kernel(p, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    # The helper's results come out of nested conditionals.
    # CHECK: %[[V:.*]] = tile.load
    # CHECK: %[[R:.*]] = scf.if %{{.*}} -> (f32) {
    # CHECK-NEXT: scf.yield %[[V]] : f32
    # CHECK: } else {
    # CHECK: %[[INNER:.*]] = scf.if %{{.*}} -> (f32) {
    # CHECK: scf.yield %[[INNER]] : f32
    # CHECK: tile.store %{{.*}}, %[[R]]
    tl.store(p + pid, pick(tl.load(p + pid), n))
    # CHECK: return
    # CHECK-NOT: cf.br
