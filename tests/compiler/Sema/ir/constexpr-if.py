# A condition known at compile time drops the dead branch before any name in it is looked at.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, bias=None, n=i32, ACT="relu"
import triton
import triton.language as tl


@triton.jit
def kernel(p, bias, n, ACT: tl.constexpr):
    pid = tl.program_id(0)
    if bias is not None:
        value = tl.load(bias + no_such_name)
    elif ACT == "relu":
        value = 1.0
    else:
        value = undefined(p)
    # A compile-time operand that decides ends the evaluation of and/or.
    # CHECK-NOT: scf.if
    if bias is not None and pid == 0:
        value = no_such_function(pid)
    # CHECK: tile.store
    # CHECK: scf.if
    tl.store(p, value)
    if ACT == "relu" and pid == 0:
        tl.store(p + 1, value)
