# One run reports every independent mistake of a kernel once, and nothing that only follows from
# another one.
# RUN: for k in statements branches loops loop_values functions endings objects; do \
# RUN:   not sema-tool %s --kernel $k 2>&1; done | FileCheck %s --implicit-check-not=error:
# RUN: for k in wrong_types; do not sema-tool %s --kernel $k --sig 'p=*fp32,q=*fp32,nn=i32,B=i32,C=3' 2>&1; done \
# RUN:   | FileCheck %s --implicit-check-not=error: --check-prefix=PARAM
# SIG: p=*fp32, q=*fp32, n=i32, B=16
import triton
import triton.language as tl


@triton.jit
def statements(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:51: error: name 'BB' is not defined [sema-unknown-name]
    # Everything that needs the offsets or the mask is silent.
    offsets = tl.program_id(0) * B + tl.arange(0, BB)
    mask = offsets < n
    x = tl.load(p + offsets, mask=mask)
    columns = tl.arange(0, B)
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}has no parameter 'maks' [sema-arguments]
    y = tl.load(q + columns, maks=columns < n)
    z = x + y
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: shapes [16] and [32] do not broadcast together [sema-broadcast]
    w = columns + tl.arange(0, 2 * B)
    tl.store(p + offsets, z + w, mask=mask)
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: value: expected {{.*}} [sema-shape]
    tl.store(q + columns, columns[:, None])


@triton.jit
def branches(p, q, n, B: tl.constexpr):
    x = tl.load(p)
    if n > 3:
        # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: tensor fp32 has no attribute 'too' [sema-unknown-attribute]
        x = x.too(tl.float16)
        # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'one' is not defined [sema-unknown-name]
        y = one
    else:
        # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'two' is not defined [sema-unknown-name]
        y = two
        z = 3
    tl.store(p, x + y)
    # CHECK: :[[@LINE+1]]:8: error: a condition must be a scalar, got int1[16] [sema-condition]
    if tl.arange(0, B) < n:
        # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'three' is not defined [sema-unknown-name]
        tl.store(p, three)
    # Whether it is a compile-time condition is unknown, so its branches are left alone.
    # CHECK: :[[@LINE+1]]:8: error: name 'four_is_unknown' is not defined [sema-unknown-name]
    if four_is_unknown(n):
        z = five
    tl.store(p, z)


@triton.jit
def loops(p, q, n, B: tl.constexpr):
    total = 0.0
    count = 0
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'BLOCK' is not defined [sema-unknown-name]
    for k in range(0, tl.cdiv(n, BLOCK)):
        # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'stride' is not defined [sema-unknown-name]
        x = tl.load(p + k * stride)
        total += x
        count += 1
    tl.store(p, total)
    tl.store(q, count)
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: a loop bound must be an integer scalar, got fp32 [sema-loop-bound]
    for k in range(0, n / 2):
        # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'mask' is not defined [sema-unknown-name]
        tl.store(p, 1.0, mask=mask)
    # Each round of an unrolled loop makes the same mistake.
    for k in tl.static_range(4):
        # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: index 2 is out of range for 2 elements [sema-python]
        tl.store(p + k, (1, 2)[k + 2])


@triton.jit
def loop_values(p, q, n, B: tl.constexpr):
    a = 0
    b = 0
    c = 0
    while n > 0:
        # CHECK: :[[@LINE+1]]:9: error: 'a' changes in the loop from tensor int32 to tensor fp32; its type must stay the same [sema-loop-carried]
        a += tl.load(p)
        # CHECK: :[[@LINE+1]]:9: error: 'b' changes in the loop from tensor int32 to tensor int32[16]; its type must stay the same [sema-loop-carried]
        b += tl.arange(0, B)
        c += 1
        n -= 1
    # After the error, the type of 'b' is not known.
    tl.store(p, b)
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: tensor int32 has no attribute 'foo' [sema-unknown-attribute]
    tl.store(p, c.foo)


@triton.jit
def own_mistake(x):
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'scale' is not defined [sema-unknown-name]
    y = x * scale
    # CHECK-NEXT: scale
    # CHECK-NEXT: ^
    # CHECK-NEXT: note: in a call of 'own_mistake' from here
    return x


@triton.jit
def returns_unknown(x, n):
    if n > 0:
        # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'bias' is not defined [sema-unknown-name]
        return x + bias
    return x


@triton.jit
def returns_either(x, n):
    if n > 0:
        return x
    else:
        # CHECK: :[[@LINE+1]]:9: error: return type mismatch: 'returns_either' returns {{.*}} [sema-return-types]
        return (x, x)


@triton.jit
def elementwise(x):
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: 'exp' expects fp32 or fp64, got int32[16] [sema-float-only]
    return tl.exp(x)


@triton.jit
def functions(p, q, n, B: tl.constexpr):
    x = tl.load(p)
    # The function's mistake is one, however often it is called; its result is known.
    x = own_mistake(x) + own_mistake(x) + own_mistake(x)
    y = returns_unknown(x, n)
    z = y + 1
    w = returns_either(x, n)
    w = w + 1
    v = elementwise(tl.arange(0, B))
    v = v + 1
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: tensor fp32 has no attribute 'bar' [sema-unknown-attribute]
    tl.store(p, x.bar)


@triton.jit
def asserting(x, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: assertion failed: B is too small [sema-static-assert]
    tl.static_assert(B > 64, "B is too small")
    # What was asserted does not hold, so the rest of the function is not to be trusted.
    return undefined


@triton.jit
def endings(p, q, n, B: tl.constexpr):
    x = asserting(tl.load(p), B)
    y = x + 1
    for i in range(n):
        if i > 3:
            # CHECK: :[[@LINE+1]]:13: error: 'break' is not supported here [sema-unsupported-syntax]
            break
    for i in range(n):
        # CHECK: :[[@LINE+1]]:9: error: cannot return from inside a loop that runs on the device [sema-return-in-loop]
        return
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'end' is not defined [sema-unknown-name]
    tl.store(p, end)


@triton.jit
def objects(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'missing' is not defined [sema-unknown-name]
    a, (b, c) = tl.load(p), missing
    tl.store(p, a + b + c)
    # A question about an unknown value has no answer, so neither branch is taken.
    if hasattr(a, "dtype"):
        d = 1
    tl.store(p, d)

    def inner(x):
        return x + a

    tl.store(p, inner(1))
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: error: name 'last' is not defined [sema-unknown-name]
    tl.store(p, last)


# 'nn' is what was meant to be 'n', so that 'n' has no value is no mistake of its own.
# PARAM: :[[@LINE+6]]:1: error: 'nn' is not a parameter of 'wrong_types' [sema-unknown-argument]
# PARAM: hint: did you mean 'n'?
# PARAM: :[[@LINE+4]]:1: error: 'C' is not a parameter of 'wrong_types' [sema-unknown-argument]
# PARAM: :[[@LINE+3]]:26: error: parameter 'B' is a tl.constexpr and needs a value, got the type i32 [sema-constexpr-argument]
# PARAM: :[[@LINE+2]]:43: error: no value for parameter 'length' of 'wrong_types' [sema-missing-argument]
@triton.jit
def wrong_types(p, q, n, B: tl.constexpr, length):
    # PARAM: :[[@LINE+1]]:{{[0-9]+}}: error: name 'x' is not defined [sema-unknown-name]
    tl.store(q, x)
    tl.store(p, n + B)
