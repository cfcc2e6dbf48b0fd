"""Kernels whose counts are derived by hand; CountsTest.cpp knows these lines by their numbers."""

import triton
import triton.language as tl


@triton.jit
def tripled(x):
    return x * 3.0


@triton.jit
def elementwise_kernel(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    a = v * 2.0 - 1.0
    b = tl.where(a > v, tripled(a), v)
    c = b.to(tl.float16)
    d = tl.exp2(c.to(tl.float32))
    tl.store(o + i, tripled(d))


@triton.jit
def strided_kernel(x, o, stride, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i * stride)
    tl.store(o + i, v)


@triton.jit
def rounds_kernel(o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    sums = tl.zeros((N,), tl.float32)
    for k in range(n):
        sums += k * 0.5
    tl.store(o + i, sums)


@triton.jit
def masked_atomic_kernel(o, n, N: tl.constexpr, SCOPE: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(o + i, 1, mask=i < n, scope=SCOPE)
