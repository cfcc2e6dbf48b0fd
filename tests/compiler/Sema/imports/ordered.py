# Imported modules run once, where they are first imported, and what they change in each other is seen.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32
import triton
import triton.language as tl
from pkg import registry

BEFORE = len(registry.ENTRIES)
import pkg.entries
from pkg.entries import FIRST

AFTER = len(registry.ENTRIES)
registry.LIMIT = 9
import pkg.entries as again


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p):
    # CHECK: arith.constant 2.000000e+00
    tl.store(p, (AFTER - BEFORE) * 1.0)
    # CHECK: arith.constant 3.900000e+01
    tl.store(p + 1, FIRST * 10.0 + registry.LIMIT)
    # CHECK: arith.constant 5.000000e+00
    tl.store(p + 2, again.SEEN * 1.0)
