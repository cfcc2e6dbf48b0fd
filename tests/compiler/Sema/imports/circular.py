# A module asks its package for a literal: the package, which would import the module half done, need not run for it.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32
import triton
import triton.language as tl

import family.device
from family.operations import scaled


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p):
    # CHECK: arith.constant 5.000000e+00
    # CHECK: arith.mulf
    tl.store(p, scaled(tl.load(p)))
