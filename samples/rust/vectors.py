import triton
import triton.language as tl


@triton.jit
def axpy(x, y, out, n, a, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, a * tl.load(x + i, mask) + tl.load(y + i, mask), mask)


@triton.jit
def row_sums(x, out, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0))
