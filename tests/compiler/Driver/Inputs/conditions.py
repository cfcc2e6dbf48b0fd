import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": b}) for b in [64, 128, 256, 64]],
    key=["n"],
)
@triton.jit
def tuned_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + BLOCK, mask=offsets < n)
