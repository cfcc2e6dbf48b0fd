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


@triton.jit
def layer_norm_backward_kernel(
    x_ptr, weight_ptr, dout_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr, dbias_ptr, locks_ptr,
    stride_x, stride_dout, stride_dx, n_cols,
    GROUPS: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):
    """dx of one row per program instance, and its share of the weight's and bias's gradients; BLOCK_SIZE >= n_cols.

    Row r adds to row r % GROUPS of dweight and dbias (GROUPS x n_cols, dense), one instance at a time: locks has GROUPS locks
    and then, for each, whether somebody has written there yet; all zero before. layer_norm_backward_sum_kernel adds the groups.
    """
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_cols
    x = tl.load(x_ptr + row.to(tl.int64) * stride_x + columns, mask=mask, other=0.0).to(tl.float32)
    dout = tl.load(dout_ptr + row.to(tl.int64) * stride_dout + columns, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    dnormal = weight * dout
    along = tl.sum(normal * dnormal, axis=0) / n_cols
    across = tl.sum(dnormal, axis=0) / n_cols
    tl.store(dx_ptr + row.to(tl.int64) * stride_dx + columns, (dnormal - normal * along - across) * rstd, mask=mask)

    group = row % GROUPS
    dweight = dout * normal
    dbias = dout
    dweight_ptr += group * n_cols + columns
    dbias_ptr += group * n_cols + columns
    while tl.atomic_cas(locks_ptr + group, 0, 1) == 1:
        pass
    if tl.load(locks_ptr + GROUPS + group) == 0:
        tl.atomic_xchg(locks_ptr + GROUPS + group, 1)
    else:
        dweight += tl.load(dweight_ptr, mask=mask)
        dbias += tl.load(dbias_ptr, mask=mask)
    tl.store(dweight_ptr, dweight, mask=mask)
    tl.store(dbias_ptr, dbias, mask=mask)
    # Every thread has written before one of them gives the lock back.
    tl.debug_barrier()
    tl.atomic_xchg(locks_ptr + group, 0)


@triton.jit
def layer_norm_backward_sum_kernel(partial_ptr, out_ptr, n_groups, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """out[c] = the sum over g of partial[g, c]; partial is n_groups x n_cols, dense."""
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, n_groups, BLOCK_M):
        groups = start + tl.arange(0, BLOCK_M)
        mask = (groups[:, None] < n_groups) & (columns[None, :] < n_cols)
        total += tl.load(partial_ptr + groups[:, None] * n_cols + columns[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + columns, tl.sum(total, axis=0), mask=columns < n_cols)
