import triton
import triton.language as tl


@triton.jit
def smooth_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, FAULT: tl.constexpr = "none"):
    """Each program has a fixed cost, and each element of its block one, whether it is there or not."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    first = tl.load(x_ptr)
    total = first
    for i in range(0, 4000):
        total = total * 0.5 + first
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = x
    for i in range(0, 300):
        y = y * factor + x
    if FAULT == "crash":
        offsets += 1099511627776 * (n > 0)
    if FAULT == "hang":
        while tl.load(x_ptr, volatile=True) > -5.0:
            y += 1.0
    if FAULT == "wrong":
        y += 1.0
    tl.store(out_ptr + offsets, y + total * 0.0, mask=mask)
