"""Products with weights of 4 bits: two in a byte, a scale and a zero point for each group of rows of a column, made f16 or bf16 in the loop."""

import triton
import triton.language as tl
from tiles import inside, store_tile, tile_of


@triton.jit
def int4_matmul_kernel(
    a_ptr, b_ptr, scale_ptr, zero_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_sk, stride_sn, stride_cm, stride_cn,
    SCALE_SIZE_K: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr, LOAD_ONCE: tl.constexpr,
):
    """C = A @ ((B - zero) * scale). A byte of B (K / 2 x N) has row 2k in its low bits, row 2k + 1 in its high bits; scale and zero are
    K / SCALE_SIZE_K x N and share their strides. LOAD_ONCE: halves of bytes are interleaved in registers, which is best for few rows of A;
    else each byte is loaded for either half."""
    tl.static_assert(SCALE_SIZE_K % BLOCK_SIZE_K == 0, "a step along k has one scale")
    tile_m, tile_n = tile_of(tl.program_id(0), M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    rows = inside(tile_m, M, BLOCK_SIZE_M)
    columns = inside(tile_n, N, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    pairs = tl.arange(0, BLOCK_SIZE_K // 2) if LOAD_ONCE else offs_k // 2
    a_ptrs = a_ptr + rows[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + pairs[:, None] * stride_bk + columns[None, :] * stride_bn
    scale_ptrs = scale_ptr + columns * stride_sn
    zero_ptrs = zero_ptr + columns * stride_sn
    scale, zero = tl.load(scale_ptrs), tl.load(zero_ptrs)
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_SIZE_K):
        # A step ahead: nothing else hides how long they take.
        group = (k + BLOCK_SIZE_K) // SCALE_SIZE_K * stride_sk
        next_scale = tl.load(scale_ptrs + group, mask=k + BLOCK_SIZE_K < K)
        next_zero = tl.load(zero_ptrs + group, mask=k + BLOCK_SIZE_K < K)
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k, other=0.0)
        b = tl.load(b_ptrs, mask=2 * pairs[:, None] < K - k, other=0)
        if LOAD_ONCE:
            quantized = tl.join(b & 15, b >> 4).permute(0, 2, 1).reshape(BLOCK_SIZE_K, BLOCK_SIZE_N)
        else:
            quantized = (b >> (offs_k % 2 * 4)[:, None]) & 15
        weight = (quantized.to(tl.float32) - zero.to(tl.float32)[None, :]) * scale.to(tl.float32)[None, :]
        accumulator = tl.dot(a, weight.to(a.dtype), accumulator)
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K // 2 * stride_bk
        scale, zero = next_scale, next_zero
    store_tile(c_ptr, accumulator, tile_m, tile_n, M, N, stride_cm, stride_cn)
