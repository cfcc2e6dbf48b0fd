# A module that computes its names when they are asked for: nothing is known of them.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32
import triton
import triton.language as tl
from pkg.computed import setting

# Only this binds the name, so the setting must be true.
if setting.enabled:
    FACTOR = tl.constexpr(11.0)


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p):
    # CHECK: arith.constant 1.100000e+01
    tl.store(p, tl.load(p) * FACTOR)
