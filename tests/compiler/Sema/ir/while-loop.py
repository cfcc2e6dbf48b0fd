# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: lock=*i32, n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(lock, n):
    # CHECK: scf.while : () -> () {
    # CHECK: %[[OLD:.*]] = tile.atomic_cas
    # CHECK: %[[C:.*]] = arith.cmpi eq, %[[OLD]]
    # CHECK: scf.condition(%[[C]])
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    i = n
    # CHECK: %[[R:.*]] = scf.while (%[[A:.*]] = %{{.*}}) : (i32) -> i32 {
    # CHECK: scf.condition(%{{.*}}) %[[A]] : i32
    while i > 1:
        i = i // 2
    # CHECK: tile.store %{{.*}}, %[[R]]
    tl.store(lock + 1, i)
    # CHECK: tile.atomic_rmw <xchg>
    tl.atomic_xchg(lock, 0)
