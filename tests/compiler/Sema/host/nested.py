# A kernel inside a function sees what the function imports and binds. Its arguments have their
# defaults, or what the constants of the build say.
# RUN: sema-tool %s --kernel make.kernel -DWIDTH=3 | FileCheck %s
# RUN: not sema-tool %s --kernel make.kernel 2>&1 | FileCheck %s --check-prefix=ARGUMENT
# RUN: sema-tool %s --kernel KERNEL | FileCheck %s --check-prefix=CALLED
# SIG: p=*fp32


def make(WIDTH, SCALE=2):
    import triton
    import triton.language as tl

    FACTOR = SCALE * WIDTH

    @triton.jit
    def helper(x):
        return x * FACTOR

    # CHECK: arith.constant 6.000000e+00
    # CALLED: arith.constant 1.000000e+01
    # ARGUMENT: error: the value of 'the argument WIDTH of make' is not known at compile time [sema-not-evaluated]
    @triton.jit
    def kernel(p):
        tl.store(p, helper(tl.load(p)))

    return kernel


KERNEL = make(5)
