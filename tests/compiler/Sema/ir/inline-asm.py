# Inline PTX becomes operations on whole tensors.
# RUN: sema-tool %s --canonicalize | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32
import triton
import triton.language as tl


@triton.jit
def kernel(p):
    i = tl.arange(0, 16)
    # CHECK: %[[X:.*]] = tile.load
    # CHECK: math.tanh %[[X]] fastmath<afn> : tensor<16xf32>
    x = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", args=[tl.load(p + i)], dtype=tl.float32,
                                  is_pure=True, pack=1)
    # CHECK: tile.barrier
    tl.inline_asm_elementwise("bar.sync 0;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(p + i, x)
