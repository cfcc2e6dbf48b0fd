# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp16, q=*u8
import triton
import triton.language as tl


@triton.jit
def kernel(p, q):
    i = tl.arange(0, 16)
    x = tl.load(p + i)
    # CHECK: %[[Q:.*]] = tile.load {{.*}} -> tensor<16xi8>
    narrow = tl.load(q + i)
    # Indices below 32 bits are widened by their own sign.
    # CHECK: %[[INDEX:.*]] = arith.extui %[[Q]] : tensor<16xi8> to tensor<16xi32>
    # CHECK: tile.gather %{{.*}}, %[[INDEX]] axis 0 : (tensor<16xf16>, tensor<16xi32>) -> tensor<16xf16>
    y = tl.gather(x, narrow, axis=-1)
    # CHECK: arith.cmpi eq, {{.*}} : tensor<16x8x
    # CHECK: arith.andi {{.*}} : tensor<16x8xi1>
    # CHECK: tile.reduce({{.*}}) axis 0 : (tensor<16x8xi32>) -> tensor<8xi32>
    few = tl.histogram(narrow, 8, mask=i < 5)
    # Many comparisons are made part by part.
    # CHECK: scf.for {{.*}} -> (tensor<1024xi32>)
    # CHECK: tile.gather {{.*}} : (tensor<16xi8>, tensor<8xi32>) -> tensor<8xi8>
    # CHECK: tile.reduce({{.*}}) axis 0 : (tensor<8x1024xi32>) -> tensor<1024xi32>
    many = tl.histogram(narrow, 1024)
    tl.store(p + i, y)
    tl.store(p + tl.arange(0, 8), few)
    tl.store(p + tl.arange(0, 1024), many)
