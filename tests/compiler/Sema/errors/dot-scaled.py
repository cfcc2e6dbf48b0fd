# RUN: not sema-tool %s --kernel format --sig 'p=*u8' 2>&1 | FileCheck %s --check-prefix=FORMAT
# RUN: not sema-tool %s --kernel element --sig 'p=*u8' 2>&1 | FileCheck %s --check-prefix=ELEMENT
# RUN: not sema-tool %s --kernel scale --sig 'p=*u8' 2>&1 | FileCheck %s --check-prefix=SCALE
# RUN: not sema-tool %s --kernel factors --sig 'p=*u8' 2>&1 | FileCheck %s --check-prefix=FACTORS
# RUN: not sema-tool %s --kernel imprecise --sig 'p=*u8' 2>&1 | FileCheck %s --check-prefix=IMPRECISE
# RUN: not sema-tool %s --kernel accumulator --sig 'p=*u8' 2>&1 | FileCheck %s --check-prefix=ACCUMULATOR
import triton
import triton.language as tl


@triton.jit
def tile(p, R: tl.constexpr, C: tl.constexpr):
    return tl.load(p + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])


@triton.jit
def format(p):
    # FORMAT: error: rhs_format: expected e2m1, e4m3, e5m2, bf16 or fp16, got 'int4' [sema-invalid-argument]
    tl.dot_scaled(tile(p, 16, 32), None, "e4m3", tile(p, 32, 16), None, "int4")


@triton.jit
def element(p):
    # ELEMENT: error: lhs of format bf16: expected elements of type bf16 or uint16, got uint8[16, 32] [sema-shape]
    tl.dot_scaled(tile(p, 16, 32), None, "bf16", tile(p, 32, 16), None, "e4m3")


@triton.jit
def scale(p):
    # SCALE: error: rhs_scale: expected [16, 2], or twice as many columns, got uint8[2, 16] [sema-shape]
    tl.dot_scaled(tile(p, 16, 64), None, "e4m3", tile(p, 64, 16), tile(p, 2, 16), "e4m3")


@triton.jit
def factors(p):
    # FACTORS: error: the scales of tl.dot_scaled: expected one number of elements for each scale on both sides, got 32 and 16 [sema-shape]
    tl.dot_scaled(tile(p, 16, 64), tile(p, 16, 2), "e4m3", tile(p, 64, 16), tile(p, 16, 4), "e4m3")


@triton.jit
def imprecise(p):
    # IMPRECISE: error: max_num_imprecise_acc: expected at most K = 32, got 64 [sema-invalid-argument]
    a = tile(p, 16, 32).to(tl.float8e5, bitcast=True)
    b = tile(p, 32, 16).to(tl.float8e5, bitcast=True)
    tl.dot(a, b, max_num_imprecise_acc=64)


@triton.jit
def accumulator(p):
    # ACCUMULATOR: error: the accumulator of tl.dot_scaled: expected elements of fp32, got fp16[16, 16] [sema-shape]
    x = tile(p, 16, 32).to(tl.float16)
    tl.dot_scaled(x, None, "fp16", x.T, None, "fp16", acc=tl.zeros((16, 16), tl.float16))
