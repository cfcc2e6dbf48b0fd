# Of a package that Kiln knows without reading it, a kernel gets the modules that an -I root has, as code
# that torch.compile writes needs them. What host code does with them is not known.
# RUN: sema-tool %s -I%S/roots | FileCheck %s
# RUN: not sema-tool %s 2>&1 | FileCheck %s --check-prefix=ABSENT
# KERNEL: kernel
# SIG: p=*fp32
import triton
import triton.language as tl
from torch.runtime import heuristics, helpers
from torch.runtime.helpers import libdevice, maximum

helpers.set_driver()


# CHECK-LABEL: func.func @kernel
# ABSENT: error: the value of 'torch.runtime.helpers.maximum()' is not known at compile time [sema-not-evaluated]
@heuristics.pointwise(size_hints={"x": 16}, filename=__file__)
@triton.jit
def kernel(p):
    x = tl.load(p)
    # CHECK: arith.cmpf ogt
    x = maximum(x, 2.0)
    # CHECK: math.tanh
    x = libdevice.tanh(x)
    # CHECK: arith.constant 5.000000e+00
    x = helpers.maximum(x, helpers.if_mask(None, 1) or 5.0)
    tl.store(p, helpers.if_mask(x > 0, x))
