import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "BLOCK"])
def kernel(p, n, BLOCK: tl.constexpr):
    tl.store(p, n)
