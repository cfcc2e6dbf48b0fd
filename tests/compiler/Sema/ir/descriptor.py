# Tensor descriptors become pointers and masks, checked along every axis.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp16, M=i32, N=i32
import triton
import triton.language as tl


@triton.jit
def wrap(x, shape, strides, block: tl.constexpr):
    if isinstance(x, tl.tensor_descriptor):
        return x
    return tl.make_tensor_descriptor(x, shape, strides, block)


@triton.jit
def kernel(p, M, N):
    desc = wrap(p, [M, N], [N, 1], [16, 32])
    desc = wrap(desc, [M, N], [N, 1], [16, 32])
    # CHECK: scf.for %[[I:[a-z0-9]+]] =
    for i in range(0, N, 32):
        # CHECK: arith.extsi %[[I]] : i32 to i64
        # CHECK: arith.cmpi slt, {{.*}} : tensor<16xi64>
        # CHECK: arith.cmpi slt, {{.*}} : tensor<32xi64>
        # CHECK: arith.constant 0.000000e+00 : f16
        # CHECK: tile.load %{{.*}} mask %{{.*}} other %{{.*}} -> tensor<16x32xf16>
        x = desc.load([0, i])
        # CHECK: tile.store %{{.*}}, %{{.*}} mask
        desc.store([0, i], x + 1)
    # CHECK: tile.load
    tl.store(p, tl.sum(tl.load_tensor_descriptor(desc, [0, 0])))
