import triton
import triton.language as tl


@triton.autotune(configs=[
    triton.Config({"BLOCK": 128, "waves_per_eu": 2, "kpack": 2}, num_warps=4),
    triton.Config({"BLOCK": 256, "BLOCKS": 3}, num_warps=8),
    triton.Config({"BLOCK": 512}, num_warps=8, num_wraps=4),
], key=["n"])
@triton.jit
def fill_kernel(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 1.0, mask=offsets < n)
