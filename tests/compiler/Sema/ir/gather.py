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
    # CHECK: %[[NUMBERS:.*]] = arith.extui %[[Q]] : tensor<16xi8> to tensor<16xi32>
    # CHECK: tile.histogram %[[NUMBERS]], %{{.*}} : (tensor<16xi32>, tensor<16xi1>) -> tensor<8xi32>
    few = tl.histogram(narrow, 8, mask=i < 5)
    # Of 64 bits those count that the lower half tells whole.
    # CHECK: %[[BOTH:.*]] = arith.andi {{.*}} : tensor<16xi1>
    # CHECK: tile.histogram %{{.*}}, %[[BOTH]] : (tensor<16xi32>, tensor<16xi1>) -> tensor<1024xi32>
    many = tl.histogram(narrow.to(tl.int64), 1024)
    tl.store(p + i, y)
    tl.store(p + tl.arange(0, 8), few)
    tl.store(p + tl.arange(0, 1024), many)
