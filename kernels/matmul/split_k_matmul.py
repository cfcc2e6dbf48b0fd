"""C += A @ B, for few rows and columns: several programs share a tile, each takes a piece of k and adds its part to C by atomic sums."""

import triton
import triton.language as tl
from tiles import inside, product, tile_of


@triton.jit
def split_k_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr, PIECE_SIZE_K: tl.constexpr,
):
    """C holds what is added to: zeros for a product alone. The order of the sums, and so the last bits, differ from run to run."""
    tl.static_assert(PIECE_SIZE_K % BLOCK_SIZE_K == 0, "a piece is whole steps along k")
    tile_m, tile_n = tile_of(tl.program_id(0), M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    rows = inside(tile_m, M, BLOCK_SIZE_M)
    columns = inside(tile_n, N, BLOCK_SIZE_N)
    begin = tl.program_id(1) * PIECE_SIZE_K
    c = product(
        a_ptr + begin.to(tl.int64) * stride_ak, b_ptr + begin.to(tl.int64) * stride_bk, rows, columns,
        min(K - begin, PIECE_SIZE_K), stride_am, stride_ak, stride_bk, stride_bn, BLOCK_SIZE_K,
    )
    rows = tile_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    columns = tile_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + stride_cm * rows[:, None] + stride_cn * columns[None, :]
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.atomic_add(c_ptrs, c.to(c_ptr.dtype.element_ty), mask=mask, sem="relaxed")
