"""Softmax of every row of a matrix, read and written once."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_rows, n_cols, stride_x, stride_out, BLOCK_SIZE: tl.constexpr):
    """out[r, :] = softmax(x[r, :]); strides count elements between rows; BLOCK_SIZE >= n_cols.

    A program instance takes rows pid, pid + num_programs, ... so that any grid covers all rows.
    """
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_cols
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row.to(tl.int64) * stride_x + columns, mask=mask, other=-float("inf")).to(tl.float32)
        numerator = tl.exp(x - tl.max(x, axis=0))
        out = numerator / tl.sum(numerator, axis=0)
        tl.store(out_ptr + row.to(tl.int64) * stride_out + columns, out, mask=mask)
