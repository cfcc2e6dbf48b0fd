import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, s_ptr, y_ptr, rows, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + i, mask=i < n, other=0.0)
    tl.store(y_ptr + row * n + i, x * tl.load(s_ptr + row), mask=i < n)


@triton.jit
def add_one(x, y, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    y.store([row, 0], x.load([row, 0]) + 1)


@triton.jit
def fill(y_ptr, value, BLOCK: tl.constexpr):
    tl.store(y_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), value)
