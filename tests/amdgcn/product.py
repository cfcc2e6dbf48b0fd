import triton
import triton.language as tl


@triton.jit
def product_kernel(a, b, c, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    """c = a b of one block of M x N: a is M x K, b is K x N, K a multiple of STEP."""
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, STEP)
    product = tl.zeros((M, N), tl.float32)
    for k in range(0, K, STEP):
        x = tl.load(a + rows[:, None] * K + k + inner[None, :])
        y = tl.load(b + (k + inner[:, None]) * N + columns[None, :])
        product = tl.dot(x, y, product)
    tl.store(c + rows[:, None] * N + columns[None, :], product)
