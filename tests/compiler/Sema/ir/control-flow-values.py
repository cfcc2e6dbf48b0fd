# Known answers: with constant arguments the conditionals of nested early returns fold away.
# RUN: sema-tool %s --canonicalize | FileCheck %s
# KERNEL: kernel
# SIG: p=*i32
import triton
import triton.language as tl


@triton.jit
def classify(x, y):
    if x > 10:
        if y > 10:
            return 1
        x = x + y
    elif x == 5:
        return 2
    else:
        y = y * 2
        if y > 6:
            if x > 0:
                return 3
            y = y - 1
    return x * 100 + y


@triton.jit
def unrolled(x):
    for i in tl.static_range(4):
        if x == i:
            return i * 7
        x = x + 2
    return x


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p):
    big = 11
    small = 4
    five = 5
    minus = 0 - big
    # CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
    # CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
    # CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i32
    # CHECK-DAG: %[[FALLS:.*]] = arith.constant 1504 : i32
    # CHECK-DAG: %[[LESS:.*]] = arith.constant -1093 : i32
    # CHECK-DAG: %[[SEVEN:.*]] = arith.constant 21 : i32
    # CHECK-DAG: %[[END:.*]] = arith.constant 13 : i32
    # CHECK: tile.store %{{.*}}, %[[ONE]]
    tl.store(p, classify(big, big))
    # CHECK: tile.store %{{.*}}, %[[FALLS]]
    tl.store(p + 1, classify(big, small))
    # CHECK: tile.store %{{.*}}, %[[TWO]]
    tl.store(p + 2, classify(five, big))
    # CHECK: tile.store %{{.*}}, %[[THREE]]
    tl.store(p + 3, classify(small, small))
    # CHECK: tile.store %{{.*}}, %[[LESS]]
    tl.store(p + 4, classify(minus, small))
    # CHECK: tile.store %{{.*}}, %[[SEVEN]]
    tl.store(p + 5, unrolled(0 - five + 2))
    # CHECK: tile.store %{{.*}}, %[[END]]
    tl.store(p + 6, unrolled(five))
