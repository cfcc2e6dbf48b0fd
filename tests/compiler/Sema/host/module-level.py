# Module-level names are evaluated when they are reached, with answers for the target.
# RUN: sema-tool %s | FileCheck %s --check-prefix=CUDA
# RUN: sema-tool %s --target=hip:gfx942 | FileCheck %s --check-prefix=HIP
# RUN: sema-tool %s -DDEBUG=True -DWIDTH=4 | FileCheck %s --check-prefix=DEFINED
# KERNEL: kernel
# SIG: p=*fp32
import math
import os

import torch
import triton
import triton.language as tl
from packaging import version

WIDTH = int(os.environ.get("WIDTH", "2"))
WIDTH = WIDTH * 2
DEBUG = os.getenv("DEBUG", "0") == "1"
LOG2E = math.log2(math.e)
NEW = version.parse(triton.__version__) >= version.parse("3.0.0")
LARGEST = torch.finfo(torch.float16).max

if torch.version.hip is not None:
    @triton.jit
    def pick(x):
        return x + 1.0
elif hasattr(tl, "exp2"):
    pick = tl.exp2


@triton.jit
def kernel(p):
    # CUDA: tile.arange 0, 4
    # DEFINED: tile.arange 0, 4
    offsets = tl.arange(0, WIDTH)
    # CUDA: math.exp2
    # HIP-NOT: math.exp2
    # HIP: arith.constant 1.000000e+00
    x = pick(tl.load(p + offsets))
    # CUDA: arith.constant 1.44269502 : f32
    # CUDA: arith.constant 6.550400e+04
    if NEW:
        x = x * LOG2E + LARGEST
    # DEFINED: tile.barrier
    # CUDA-NOT: tile.barrier
    if DEBUG:
        tl.debug_barrier()
    tl.store(p + offsets, x)
