import triton
import triton.language as tl
import pkg
from pkg import ping
from pkg.consts import *
import pkg.target as T
import acts
try:
    from fast_acts import gelu
except ImportError:
    from acts import relu as gelu
if OFFSET == 1:
    from pkg.sub import deep_add as add
else:
    add = None

@triton.jit
def k(x, out, n, ACT: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    m = o < n
    v = tl.load(x + o, mask=m)
    v = add(v, pkg.C.OFFSET * pkg.levels.ONE)
    v = ping(v)
    v = gelu(v)
    v = ACT(v)
    W: tl.constexpr = T.WHO
    H: tl.constexpr = HAS
    v += W + (1000 if H else 0)
    tl.store(out + o, v, mask=m)
