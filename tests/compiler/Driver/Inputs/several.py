import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = x + tl.zeros((64,), tl.float32)
    if BLOCK == 64:
        y = y.nothing
    tl.store(out_ptr + offsets, z, mask=offsets < n)
