import triton

FACTOR = 2


@triton.jit
def doubled(x):
    return x * FACTOR
