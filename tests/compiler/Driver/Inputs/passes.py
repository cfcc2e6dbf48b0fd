import triton
import triton.language as tl


@triton.jit
def twice(x):
    return x + x


@triton.jit
def say(x):
    tl.device_print("x", x)


@triton.jit
def doubled_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, twice(tl.load(x_ptr + offsets)))


@triton.jit
def loud_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    say(offsets)
    tl.store(x_ptr + offsets, offsets)


@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=64)], key=[])
@triton.jit
def too_wide_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0)


@triton.jit
def spilling_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    x = x / tl.sum(x, 0)
    tl.store(x_ptr + offsets, x)
