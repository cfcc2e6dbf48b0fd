# Unrolled loops: the variable is a constant, which shapes and branches may use.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*i32, FAST=True
import triton
import triton.language as tl


@triton.jit
def kernel(p, FAST: tl.constexpr):
    # CHECK: tile.arange 0, 1 :
    # CHECK: tile.arange 0, 2 :
    # CHECK: tile.arange 0, 4 :
    # CHECK-NOT: scf.for
    for i in tl.static_range(3):
        offsets = tl.arange(0, 2**i)
        tl.store(p + offsets, offsets)
    # CHECK: arith.constant 5 : i32
    # CHECK: arith.constant 3 : i32
    for k in (tl.static_range if FAST else range)(5, 1, -2):
        tl.store(p + k, k)
    # CHECK: return
