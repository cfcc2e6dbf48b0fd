# Methods and functions of Python's values, with what they do not take.
# RUN: not sema-tool %s --kernel methods 2>&1 | FileCheck %s
# RUN: not sema-tool %s --kernel limits 2>&1 | FileCheck %s --check-prefix=LIMITS
# SIG: p=*fp32
import math
import torch
import triton
import triton.language as tl


@triton.jit
def methods(p):
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: ljust() got arguments that it does not take [sema-arguments]
    tl.store(p, len('a'.ljust(5, '')))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: strip() got arguments that it does not take
    tl.store(p, len('a'.strip(1)))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: empty separator [sema-python]
    tl.store(p, len('a'.split('')))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: count() got arguments that it does not take
    tl.store(p, (1, 2).count())
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: get() got arguments that it does not take
    tl.store(p, {1: 2}.get())
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: lower() got arguments that it does not take
    tl.store(p, len('a'.lower(x=1)))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: {{.*}}frozenset{{.*}} has no attribute 'add'
    tl.store(p, len(frozenset((1,)).add(2)))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: '*': invalid operands of types
    tl.store(p, len('abcdefgh' * 2**125))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: a sequence is too large [sema-python]
    tl.store(p, len(('a' * 1000000).replace('a', 'b' * 1000)))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: a sequence is too large
    tl.store(p, len(('b' * 1000000).join(['x' for _ in range(100)])))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: format() meets fields in a field's specification, twice
    tl.store(p, len('{:{:{}}}'.format(1, 2, 3)))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: cannot convert nan to an integer
    tl.store(p, len('%d' % float('nan')))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: cannot convert inf to an integer
    tl.store(p, round(float('inf')))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: the digits of round(): expected an integer, got 'x'
    tl.store(p, round(1.5, 'x'))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: the base of int(): expected 0 or 2 to 36, got 99
    tl.store(p, int('5', 99))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: the base of math.log must be known at compile time
    tl.store(p, math.log(8, tl.load(p)))
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: the power is a complex number
    tl.store(p, (-5) ** 0.5)
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: the power is too large, or of zero
    tl.store(p, 10.0 ** 400)
    # CHECK: [[@LINE+1]]:{{[0-9]+}}: error: an operand of 'in' must be known at compile time
    tl.store(p, tl.load(p) in (1, 2))


@triton.jit
def limits(p):
    # LIMITS: [[@LINE+1]]:{{[0-9]+}}: error: dtype: expected a float type, got int32
    tl.store(p, torch.finfo(tl.int32).max)
    # LIMITS: [[@LINE+1]]:{{[0-9]+}}: error: dtype: expected an integer type, got fp16
    tl.store(p, torch.iinfo(tl.float16).max)
