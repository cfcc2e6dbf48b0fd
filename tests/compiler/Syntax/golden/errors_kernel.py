import triton
import triton.language as tl


@triton.jit
def missing_end_of_header(x_ptr, n: tl.constexpr
    pid = tl.program_id(0)
    offsets = pid * 4 + tl.arange(0, 4
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask other=0)
    if n > 4
        y = x +* 2
    elif n = 3:
        y = x
    else
        y = [1, 2
    for i in range(0, 4:
        y += i
    tl.store(x_ptr + offsets, y
             mask=mask)
    return y


@triton.jit
def missing_comma(
    x_ptr,
    y_ptr
    n,
):
    pass


@triton.jit
def good(x_ptr):
    tl.store(x_ptr, 0)
