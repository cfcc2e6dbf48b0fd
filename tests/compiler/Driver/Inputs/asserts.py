import triton
import triton.language as tl


@triton.jit
def count_up(x_ptr, n, BLOCK: tl.constexpr):
    """No element may be 7."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.device_assert(x != 7, "seven")
    tl.device_print("x", x)
    tl.store(x_ptr + i, x + 1, mask=i < n)
