"""Products of 8-bit floats with scales: of whole rows and columns, or of blocks along k."""

import triton
import triton.language as tl
from tiles import inside, product, store_tile, tile_of


@triton.jit
def row_scaled_matmul_kernel(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bn, stride_bk, stride_cm, stride_cn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    """C[m, n] = a_scale[m] * b_scale[n] * sum over k of A[m, k] * B[n, k]."""
    tile_m, tile_n = tile_of(tl.program_id(0), M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    rows = inside(tile_m, M, BLOCK_SIZE_M)
    columns = inside(tile_n, N, BLOCK_SIZE_N)
    c = product(a_ptr, b_ptr, rows, columns, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_SIZE_K)
    c *= tl.load(a_scale_ptr + rows)[:, None] * tl.load(b_scale_ptr + columns)[None, :]
    store_tile(c_ptr, c, tile_m, tile_n, M, N, stride_cm, stride_cn)


@triton.jit
def block_scaled_matmul_kernel(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bn, stride_bk, stride_cm, stride_cn,
    stride_asm, stride_ask, stride_bsn, stride_bsk,
    SCALE_SIZE_N: tl.constexpr, SCALE_SIZE_K: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    """C = A @ B^T, where a scale stands for 1 x SCALE_SIZE_K elements of A (M x K), another for SCALE_SIZE_N x SCALE_SIZE_K of B (N x K)."""
    tl.static_assert(SCALE_SIZE_K % BLOCK_SIZE_K == 0, "a step along k has one scale")
    tile_m, tile_n = tile_of(tl.program_id(0), M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    rows = inside(tile_m, M, BLOCK_SIZE_M)
    columns = inside(tile_n, N, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + columns[None, :] * stride_bn
    a_scales = a_scale_ptr + rows * stride_asm
    b_scales = b_scale_ptr + columns // SCALE_SIZE_N * stride_bsn
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        scale = k * BLOCK_SIZE_K // SCALE_SIZE_K
        a_scale = tl.load(a_scales + scale * stride_ask)
        b_scale = tl.load(b_scales + scale * stride_bsk)
        accumulator += tl.dot(a, b) * (a_scale[:, None] * b_scale[None, :])
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk
    store_tile(c_ptr, accumulator, tile_m, tile_n, M, N, stride_cm, stride_cn)
