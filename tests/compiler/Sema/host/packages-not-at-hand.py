# Modules lean on packages that the build machine does not have.
# RUN: sema-tool %s | FileCheck %s
# RUN: not sema-tool %s --kernel two_ways 2>&1 | FileCheck %s --check-prefix=TWO
# KERNEL: kernel
# SIG: p=*fp32
# TWO: error: the value of 'some_engine.features.compare_version()' is not known at compile time
# Packages export Triton under its own names.
from some_engine.triton_utils import tl, triton
from some_engine.features import HAS_TRITON, accelerator, compare_version

# One binding: the condition must hold, or there would be no such function.
if accelerator.is_available():
    @triton.jit
    def twice(x):
        return x * 2.0

    if accelerator.version > 3:
        @triton.jit
        def thrice(x):
            return x * 3.0

# It is said to be there.
LIMIT = tl.constexpr(5.0) if HAS_TRITON else None

# Two: nothing says which.
if compare_version("triton", "3.0.0"):
    pick = tl.exp
else:
    pick = tl.exp2

# Two, which come to the same.
if compare_version("triton", "3.0.0"):
    try:
        from triton.language.extra.libdevice import rsqrt
    except ModuleNotFoundError:
        from triton.language.extra.cuda.libdevice import rsqrt
else:
    from triton.language.math import rsqrt


def unwrap(x):
    return x.value if isinstance(x, tl.constexpr) else x


@tl.constexpr
def wide(bits: tl.constexpr) -> tl.dtype:
    bits = unwrap(bits)
    return tl.core.get_int_dtype(2 * bits, False)


# CHECK-LABEL: func.func @kernel
@triton.jit
def kernel(p):
    # CHECK: arith.constant 2.000000e+00
    # CHECK: arith.constant 3.000000e+00
    # CHECK: arith.constant 5.000000e+00
    # CHECK: math.rsqrt
    x = rsqrt(thrice(twice(tl.load(p))) + LIMIT)
    bits: tl.constexpr = x.dtype.primitive_bitwidth
    # CHECK: arith.fptoui %{{.*}} : f32 to i64
    tl.store(p, x.to(wide(bits)).to(tl.float32))


@triton.jit
def two_ways(p):
    tl.store(p, pick(tl.load(p)))
