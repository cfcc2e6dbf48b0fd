# RUN: sema-tool %s | FileCheck %s --check-prefixes=CHECK,CUDA
# RUN: sema-tool %s --target=hip:gfx90a | FileCheck %s --check-prefixes=CHECK,HIP
# KERNEL: kernel
# SIG: p=*fp32
import triton
import triton.language as tl


@triton.jit
def kernel(p):
    a = tl.full((16, 32), 1.0, tl.float16)
    b = tl.full((16, 32), 1.0, tl.float16)
    acc = tl.zeros((16, 16), tl.float32)
    # CHECK: tile.trans %{{.*}}, [1, 0] : tensor<16x32xf16> -> tensor<32x16xf16>
    # CHECK: tile.dot %{{.*}} : (tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
    acc = tl.dot(a, b.T, acc)
    # CHECK: tile.dot {{.*}} -> tensor<16x16xf16>
    half = tl.dot(a, tl.trans(b), out_dtype=tl.float16)
    # fp32 operands may be rounded where the target can.
    # CUDA: tile.dot %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : (tensor<16x16xf32>
    # HIP: tile.dot {{.*}} {precision = #tile.precision<ieee>} : (tensor<16x16xf32>
    acc = tl.dot(acc, acc)
    # CHECK: tile.dot {{.*}} {precision = #tile.precision<ieee>}
    acc = tl.dot(acc, acc, allow_tf32=False)
    # One that is known when the kernel runs counts as given.
    # CUDA: tile.dot %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : (tensor<16x16xf32>
    acc = tl.dot(acc, acc, allow_tf32=tl.program_id(0) == 0)
    # CHECK: tile.dot {{.*}} (tensor<16x32xi8>, tensor<32x16xi8>, tensor<16x16xi32>)
    ints = tl.dot(a.to(tl.int8), b.to(tl.int8).T)
    tl.store(p + tl.arange(0, 16)[:, None] + tl.arange(0, 16)[None, :], acc + half + ints)
