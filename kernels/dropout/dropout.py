"""Dropout whose mask is never stored: it follows from a seed and an element's place (Philox: Salmon et al., 2011)."""

import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n_elements, probability, seed, BLOCK_SIZE: tl.constexpr):
    """out[i] = x[i] / (1 - probability) with that probability of being kept, else 0. The gradient is the same of the gradient."""
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    is_kept = tl.rand(seed, offsets) >= probability
    out = tl.where(is_kept, x / (1 - probability), 0.0)
    tl.store(out_ptr + offsets, out, mask=mask)
