"""Many products in one launch, the list of them in device memory: a fixed number of programs take tiles in turns, whatever products they are of."""

import triton
import triton.language as tl
from tiles import inside, product, store_tile, tile_of


@triton.jit
def grouped_matmul_kernel(
    a_ptrs, b_ptrs, c_ptrs, sizes_ptr, strides_ptr, groups,
    ELEMENT: tl.constexpr, ALIGNMENT: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    """C[g] = A[g] @ B[g] for g < groups. sizes_ptr: M, N, K of each; strides_ptr: elements between rows of A, B, C of each, all row-major.
    ALIGNMENT: of every address in bytes; of every N, K and stride in elements."""
    tile = tl.program_id(0)
    first = 0
    for g in range(0, groups):
        M = tl.load(sizes_ptr + 3 * g)
        N = tl.multiple_of(tl.load(sizes_ptr + 3 * g + 1), ALIGNMENT)
        K = tl.multiple_of(tl.load(sizes_ptr + 3 * g + 2), ALIGNMENT)
        stride_am = tl.multiple_of(tl.load(strides_ptr + 3 * g), ALIGNMENT)
        stride_bk = tl.multiple_of(tl.load(strides_ptr + 3 * g + 1), ALIGNMENT)
        stride_cm = tl.multiple_of(tl.load(strides_ptr + 3 * g + 2), ALIGNMENT)
        a_ptr = tl.multiple_of(tl.load(a_ptrs + g).to(tl.pointer_type(ELEMENT)), ALIGNMENT)
        b_ptr = tl.multiple_of(tl.load(b_ptrs + g).to(tl.pointer_type(ELEMENT)), ALIGNMENT)
        c_ptr = tl.multiple_of(tl.load(c_ptrs + g).to(tl.pointer_type(ELEMENT)), ALIGNMENT)
        tiles = tl.cdiv(M, BLOCK_SIZE_M) * tl.cdiv(N, BLOCK_SIZE_N)
        while tile < first + tiles:
            tile_m, tile_n = tile_of(tile - first, M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
            rows = inside(tile_m, M, BLOCK_SIZE_M)
            columns = inside(tile_n, N, BLOCK_SIZE_N)
            columns = tl.max_contiguous(tl.multiple_of(columns, ALIGNMENT), ALIGNMENT)
            c = product(a_ptr, b_ptr, rows, columns, K, stride_am, 1, stride_bk, 1, BLOCK_SIZE_K)
            store_tile(c_ptr, c, tile_m, tile_n, M, N, stride_cm, 1)
            tile += tl.num_programs(0)
        first += tiles


@triton.jit
def expert_matmul_kernel(
    x_ptr, w_ptr, y_ptr, offsets_ptr, experts, N, K,
    stride_xm, stride_xk, stride_we, stride_wn, stride_wk, stride_ym, stride_yn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    """Y = X @ W[e]^T for the rows of each expert e: those from offsets_ptr[e] up to offsets_ptr[e + 1]. W is experts x N x K."""
    tile = tl.program_id(0)
    first = 0
    for e in range(0, experts):
        begin = tl.load(offsets_ptr + e)
        M = tl.load(offsets_ptr + e + 1) - begin
        w_ptrs = w_ptr + e.to(tl.int64) * stride_we
        x_ptrs = x_ptr + begin.to(tl.int64) * stride_xm
        y_ptrs = y_ptr + begin.to(tl.int64) * stride_ym
        tiles = tl.cdiv(M, BLOCK_SIZE_M) * tl.cdiv(N, BLOCK_SIZE_N)
        while tile < first + tiles:
            tile_m, tile_n = tile_of(tile - first, M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
            rows = inside(tile_m, M, BLOCK_SIZE_M)
            columns = inside(tile_n, N, BLOCK_SIZE_N)
            y = product(x_ptrs, w_ptrs, rows, columns, K, stride_xm, stride_xk, stride_wk, stride_wn, BLOCK_SIZE_K)
            store_tile(y_ptrs, y, tile_m, tile_n, M, N, stride_ym, stride_yn)
            tile += tl.num_programs(0)
        first += tiles
