# RUN: sema-tool %s --autotune | FileCheck %s
# RUN: sema-tool %s --autotune --target=hip:gfx942 | FileCheck %s --check-prefix=HIP
# RUN: sema-tool %s --all-configs --quiet | FileCheck %s --check-prefix=ALL
# KERNEL: kernel
# SIG: p=*fp32, n=i32
import itertools

import torch
import triton
import triton.language as tl


def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def configs():
    if is_cuda():
        sizes = [16, 32]
        return [triton.Config({"BLOCK": s}, num_warps=w) for s, w in itertools.product(sizes, (2, 4))
                if s * w < 128]
    return [triton.Config({"BLOCK": 64} | {"waves_per_eu": 2}, num_stages=2)]


# CHECK: config: BLOCK=16 num_warps=2
# CHECK-NEXT: config: BLOCK=16 num_warps=4
# CHECK-NEXT: config: BLOCK=32 num_warps=2
# CHECK-NEXT: key: n
# HIP: config: BLOCK=64 waves_per_eu=2 num_stages=2
# ALL: 3 configs built
@triton.autotune(configs=configs(), key=["n"], prune_configs_by={"early": torch.nothing})
@triton.jit
def kernel(p, n, BLOCK: tl.constexpr):
    tl.store(p + tl.arange(0, BLOCK), 0.0)


# What comes later at module level does not reach back into a decorator.
def configs():
    return []
