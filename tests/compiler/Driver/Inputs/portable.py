import triton
import triton.language as tl

BLOCK = 48


@triton.jit
def copy(x, y):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))
