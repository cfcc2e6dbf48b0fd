import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n, cache_modifier=".cg"), mask=i < n)


@triton.jit
def poll(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    while tl.max(tl.load(x_ptr + i, cache_modifier=".cg"), 0) == 0:
        pass
    for _ in range(100):
        tl.store(y_ptr + i, tl.load(x_ptr + i, cache_modifier=".cg") + tl.load(y_ptr + i))
