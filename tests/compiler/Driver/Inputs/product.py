import triton
import triton.language as tl


@triton.jit
def product(a, b, c, m, n, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, k, BLOCK):
        x = tl.load(a + rows[:, None] * k + start + inner[None, :], (rows[:, None] < m) & (start + inner[None, :] < k), 0.0)
        y = tl.load(b + (start + inner[:, None]) * n + columns[None, :], (start + inner[:, None] < k) & (columns[None, :] < n), 0.0)
        total += tl.dot(x, y)
    tl.store(c + rows[:, None] * n + columns[None, :], total, (rows[:, None] < m) & (columns[None, :] < n))
