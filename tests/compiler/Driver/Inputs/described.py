import triton
import triton.language as tl


@triton.jit
def product_kernel(a, b, out_ptr, K, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        total = tl.dot(a.load([row, k]), b.load([k, 0]), total)
    offsets = (row + tl.arange(0, BLOCK))[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(out_ptr + offsets, total)
