import triton
import triton.language as tl


@triton.jit
def product(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    l = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        inside = K - k * BK
        x = tl.load(a + i[:, None] * K + k * BK + l[None, :], mask=l[None, :] < inside, other=0.0)
        y = tl.load(b + (k * BK + l)[:, None] * N + j[None, :], mask=l[:, None] < inside, other=0.0)
        sum = tl.dot(x, y, sum)
    tl.store(c + i[:, None] * N + j[None, :], sum)


@triton.jit
def softmax(x, y, n, N: tl.constexpr):
    i = tl.arange(0, N)
    e = tl.exp(tl.load(x + i, mask=i < n, other=float("-inf")))
    tl.store(y + i, e / tl.sum(e), mask=i < n)
