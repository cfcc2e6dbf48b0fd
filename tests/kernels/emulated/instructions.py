"""Small kernels that together use what GPU code is made of: matrix units, scans, layouts, atomics, locks, functions."""

import triton
import triton.language as tl


@triton.jit
def dot_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    z = tl.dot(x, y)
    tl.store(c + m[:, None] * N + n[None, :], z)


@triton.jit
def scan_kernel(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, tl.cumsum(v, 0))


@triton.jit
def reduce_kernel(x, o, p, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    v = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(o + n, tl.max(v, 0))
    tl.store(p + m, tl.argmax(v, 1))


@triton.jit
def transpose_kernel(x, o, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    v = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(o + n[:, None] * M + m[None, :], tl.trans(v))


@triton.jit
def atomic_kernel(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    pid = tl.program_id(0)
    v = tl.load(x + i)
    tl.atomic_add(o + (i + pid) % 64, v)
    tl.atomic_max(o + 64 + i % 4, v)


@triton.jit
def lock_kernel(lock, o, N: tl.constexpr):
    i = tl.arange(0, N)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    c = tl.load(o + i)
    tl.store(o + i, c + i)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def functions_kernel(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b = tl.load(y + i)
    r = tl.exp(a) + tl.sin(b) * tl.sqrt(tl.abs(a)) + tl.log(tl.abs(b) + 1.0) + tl.erf(a) + tl.floor(b)
    r += tl.where(a > b, a / (b * b + 1.0), tl.rsqrt(a * a + 1.0))
    tl.store(o + i, r)
