import triton
import triton.language as tl
from ..consts import SCALE as _S

@triton.jit
def deep_add(x, K: tl.constexpr):
    S: tl.constexpr = _S
    return x * S + K
