# Control flow that cannot be compiled.
# RUN: not sema-tool %s --kernel return_in_loop 2>&1 | FileCheck %s --check-prefix=RETURN
# RUN: not sema-tool %s --kernel carried 2>&1 | FileCheck %s --check-prefix=CARRIED
# RUN: not sema-tool %s --kernel condition 2>&1 | FileCheck %s --check-prefix=CONDITION
# RUN: not sema-tool %s --kernel branch_types 2>&1 | FileCheck %s --check-prefix=BRANCH
# RUN: not sema-tool %s --kernel return_types 2>&1 | FileCheck %s --check-prefix=TYPES
# RUN: not sema-tool %s --kernel bound 2>&1 | FileCheck %s --check-prefix=BOUND
# RUN: not sema-tool %s --kernel syntax 2>&1 | FileCheck %s --check-prefix=SYNTAX
# RUN: not sema-tool %s --kernel merged 2>&1 | FileCheck %s --check-prefix=MERGED
# SIG: p=*fp32, n=i32
import triton
import triton.language as tl


@triton.jit
def return_in_loop(p, n):
    for i in range(n):
        # RETURN: [[@LINE+1]]:9: error: cannot return from inside a loop that runs on the device [sema-return-in-loop]
        return


@triton.jit
def carried(p, n):
    total = 0
    # CARRIED: [[@LINE+2]]:9: error: 'total' changes in the loop from tensor int32 to tensor fp32; its type must stay the same [sema-loop-carried]
    for i in range(n):
        total += tl.load(p + i)


@triton.jit
def condition(p, n):
    # CONDITION: error: a condition must be a scalar, got int1[8] [sema-condition]
    if tl.arange(0, 8) < n:
        tl.store(p, 1.0)


@triton.jit
def branch_types(p, n):
    # BRANCH: error: ternary expression with dynamic condition has inconsistent types in its branches: tensor fp32 and tensor int32 [sema-branch-types]
    x = tl.load(p) if n > 0 else n


@triton.jit
def different(n):
    if n > 0:
        return n
    return n * 0.5


@triton.jit
def return_types(p, n):
    # TYPES: error: return type mismatch: 'different' returns {{.*}} [sema-return-types]
    x = different(n)


@triton.jit
def bound(p, n):
    # BOUND: error: a loop bound must be an integer scalar, got float 4.5 [sema-loop-bound]
    for i in range(0, 4.5):
        pass


@triton.jit
def syntax(p, n):
    for i in range(n):
        # SYNTAX: error: 'break' is not supported here [sema-unsupported-syntax]
        break


@triton.jit
def merged(p, n):
    if n > 0:
        x = 1.0
    else:
        x = tl.zeros((8,), tl.float32)
    # MERGED: error: 'x' has no usable value here: the branches {{.*}} bind it to tensor fp32 and tensor fp32[8]
    tl.store(p, x)
