import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def row_sum_kernel(rows, y, pair, BLOCK: tl.constexpr):
    scales, add_one = pair
    row = tl.program_id(0)
    total = tl.sum(rows.load([row, 0]).to(tl.float32)) * tl.load(scales + row)
    tl.store(y + row, total + (1.0 if add_one else 0.0))
