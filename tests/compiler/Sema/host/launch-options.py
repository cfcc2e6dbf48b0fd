# Launch options from heuristics: what depends on run-time arguments is left to the instance.
# RUN: sema-tool %s --heuristics | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, n=i32
import triton
import triton.language as tl


# CHECK-NOT: num_warps
# CHECK: BLOCK=64
# CHECK-NOT: num_warps
@triton.heuristics({"num_warps": lambda args: 8 if args["n"] > 1024 else 4})
@triton.heuristics({"BLOCK": lambda args: 64})
@triton.jit
def kernel(p, n, BLOCK: tl.constexpr):
    tl.store(p + tl.arange(0, BLOCK), 0.0)
