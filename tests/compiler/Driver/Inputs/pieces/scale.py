import triton
import triton.language as tl
from factors import doubled


@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, doubled(tl.load(x_ptr + offsets, mask=mask)), mask=mask)
