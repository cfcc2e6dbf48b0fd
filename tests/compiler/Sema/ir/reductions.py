# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp16, q=*i32, b=*bf16
import triton
import triton.language as tl


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def kernel(p, q, b):
    rows = tl.arange(0, 16)[:, None]
    columns = tl.arange(0, 32)[None, :]
    x = tl.load(p + rows * 32 + columns)
    # sum() keeps halves; max() widens them to fp32.
    # CHECK: tile.reduce({{.*}}) axis 1 : (tensor<16x32xf16>) -> tensor<16xf16>
    # CHECK: arith.addf
    total = tl.sum(x, axis=1)
    # CHECK: arith.extf {{.*}} to tensor<16x32xf32>
    # CHECK: %[[MAX:.*]] = tile.reduce({{.*}}) axis 1 : (tensor<16x32xf32>) -> tensor<16xf32>
    # CHECK: arith.maxnumf
    # CHECK: tile.expand_dims %[[MAX]], 1
    peak = tl.max(x, axis=-1, keep_dims=True)
    # Narrow integers sum in int32.
    # CHECK: arith.extsi {{.*}} tensor<32xi8> to tensor<32xi32>
    # CHECK: tile.reduce({{.*}}) axis 0 : (tensor<32xi32>) -> i32
    small = tl.sum(tl.full((32,), 1, tl.int8))
    # Without an axis, all elements in any order.
    # CHECK: tile.reshape {{.*}} any_order : tensor<16x32xf32> -> tensor<512xf32>
    # CHECK: tile.reduce
    everything = tl.min(x)
    # The left-most of equal ones: two operands.
    # CHECK: %[[ARG:.*]]:2 = tile.reduce({{.*}}, {{.*}}) axis 1 : (tensor<16x32xf16>, tensor<16x32xi32>) -> (tensor<16xf16>, tensor<16xi32>)
    # CHECK: arith.cmpf ogt
    # CHECK: arith.cmpf oeq
    # CHECK: arith.cmpi slt
    index = tl.argmax(x, 1)
    # CHECK: tile.scan({{.*}}) axis 0 reverse
    sums = tl.cumsum(tl.arange(0, 16), 0, reverse=True)
    # CHECK: tile.reduce({{.*}}) axis 0 : (tensor<16xi32>) -> i32
    # CHECK: arith.maxsi
    most = tl.reduce(sums, 0, larger)
    tl.store(q + tl.arange(0, 16), index + most + small)
    tl.store(p + rows * 32 + columns, total[:, None] + peak + everything)
