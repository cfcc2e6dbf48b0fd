"""Every elementary function whose error docs/accuracy.md gives: a kernel for those of one operand and one for those of two."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def unary_kernel(x_ptr, out_ptr, n, LIBRARY: tl.constexpr, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n)
    if LIBRARY == "tl":
        y = getattr(tl, FUNCTION)(x)
    else:
        y = getattr(libdevice, FUNCTION)(x)
    tl.store(out_ptr + places, y, mask=places < n)


@triton.jit
def binary_kernel(x_ptr, y_ptr, out_ptr, n, LIBRARY: tl.constexpr, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n)
    y = tl.load(y_ptr + places, mask=places < n)
    if LIBRARY == "operator":
        z = x / y if FUNCTION == "divide" else x % y
    elif LIBRARY == "tl":
        z = getattr(tl, FUNCTION)(x, y)
    else:
        z = getattr(libdevice, FUNCTION)(x, y)
    tl.store(out_ptr + places, z, mask=places < n)
