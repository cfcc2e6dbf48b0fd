# Operands, types and shapes that do not fit.
# RUN: not sema-tool %s --kernel operands 2>&1 | FileCheck %s --check-prefix=OPERANDS
# RUN: not sema-tool %s --kernel operand 2>&1 | FileCheck %s --check-prefix=OPERAND1
# RUN: not sema-tool %s --kernel chosen 2>&1 | FileCheck %s --check-prefix=CHOSEN
# RUN: not sema-tool %s --kernel signedness 2>&1 | FileCheck %s --check-prefix=SIGNEDNESS
# RUN: not sema-tool %s --kernel number_range 2>&1 | FileCheck %s --check-prefix=RANGE
# RUN: not sema-tool %s --kernel not_tensor 2>&1 | FileCheck %s --check-prefix=TENSOR
# RUN: not sema-tool %s --kernel broadcast 2>&1 | FileCheck %s --check-prefix=BROADCAST
# RUN: not sema-tool %s --kernel bad_cast 2>&1 | FileCheck %s --check-prefix=CAST
# RUN: not sema-tool %s --kernel shape 2>&1 | FileCheck %s --check-prefix=SHAPE
# RUN: not sema-tool %s --kernel dot_shape 2>&1 | FileCheck %s --check-prefix=DOT
# RUN: not sema-tool %s --kernel not_constant 2>&1 | FileCheck %s --check-prefix=CONSTANT
# RUN: not sema-tool %s --kernel float_only 2>&1 | FileCheck %s --check-prefix=FLOAT
# RUN: not sema-tool %s --kernel argument 2>&1 | FileCheck %s --check-prefix=ARGUMENT
# RUN: not sema-tool %s --kernel too_large 2>&1 | FileCheck %s --check-prefix=LARGE
# RUN: not sema-tool %s --kernel const_store --sig 'p=*kfp32' 2>&1 | FileCheck %s --check-prefix=CONST
# RUN: not sema-tool %s --kernel const_atomic --sig 'p=*i32' 2>&1 | FileCheck %s --check-prefix=ATOMIC
# RUN: not sema-tool %s --kernel unused --sig 'p=*fp32' 2>&1 | FileCheck %s --check-prefix=UNUSED
# SIG: p=*fp16, n=i32, u=u32
import triton
import triton.language as tl


@triton.jit
def operands(p, n, u):
    # OPERANDS: [[@LINE+2]]:9: error: '*': invalid operands of types tensor *fp16 and tensor int32 [sema-operands]
    # OPERANDS-NEXT: x = p * n
    x = p * n


@triton.jit
def operand(p, n, u):
    # OPERAND1: [[@LINE+1]]:9: error: invalid operand of '-': *fp16 [sema-operand]
    x = -p


@triton.jit
def chosen(p, n, u):
    # CHOSEN: [[@LINE+1]]:9: error: 'where': invalid operands of types tensor *fp16 and tensor int32 [sema-operands]
    x = tl.where(n > 0, p, n)


@triton.jit
def signedness(p, n, u):
    # SIGNEDNESS: error: '//' needs operands of one signedness, got int32 and uint32 [sema-signedness]
    # SIGNEDNESS: hint: cast one with .to(...)
    x = n // u


@triton.jit
def number_range(p, n, u):
    # RANGE: error: -1 is out of range for uint32 [sema-number-range]
    x = u + -1


@triton.jit
def not_tensor(p, n, u):
    # TENSOR: error: 'text' cannot become a tensor [sema-not-tensor]
    tl.store(p, "text")


@triton.jit
def broadcast(p, n, u):
    # BROADCAST: error: shapes [8] and [16] do not broadcast together [sema-broadcast]
    x = tl.arange(0, 8) + tl.arange(0, 16)


@triton.jit
def bad_cast(p, n, u):
    # CAST: error: cannot cast int32 (32 bits) to fp16 (16 bits) as the same bits [sema-cast]
    x = n.to(tl.float16, bitcast=True)


@triton.jit
def shape(p, n, u):
    # SHAPE: error: reshape: expected a shape of 16 elements, got [4, 8] [sema-shape]
    x = tl.reshape(tl.arange(0, 16), (4, 8))


@triton.jit
def dot_shape(p, n, u):
    a = tl.zeros((16, 32), tl.float16)
    # DOT: error: tl.dot: expected as many columns on the left as rows on the right, got fp16[16, 32] and fp16[16, 32] [sema-shape]
    x = tl.dot(a, a)


@triton.jit
def not_constant(p, n, u):
    # CONSTANT: error: end must be known at compile time, got tensor int32 [sema-not-constant]
    # CONSTANT: hint: known are tl.constexpr parameters
    x = tl.arange(0, n)


@triton.jit
def float_only(p, n, u):
    # FLOAT: error: 'exp' expects fp32 or fp64, got fp16 [sema-float-only]
    # FLOAT: hint: cast with .to(tl.float32)
    x = tl.exp(tl.load(p))


@triton.jit
def argument(p, n, u):
    # ARGUMENT: error: eviction_policy: expected evict_first or evict_last, got 'evict_never' [sema-invalid-argument]
    x = tl.load(p, eviction_policy="evict_never")


@triton.jit
def too_large(p, n, u):
    # LARGE: [[@LINE+1]]:9: error: a tensor: expected at most 1048576 elements, got [2097152] [sema-shape]
    x = tl.arange(0, 2097152)


@triton.jit
def const_store(p):
    # CONST: [[@LINE+2]]:5: error: cannot write through a pointer to constants (*kfp32[4]) [sema-const-store]
    # CONST: hint: drop the k of the type, or tl.const
    tl.store(p + tl.arange(0, 4), 1.0)


@triton.jit
def const_atomic(p: tl.const):
    # ATOMIC: error: cannot write through a pointer to constants (*kint32) [sema-const-store]
    tl.atomic_add(p, 1)


@triton.jit
def unused(p):
    b = tl.make_block_ptr(p, (8,), (1,), (0,), (4,), (0,))
    # UNUSED: [[@LINE+2]]:5: error: the result of tl.advance is not used [sema-unused-result]
    # UNUSED: hint: it changes nothing in place: p = tl.advance(p, ...)
    tl.advance(b, (4,))
