import triton
import triton.language as tl


@triton.jit
def multiply_kernel(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr):
    rows, columns, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, 32)
    sum = tl.zeros((M, N), tl.float32)
    for first in range(0, K, 32):
        a = tl.load(a_ptr + rows[:, None] * K + first + k[None, :])
        b = tl.load(b_ptr + (first + k)[:, None] * N + columns[None, :])
        sum = tl.dot(a, b, sum)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], sum.to(tl.float16))
