"""Layer normalisation over the last axis of a matrix, with weight and bias (Ba et al., 2016)."""

import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr,
    stride_x, stride_out, n_cols, eps,
    BLOCK_SIZE: tl.constexpr,
):
    """out[r, c] = (x[r, c] - mean) * rstd * weight[c] + bias[c], mean and rstd per row, one row per program instance.

    Rows of any length: columns are taken BLOCK_SIZE at a time. mean and rstd are kept for a backward pass.
    """
    row = tl.program_id(0)
    x_ptr += row.to(tl.int64) * stride_x
    out_ptr += row.to(tl.int64) * stride_out

    total = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        total += tl.load(x_ptr + columns, mask=columns < n_cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n_cols

    total = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        mask = columns < n_cols
        x = tl.load(x_ptr + columns, mask=mask, other=0.0).to(tl.float32)
        centred = tl.where(mask, x - mean, 0.0)
        total += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(total, axis=0) / n_cols + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)

    for start in range(0, n_cols, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        mask = columns < n_cols
        weight = tl.load(weight_ptr + columns, mask=mask)
        bias = tl.load(bias_ptr + columns, mask=mask)
        x = tl.load(x_ptr + columns, mask=mask, other=0.0).to(tl.float32)
        out = (x - mean) * rstd * weight + bias
        tl.store(out_ptr + columns, out, mask=mask)
