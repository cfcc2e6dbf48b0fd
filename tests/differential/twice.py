import triton
import triton.language as tl


# Wrong at one element, as a config may be.
@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr, WRONG_AT: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = 2 * tl.load(x + i, i < n)
    tl.store(out + i, tl.where(i == WRONG_AT, value + 1, value), i < n)


@triton.jit
def sums(x, out, rows, columns):
    row = tl.program_id(0) * 16
    total = tl.zeros([16], tl.float32)
    for column in range(0, columns, 32):
        total += tl.sum(x.load([row, column]).to(tl.float32), axis=1)
    i = row + tl.arange(0, 16)
    tl.store(out + i, total, i < rows)
