import triton
import triton.language as tl


@triton.jit
def shift(x_ptr, n, amount, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + amount, mask=mask)
