import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, N: tl.constexpr):
    tl.atomic_add(x_ptr + tl.arange(0, N), 1.0, sem="relaxed")
