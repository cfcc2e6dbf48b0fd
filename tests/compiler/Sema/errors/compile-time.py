# Python that fails while it is evaluated.
# RUN: not sema-tool %s --kernel python 2>&1 | FileCheck %s --check-prefix=PYTHON
# RUN: not sema-tool %s --kernel asserted 2>&1 | FileCheck %s --check-prefix=ASSERT
# RUN: not sema-tool %s --kernel raised 2>&1 | FileCheck %s --check-prefix=RAISED
# RUN: not sema-tool %s --kernel budget 2>&1 | FileCheck %s --check-prefix=BUDGET
# SIG: p=*fp32, BLOCK=24
import triton
import triton.language as tl


@triton.jit
def python(p, BLOCK: tl.constexpr):
    # PYTHON: error: division by zero [sema-python]
    SIZE: tl.constexpr = BLOCK // 0


@triton.jit
def asserted(p, BLOCK: tl.constexpr):
    # ASSERT: error: assertion failed: BLOCK=24 must be a power of two [sema-static-assert]
    tl.static_assert(BLOCK & (BLOCK - 1) == 0, f"BLOCK={BLOCK} must be a power of two")


def choose(block):
    if block > 16:
        raise ValueError(f"too large: {block}")
    return block


@triton.jit
def raised(p, BLOCK: tl.constexpr):
    # RAISED: error: the program raises ValueError: too large: 24 [sema-raised]
    # RAISED: note: in a call of 'choose' from here
    tl.store(p, choose(BLOCK))


def count(n):
    total = 0
    while total < n:
        total += 1
    return total


@triton.jit
def budget(p, BLOCK: tl.constexpr):
    # BUDGET: error: compile-time evaluation takes too many steps (more than 4000000) [sema-budget]
    tl.store(p, count(10**9))
