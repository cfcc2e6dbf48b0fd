"""A linear layer: Y = activate(X @ W^T + bias), W stored as N x K, bias added and activation applied before Y is rounded."""

import triton
import triton.language as tl
from matmul import activate
from tiles import inside, product, store_tile, tile_of


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, M, N, K,
    stride_xm, stride_xk, stride_wn, stride_wk, stride_ym, stride_yn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr, ACTIVATION: tl.constexpr,
):
    """bias_ptr has N elements, or is None."""
    tile_m, tile_n = tile_of(tl.program_id(0), M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    rows = inside(tile_m, M, BLOCK_SIZE_M)
    columns = inside(tile_n, N, BLOCK_SIZE_N)
    y = product(x_ptr, w_ptr, rows, columns, K, stride_xm, stride_xk, stride_wk, stride_wn, BLOCK_SIZE_K)
    if bias_ptr is not None:
        y += tl.load(bias_ptr + columns).to(tl.float32)[None, :]
    store_tile(y_ptr, activate(y, ACTIVATION), tile_m, tile_n, M, N, stride_ym, stride_yn)
