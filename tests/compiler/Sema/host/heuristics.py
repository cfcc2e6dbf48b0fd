# RUN: sema-tool %s --heuristics | FileCheck %s
# RUN: sema-tool %s | FileCheck %s --check-prefix=IR
# RUN: sema-tool %s --parameters | FileCheck %s --check-prefix=PARAMETERS
# KERNEL: kernel
# SIG: p=*fp32, bias=*fp32, stride=i32:1, N=256
import triton
import triton.language as tl


# CHECK: HAS_BIAS=True BLOCK=256 EVEN=True
# IR: tile.arange 0, 256
# PARAMETERS: p
# PARAMETERS-NEXT: bias
# PARAMETERS-NEXT: stride unspecialized
# PARAMETERS-NEXT: N constexpr
# PARAMETERS-NEXT: HAS_BIAS constexpr heuristic
# PARAMETERS-NEXT: BLOCK constexpr heuristic
# PARAMETERS-NEXT: EVEN constexpr heuristic
# PARAMETERS-NEXT: SCALE constexpr default=0.5
@triton.heuristics({"HAS_BIAS": lambda args: args["bias"] is not None})
@triton.heuristics(values={
    "BLOCK": lambda args: triton.next_power_of_2(args["N"]),
    "EVEN": lambda args: args["N"] % args["BLOCK"] == 0,
})
@triton.jit(do_not_specialize=["stride"])
def kernel(p, bias, stride, N: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr,
           EVEN: tl.constexpr, SCALE: tl.constexpr = 0.5):
    tl.store(p + tl.arange(0, BLOCK) * stride, SCALE)
