import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def activation(x, leak):
    return tl.where(x > 0, x, leak * x)


@triton.jit
def write_row(base, row, stride, columns, values, mask):
    pointers = base + row * stride + columns
    tl.store(pointers, values, mask=mask)


@triton.autotune(configs=[triton.Config({"BLOCK_M": 32, "BLOCK_N": 32}), triton.Config({"BLOCK_M": 64, "BLOCK_N": 32})], key=["M"])
@triton.jit
def rows_kernel(A, Out: "*fp32", M, N, stride_a, stride_out, leak, eps, where, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, ODD: tl.constexpr, FAST: tl.constexpr = True, LIMIT: tl.constexpr = None):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    start = tl.program_id(1) * BLOCK_N
    columns = start + tl.arange(0, BLOCK_N)
    a_ptrs = A + rows[:, None] * stride_a + columns[None, :]
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    values = activation(tl.load(a_ptrs, mask=mask), leak) + eps
    write_row(Out, rows[:, None], stride_out, columns[None, :], values, mask)


@triton.jit
def described_kernel(desc, y, stride: tl.int64, K, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for k in range(0, K, BLOCK):
        tl.store(y + row * stride + tl.arange(0, BLOCK), tl.sum(desc.load([row, k]), axis=0))
