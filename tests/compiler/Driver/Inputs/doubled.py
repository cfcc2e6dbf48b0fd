import triton


@triton.jit
def doubled(x):
    return x * 2
