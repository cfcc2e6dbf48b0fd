import triton
import triton.language as tl


# Of these the second needs more shared memory than a GPU has, and the third more threads.
@triton.autotune(configs=[triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 256}, num_warps=16),
                          triton.Config({"BLOCK": 32}, num_warps=32)], key=[])
@triton.jit
def product(a_ptr, out_ptr, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    offsets = rows[:, None] * BLOCK + rows[None, :]
    a = tl.load(a_ptr + offsets)
    tl.store(out_ptr + offsets, tl.dot(a, a))
