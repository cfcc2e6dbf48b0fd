# RUN: sema-tool %s --kernel halves --sig 'p=*fp16,q=*u8,c=*fp32' | FileCheck %s --check-prefix=HALVES
# RUN: sema-tool %s --kernel brains --sig 'p=*bf16,q=*u8,c=*fp32' | FileCheck %s --check-prefix=BRAINS
# RUN: sema-tool %s --kernel both --sig 'p=*fp16,q=*bf16,c=*fp32' | FileCheck %s --check-prefix=BOTH
# Numbers of 4 and 8 bits become what the other side has.
import triton
import triton.language as tl


@triton.jit
def tile(p, R: tl.constexpr, C: tl.constexpr):
    return tl.load(p + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])


@triton.jit
def halves(p, q, c):
    # Times their scales they are rounded once.
    # HALVES: arith.mulf {{.*}} : tensor<32x16xf32>
    # HALVES: arith.truncf {{.*}} : tensor<32x16xf32> to tensor<32x16xf16>
    # HALVES: tile.dot {{.*}} : (tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>)
    x = tl.dot_scaled(tile(p, 16, 32), None, "fp16", tile(q, 32, 16), tile(q, 16, 1), "e4m3")
    tl.store(c + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], x)


@triton.jit
def brains(p, q, c):
    # BRAINS: tile.dot {{.*}} : (tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>)
    x = tl.dot_scaled(tile(p, 16, 32), None, "bf16", tile(q, 16, 16), tile(q, 16, 1), "e2m1")
    tl.store(c + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], x)


@triton.jit
def both(p, q, c):
    # BOTH: tile.dot {{.*}} : (tensor<16x32xf32>, tensor<32x16xf32>, tensor<16x16xf32>)
    x = tl.dot_scaled(tile(p, 16, 32), None, "fp16", tile(q, 32, 16), None, "bf16")
    tl.store(c + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], x)
