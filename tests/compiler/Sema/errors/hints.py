# Common mistakes, and what is said about mending them.
# RUN: for c in broadcast mask pointer carried branches condition loop_condition stop leave index matmul attribute module keyword class_ generator text; do \
# RUN:   not sema-tool %s --kernel $c --sig 'x=*fp32,n=i32,NAME=relu' 2>&1; done | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def broadcast(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:5: error: shapes [16] and [32] do not broadcast together [sema-broadcast]
    # CHECK: hint: extents must be equal, or 1; x[:, None] adds an axis of 1
    tl.arange(0, 16) + tl.arange(0, 32)


@triton.jit
def mask(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:40: error: mask: expected booleans, got int32[16] [sema-invalid-argument]
    # CHECK: hint: a mask is a comparison, such as offsets < n
    tl.load(x + tl.arange(0, 16), mask=tl.arange(0, 16))


@triton.jit
def pointer(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:13: error: tl.load: expected a pointer, got tensor int32 [sema-invalid-argument]
    # CHECK: hint: the signature gives pointers as '*fp32'
    tl.load(n)


@triton.jit
def carried(x, n, NAME: tl.constexpr):
    sum = 0
    # CHECK: :[[@LINE+3]]:9: error: 'sum' changes in the loop from tensor int32 to tensor fp32; its type must stay the same [sema-loop-carried]
    # CHECK: hint: give 'sum' the type of the loop's result before the loop
    for i in range(n):
        sum += tl.load(x + i)
    tl.store(x, sum)


@triton.jit
def branches(x, n, NAME: tl.constexpr):
    if n > 3:
        value = tl.zeros((16,), tl.float32)
    else:
        value = tl.zeros((32,), tl.float32)
    # CHECK: :[[@LINE+2]]:17: error: 'value' has no usable value here: the branches of a conditional on a run-time value bind it to tensor fp32[16] and tensor fp32[32] [sema-unbound-name]
    # CHECK: hint: give 'value' a value of one type on every path
    tl.store(x, value)


@triton.jit
def condition(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:8: error: a condition must be a scalar, got int1[16] [sema-condition]
    # CHECK: hint: choose element by element with tl.where, or reduce the condition first
    if tl.arange(0, 16) < n:
        n = 3


@triton.jit
def loop_condition(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:{{[0-9]+}}: error: a condition must be a scalar, got tensor int1[16] [sema-condition]
    # CHECK: hint: reduce it first
    while tl.arange(0, 16) < n:
        n -= 1


@triton.jit
def stop(x, n, NAME: tl.constexpr):
    for i in range(n):
        if i > 3:
            # CHECK: :[[@LINE+2]]:13: error: 'break' is not supported here [sema-unsupported-syntax]
            # CHECK: hint: put the condition into a 'while' loop
            break


@triton.jit
def leave(x, n, NAME: tl.constexpr):
    for i in range(n):
        # CHECK: :[[@LINE+2]]:9: error: cannot return from inside a loop that runs on the device [sema-return-in-loop]
        # CHECK: hint: keep the value in a name, and return behind the loop
        return


@triton.jit
def index(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:5: error: unsupported tensor index: expected ':' or None, got int 3 [sema-invalid-argument]
    # CHECK: hint: one element is tl.sum(
    tl.arange(0, 16)[3]


@triton.jit
def matmul(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:5: error: '@': invalid operands of types {{.*}}fp16[16, 16] and {{.*}}fp16[16, 16] [sema-operands]
    # CHECK: hint: matrices are multiplied by tl.dot(a, b)
    tl.zeros((16, 16), tl.float16) @ tl.zeros((16, 16), tl.float16)


@triton.jit
def attribute(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:{{[0-9]+}}: error: tensor int32[16] has no attribute 'shpe' [sema-unknown-attribute]
    # CHECK: hint: did you mean 'shape'?
    tl.arange(0, 16).shpe


@triton.jit
def module(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:{{[0-9]+}}: error: module 'triton.language.math' has no attribute 'expp' [sema-unknown-attribute]
    # CHECK: hint: did you mean 'exp'?
    tl.math.expp(n)


@triton.jit
def helper(value, scale):
    return value * scale


@triton.jit
def keyword(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:24: error: helper() has no parameter 'scal' [sema-arguments]
    # CHECK: hint: did you mean 'scale'?
    helper(n, scale=2, scal=3)


@triton.jit
def class_(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+1]]:5: error: a class is not supported here [sema-unsupported-syntax]
    class Inner:
        pass


@triton.jit
def generator(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+1]]:5: error: 'yield' is not supported here [sema-unsupported-syntax]
    yield n


@triton.jit
def text(x, n, NAME: tl.constexpr):
    # CHECK: :[[@LINE+2]]:5: error: 'relu' cannot be called [sema-not-callable]
    # CHECK: hint: a spec gives a function as {"function": "relu"}
    NAME(n)
