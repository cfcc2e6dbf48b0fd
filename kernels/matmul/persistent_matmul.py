"""C = A @ B with as many programs as run at once: each takes tiles in turns, so that none is started or ended between tiles."""

import triton
import triton.language as tl
from tiles import inside, product, store_tile, tile_of


@triton.jit
def persistent_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    tiles = tl.cdiv(M, BLOCK_SIZE_M) * tl.cdiv(N, BLOCK_SIZE_N)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        tile_m, tile_n = tile_of(tile, M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
        rows = inside(tile_m, M, BLOCK_SIZE_M)
        columns = inside(tile_n, N, BLOCK_SIZE_N)
        c = product(a_ptr, b_ptr, rows, columns, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_SIZE_K)
        store_tile(c_ptr, c, tile_m, tile_n, M, N, stride_cm, stride_cn)
