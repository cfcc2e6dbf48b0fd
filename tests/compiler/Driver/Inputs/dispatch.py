import triton
import triton.language as tl


@triton.jit
def fill_kernel(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    row = out_ptr + tl.program_id(0) * n
    tl.store(row + offsets, BLOCK, mask=offsets < n)
