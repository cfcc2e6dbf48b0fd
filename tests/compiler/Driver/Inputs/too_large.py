import triton
import triton.language as tl


@triton.jit
def multiply(a, b):
    return tl.dot(a, b)


@triton.jit
def product(a_ptr, out_ptr, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    offsets = rows[:, None] * BLOCK + rows[None, :]
    a = tl.load(a_ptr + offsets)
    tl.store(out_ptr + offsets, multiply(a, a))
