"""What kernels of products share: which tile of the result a program has, and the loop over k."""

import triton
import triton.language as tl


@triton.jit
def tile_of(tile, M, N, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, GROUP_SIZE_M: tl.constexpr):
    """Row and column of tile number `tile`: down GROUP_SIZE_M rows of tiles, then to the next column, so that neighbours share what is in the L2 cache."""
    tiles_m = tl.cdiv(M, BLOCK_SIZE_M)
    tiles_of_group = GROUP_SIZE_M * tl.cdiv(N, BLOCK_SIZE_N)
    first_m = tile // tiles_of_group * GROUP_SIZE_M
    rows = min(tiles_m - first_m, GROUP_SIZE_M)
    in_group = tile % tiles_of_group
    return first_m + in_group % rows, in_group // rows


@triton.jit
def inside(tile, limit, BLOCK_SIZE: tl.constexpr):
    """The tile's rows, or columns; in place of those beyond the limit it has others, which are not stored."""
    return (tile * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)) % limit


@triton.jit
def product(
    a_ptr, b_ptr, rows, columns, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_SIZE_K: tl.constexpr, steps=None
):
    """A[rows, :K] @ B[:K, columns] in f32; rows and columns are inside of the matrices. `steps`: of k, if not all."""
    if steps is None:
        steps = tl.cdiv(K, BLOCK_SIZE_K)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + columns[None, :] * stride_bn
    accumulator = tl.zeros((rows.shape[0], columns.shape[0]), dtype=tl.float32)
    for k in range(0, steps):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk
    return accumulator


@triton.jit
def store_tile(c_ptr, c, tile_m, tile_n, M, N, stride_cm, stride_cn):
    """Stores tile (tile_m, tile_n) of C, as far as it is inside."""
    rows = tile_m * c.shape[0] + tl.arange(0, c.shape[0])
    columns = tile_n * c.shape[1] + tl.arange(0, c.shape[1])
    c_ptrs = c_ptr + stride_cm * rows[:, None] + stride_cn * columns[None, :]
    tl.store(c_ptrs, c.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))
