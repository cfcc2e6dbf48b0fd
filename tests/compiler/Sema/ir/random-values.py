# Known answers: with a constant seed and offset everything folds to Philox's words.
# RUN: sema-tool %s --canonicalize | FileCheck %s
# KERNEL: kernel
# SIG: p=*u32, q=*fp32
import triton
import triton.language as tl


@triton.jit
def kernel(p, q):
    # CHECK-DAG: arith.constant 0.469064027 : f32
    # CHECK-DAG: %[[A:.*]] = arith.constant -1007307387 : i32
    # CHECK-DAG: %[[B:.*]] = arith.constant 1398801794 : i32
    # CHECK-DAG: %[[C:.*]] = arith.constant -739555896 : i32
    # CHECK-DAG: %[[D:.*]] = arith.constant 1501499555 : i32
    a, b, c, d = tl.randint4x(12345678901, 7)
    # CHECK: tile.store %{{.*}}, %[[A]]
    # CHECK: tile.store %{{.*}}, %[[B]]
    # CHECK: tile.store %{{.*}}, %[[C]]
    # CHECK: tile.store %{{.*}}, %[[D]]
    tl.store(p, a)
    tl.store(p + 1, b)
    tl.store(p + 2, c)
    tl.store(p + 3, d)
    tl.store(q, tl.rand(12345678901, 7))
