import triton
import triton.language as tl
from some_package import heuristics_of


# Where all parameters have values, what would compute them need not be known.
@triton.heuristics(heuristics_of("fill"))
@triton.jit
def fill(p, BLOCK: tl.constexpr):
    tl.store(p + tl.arange(0, BLOCK), 1.0)
