# What fails in a decorator leaves a kernel's function as it stands, for its callers, too.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32
import math

import triton
import triton.language as tl


def registered(**options):
    def register(function):
        return math.nothing(function, options)

    return register


@registered(promotes=True)
@triton.jit
def doubled(x):
    return x * 2.0


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p):
    # CHECK: arith.constant 2.000000e+00
    # CHECK: arith.mulf
    tl.store(p, doubled(tl.load(p)))
