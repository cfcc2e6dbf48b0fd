import triton
import triton.language as tl


@triton.jit
def add_tensors(x, y, out, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tl.static_assert(x.dtype == tl.float32)
    tl.static_assert(x.block_shape[0] == BLOCK_M and x.block_shape[1] == BLOCK_N)
    tl.static_assert(len(x.shape) == 2 and len(x.strides) == 2)
    row = tl.program_id(0) * BLOCK_M
    column = tl.program_id(1) * BLOCK_N
    out.store([row, column], x.load([row, column]) + y.load([row, column]))


@triton.jit
def count_padding(x, zeros, out, BLOCK: tl.constexpr):
    nan = x.load([0])
    zero = zeros.load([0])
    outside = (nan != nan) & (zero == 0)
    tl.store(out, tl.sum(outside.to(tl.float32)) + x.shape[0])


@triton.jit
def add_tuple(arrays, sizes, BLOCK: tl.constexpr):
    x, (y, one), nothing = arrays
    n = sizes[0]
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    if nothing is None:
        value += tl.load(y + offsets, mask=offsets < n) * one
    tl.store(sizes[1] + offsets, value, mask=offsets < n)


@triton.jit
def add_named(io, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < io.n
    left, right = io.inputs
    tl.store(io.out + offsets, tl.load(left + offsets, mask=mask) + tl.load(right + offsets, mask=mask), mask=mask)


@triton.jit
def apply(x, out, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, FUNCTION(tl.load(x + offsets, mask=offsets < n), 2), mask=offsets < n)


@triton.jit
def times(x, factor: tl.constexpr):
    return x * factor


@triton.jit
def clash(x, x_0):
    tl.store(x_0, x[0])


@triton.jit
def rows(x, y, out):
    rows = tl.arange(0, 8) * 2
    picked = x.gather(rows, 4)
    y.scatter(picked, rows, 0)
    y.atomic_add([1, 0], tl.full((1, 16), 2.0, tl.float32))
    tl.store(out, tl.sum(tl.sum(picked, 1), 0))


@triton.jit
def mixed(x, p, q):
    return x + p - q


@triton.jit
def constants(out, TEXT: tl.constexpr, YES: tl.constexpr, NOTHING: tl.constexpr, HALF: tl.constexpr, NEGATIVE: tl.constexpr,
              LARGE: tl.constexpr, NESTED: tl.constexpr, DTYPE: tl.constexpr, FUNCTION: tl.constexpr):
    tl.static_assert(TEXT == "1024" and YES and NOTHING is None and HALF == 0.5)
    tl.static_assert(NEGATIVE == -7 and LARGE == 2**62 + 1)
    tl.static_assert(NESTED[0] == -1.5 and NESTED[1][0] == 2 and NESTED[1][1] == "a")
    tl.static_assert(DTYPE == tl.bfloat16)
    ones = tl.full((4,), 1, DTYPE).to(tl.float32)
    tl.store(out + tl.arange(0, 4), FUNCTION(ones, NESTED[0], NEGATIVE))
