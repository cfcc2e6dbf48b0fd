"""C = A @ B of tensors that descriptors describe: where the hardware has an engine for it, it copies their blocks."""

import triton
import triton.language as tl
from tiles import tile_of


@triton.jit
def described_product(
    a, b, tile_m, tile_n, K,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, TRANSPOSED_B: tl.constexpr,
):
    """A tile of the product in f32. B is K x N, or, with TRANSPOSED_B, stored as N x K."""
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_SIZE_K):
        x = a.load([tile_m * BLOCK_SIZE_M, k])
        if TRANSPOSED_B:
            y = b.load([tile_n * BLOCK_SIZE_N, k]).T
        else:
            y = b.load([k, tile_n * BLOCK_SIZE_N])
        accumulator = tl.dot(x, y, accumulator)
    return accumulator


@triton.jit
def described_matmul_kernel(
    a, b, c, M, N, K,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr, TRANSPOSED_B: tl.constexpr,
):
    tile_m, tile_n = tile_of(tl.program_id(0), M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    product = described_product(a, b, tile_m, tile_n, K, BLOCK_SIZE_M, BLOCK_SIZE_N, BLOCK_SIZE_K, TRANSPOSED_B)
    c.store([tile_m * BLOCK_SIZE_M, tile_n * BLOCK_SIZE_N], product.to(c.dtype))


@triton.jit
def described_persistent_matmul_kernel(
    a, b, c, M, N, K,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr, TRANSPOSED_B: tl.constexpr,
):
    """The same with as many programs as run at once, which take tiles in turns: the next tile's blocks come while this one is stored."""
    tiles = tl.cdiv(M, BLOCK_SIZE_M) * tl.cdiv(N, BLOCK_SIZE_N)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        tile_m, tile_n = tile_of(tile, M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
        product = described_product(a, b, tile_m, tile_n, K, BLOCK_SIZE_M, BLOCK_SIZE_N, BLOCK_SIZE_K, TRANSPOSED_B)
        c.store([tile_m * BLOCK_SIZE_M, tile_n * BLOCK_SIZE_N], product.to(c.dtype))
