# A plain assignment makes a tensor; an annotated one stays a constant.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*i64, BLOCK=8
import triton
import triton.language as tl


@triton.jit
def kernel(p, BLOCK: tl.constexpr):
    # CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
    x = 0
    # CHECK: arith.extsi %[[ZERO]] : i32 to i64
    x = x.to(tl.int64)
    SIZE: tl.constexpr = BLOCK * 2
    # CHECK: tile.arange 0, 16
    offsets = tl.arange(0, SIZE)
    # A parameter is an ordinary variable.
    p += offsets
    a, (b, c) = x, (x + 1, 2)
    # CHECK: tile.store
    tl.store(p, a + b + c)
