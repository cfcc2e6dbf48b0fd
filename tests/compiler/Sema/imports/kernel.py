# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32
import numpy as np
import triton
import triton.language as tl
import pkg.inner.deep
from pkg import *
from pkg.ops import twice as double

try:
    import no_such_package
    HAVE = True
except ImportError:
    HAVE = False

LIMIT = np.iinfo(np.int32).max  # Never reached.


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p):
    x = tl.load(p)
    # CHECK: arith.constant 2.000000e+00
    # CHECK: arith.constant 7.000000e+00
    # CHECK: arith.constant 5.000000e+00
    x = pkg.inner.deep.add(double(x) + OFFSET)
    if HAVE:
        x = missing(x)
    tl.store(p, x)
