import triton

from ..constants import SEVEN


@triton.jit
def add(x):
    return x + (SEVEN - 2.0)
