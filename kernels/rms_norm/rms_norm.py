"""Root-mean-square normalisation over the last axis of a matrix (Zhang and Sennrich, 2019)."""

import triton
import triton.language as tl


@triton.jit
def _inverse_rms(x, n_cols, eps):
    """1 / sqrt(mean(x^2) + eps) of one row; x is zero beyond its n_cols columns."""
    return tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)


@triton.jit
def rms_norm_kernel(
    x_ptr, weight_ptr, out_ptr, stride_x, stride_out, n_cols, eps,
    BLOCK_SIZE: tl.constexpr, HAS_WEIGHT: tl.constexpr = True,
):
    """out[r, c] = x[r, c] * inverse_rms(x[r, :]) * weight[c]; one row per program instance; BLOCK_SIZE >= n_cols."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_cols
    x = tl.load(x_ptr + row * stride_x + columns, mask=mask, other=0.0).to(tl.float32)
    out = x * _inverse_rms(x, n_cols, eps)
    if HAS_WEIGHT:
        out *= tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * stride_out + columns, out.to(out_ptr.dtype.element_ty), mask=mask)
