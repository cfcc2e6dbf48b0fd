import triton
import triton.language as tl
from triton.language.extra import cuda


@triton.autotune(configs=[triton.Config({"BLOCK": 128, "launch_pdl": True}), triton.Config({"BLOCK": 64, "launch_pdl": False})], key=["n"])
@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cuda.gdc_wait()
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)
    cuda.gdc_launch_dependents()
