# A block pointer becomes pointers and a mask; a loop carries its offsets only.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp16, q=*fp16, M=i32, N=i32, stride=i32
import triton
import triton.language as tl


@triton.jit
def kernel(p, q, M, N, stride):
    block = tl.make_block_ptr(p, shape=(M, N), strides=(stride, 1), offsets=(0, 0),
                              block_shape=(16, 32), order=(1, 0))
    acc = tl.zeros((16, 32), dtype=tl.float32)
    # CHECK: scf.for {{.*}} iter_args({{.*}}) -> (i64, i64, tensor<16x32xf32>)
    for _ in range(0, N, 32):
        # CHECK: tile.arange 0, 16
        # CHECK: arith.extsi {{.*}} tensor<16xi32> to tensor<16xi64>
        # CHECK: arith.cmpi sge, {{.*}} : tensor<32xi64>
        # CHECK: arith.cmpi slt, {{.*}} : tensor<32xi64>
        # CHECK: tile.load %{{.*}} mask %{{.*}} other %{{.*}} : (tensor<16x32x!tile.ptr<f16>>, tensor<16x32xi1>, tensor<16x32xf16>) -> tensor<16x32xf16>
        acc += tl.load(block, boundary_check=(1,), padding_option="zero")
        # CHECK: arith.addi {{.*}} : i64
        block = tl.advance(block, (0, 32))
    out = tl.make_block_ptr(q, (M, N), (stride, 1), (0, 0), (16, 32), (1, 0))
    # CHECK: arith.truncf {{.*}} tensor<16x32xf32> to tensor<16x32xf16>
    # CHECK: tile.store
    tl.store(out, acc, boundary_check=(0, 1))
