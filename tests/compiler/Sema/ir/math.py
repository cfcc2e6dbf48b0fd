# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, x=fp32, b=bf16
import triton
import triton.language as tl
from triton.language.extra import libdevice

try:
    from triton.language.libdevice_of_old import tanh
except ImportError:
    from triton.language.extra.cuda.libdevice import tanh


@triton.jit
def kernel(p, x, b):
    # CHECK: arith.maxnumf
    y = tl.maximum(x, 0.0)
    # CHECK: arith.maximumf
    y += tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    # bf16 is compared as fp32.
    # CHECK: arith.extf {{.*}} : bf16 to f32
    # CHECK: arith.minnumf
    y += tl.minimum(b, 1.0)
    # CHECK: arith.negf
    # CHECK: math.exp
    # CHECK: arith.divf {{.*}} fastmath<arcp>
    y += tl.sigmoid(x)
    # CHECK: math.tanh
    # CHECK: math.tanh
    # CHECK: math.tanh
    y += tanh(x) + libdevice.tanh(x) + tl.math.tanh(x)
    # CHECK: arith.divf %{{[0-9]+}}, %{{[0-9a-z]+}} : f32
    y += tl.math.div_rn(y, x)
    # CHECK: arith.select
    y = tl.where(x > 0, y, 0)
    # CHECK: math.absf
    # CHECK: math.rsqrt
    tl.store(p, tl.rsqrt(tl.abs(y)))
