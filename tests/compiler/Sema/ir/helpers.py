# Helpers are inlined: tuples, defaults, keywords, constexpr parameters, functions as values.
# RUN: sema-tool %s | FileCheck %s
# RUN: sema-tool %s --locations | FileCheck %s --check-prefix=LOC
# KERNEL: kernel
# SIG: p=*fp32, n=i32, FN=@scale
import triton
import triton.language as tl

FACTOR = tl.constexpr(3.0)
USE_EXP2 = False
power = tl.exp2 if USE_EXP2 else tl.exp


@triton.jit
def scale(x, by: tl.constexpr = 2):
    # LOC: %cst = arith.constant 6.000000e+00 : f32 #[[HERE:loc[0-9]+]]
    # LOC-NEXT: at #[[CALLER:loc[0-9]+]]
    # LOC: #[[HERE]] = {{.*}}helpers.py:[[@LINE+2]]:12
    # LOC: #[[CALLER]] = {{.*}}helpers.py:37:9
    return x * (by * FACTOR)


@triton.jit
def both(x, y=1.0, *, FIRST: tl.constexpr):
    if FIRST:
        return x, y
    else:
        return y, x


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p, n, FN: tl.constexpr):
    x = tl.load(p)
    # CHECK: arith.constant 6.000000e+00
    # CHECK: arith.constant 1.200000e+01
    y = scale(x) + FN(x, by=4)
    a, b = both(x, FIRST=False)
    # CHECK: math.exp %
    tl.store(p, power(a) + b + y)
    # CHECK-NOT: call
