# What modules ask of the installation while they are imported.
# RUN: sema-tool %s | FileCheck %s
# RUN: sema-tool %s --target hip:gfx942 | FileCheck %s --check-prefix=HIP
# RUN: sema-tool %s --target cpu | FileCheck %s
# KERNEL: kernel
# SIG: p=*i32
import functools

import torch
import triton
import triton.language as tl


def cached(function):
    results = {}

    @functools.wraps(function)
    def wrapper(*args):
        if args not in results:
            results[args] = function(*args)
        return results[args]

    return wrapper


# A decorator that is not known to be `jit` does not make device code of what Python calls.
@cached
def is_hip():
    return bool(torch.version.hip)


def device():
    if torch.xpu.is_available() or torch.backends.mps.is_available():
        return 1
    if torch.npu.is_available() or torch.musa.is_available():
        return 2
    if hasattr(torch, "accelerator") and torch.cuda.is_available():
        return 7
    raise NotImplementedError("no device")


VALUE = tl.constexpr(device() if not is_hip() else 9)
# What other vendors' packages add to torch.
OTHERS = len([name for name in ("mlu", "musa", "npu") if hasattr(torch, name)])


@triton.jit
def kernel(p):
    # CHECK: tile.store %{{.*}}, %c7_i32
    # HIP: tile.store %{{.*}}, %c9_i32
    tl.store(p, VALUE)
    # CHECK: tile.store %{{.*}}, %c0_i32
    # HIP: tile.store %{{.*}}, %c0_i32
    tl.store(p + 1, OTHERS)
