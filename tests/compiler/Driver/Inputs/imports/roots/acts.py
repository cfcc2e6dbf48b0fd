import triton
import triton.language as tl

@triton.jit
def relu(x):
    return tl.where(x > 0, x, 0)

@triton.jit
def leaky(x, slope: tl.constexpr = 0.5):
    return tl.where(x > 0, x, x * slope)
