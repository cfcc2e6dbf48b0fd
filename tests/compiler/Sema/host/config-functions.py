# A config's function is named as the kernel's module names it: by its own name, by another one that it
# is imported under, or with its module.
# RUN: sema-tool %s --autotune | FileCheck %s
# RUN: sema-tool %s --all-configs --quiet | FileCheck %s --check-prefix=ALL
# RUN: not sema-tool %s --kernel nameless --autotune 2>&1 | FileCheck %s --check-prefix=NAMELESS
# KERNEL: kernel
# SIG: p=*fp32
import triton
import triton.language as tl
import imports.pkg.inner.deep as deep
from imports.pkg.ops import twice as double


@triton.jit
def half(x):
    return x / 2


# `exp` of this module is not tl.exp.
@triton.jit
def exp(x):
    return x


def made():

    def inner(x):
        return x

    return inner


# CHECK: config: F=half
# CHECK-NEXT: config: F=deep.add
# CHECK-NEXT: config: F=double
# CHECK-NEXT: config: F=exp
# CHECK-NEXT: config: F=tl.exp
# ALL: 5 configs built
FUNCTIONS = (half, deep.add, double, exp, tl.exp)


@triton.autotune(configs=[triton.Config({"F": f}) for f in FUNCTIONS], key=[])
@triton.jit
def kernel(p, F: tl.constexpr):
    tl.store(p, F(tl.load(p)))


# NAMELESS: error: a config's function: expected one that the kernel's module has a name for, got 'inner' [sema-invalid-argument]
@triton.autotune(configs=[triton.Config({"F": made()})], key=[])
@triton.jit
def nameless(p, F: tl.constexpr):
    tl.store(p, F(tl.load(p)))
