import triton, triton.language as tl
from . import cycle_a
@triton.jit
def pong(x):
    return x * cycle_a.LIMIT
