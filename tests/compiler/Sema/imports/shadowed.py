# A function by its full path, through a package that has a function of the submodule's name.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, F=@pkg.twice.thrice, G=@pkg.twice
import triton
import triton.language as tl


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p, F: tl.constexpr, G: tl.constexpr):
    # CHECK: arith.constant 2.000000e+00
    # CHECK: arith.constant 3.000000e+00
    tl.store(p, F(G(tl.load(p))))
