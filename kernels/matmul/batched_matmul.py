"""C[i] = A[i] @ B[i] for a batch of matrices; a stride of 0 between matrices gives all the same one."""

import triton
import triton.language as tl
from tiles import inside, product, store_tile, tile_of


@triton.jit
def batched_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    stride_ab, stride_am, stride_ak, stride_bb, stride_bk, stride_bn, stride_cb, stride_cm, stride_cn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    batch = tl.program_id(1).to(tl.int64)
    tile_m, tile_n = tile_of(tl.program_id(0), M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    rows = inside(tile_m, M, BLOCK_SIZE_M)
    columns = inside(tile_n, N, BLOCK_SIZE_N)
    c = product(
        a_ptr + batch * stride_ab, b_ptr + batch * stride_bb, rows, columns, K,
        stride_am, stride_ak, stride_bk, stride_bn, BLOCK_SIZE_K,
    )
    store_tile(c_ptr + batch * stride_cb, c, tile_m, tile_n, M, N, stride_cm, stride_cn)
