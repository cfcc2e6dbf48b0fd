# 8-bit floats that the target's matrix instructions do not take, where others are.
# RUN: sema-tool %s --quiet --target hip:gfx950 2>&1 | FileCheck %s -DARCH=gfx950
# RUN: sema-tool %s --quiet --target hip:gfx1201 2>&1 | FileCheck %s -DARCH=gfx1201
# RUN: sema-tool %s --quiet --target hip:gfx942 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
# RUN: sema-tool %s --quiet --target hip:gfx1100 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
# SIG: p=*i32
# KERNEL: kernel
# NONE-NOT: warning
import triton
import triton.language as tl


@triton.jit
def kernel(p):
    x = tl.zeros((32, 32), tl.float8e4b8)
    y = tl.zeros((32, 32), tl.float8e5b16)
    z = tl.zeros((32, 32), tl.float8e4nv)
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: warning: fp8e4b8 is AMD gfx942 specific and not supported on [[ARCH]]: the product is computed in fp16 [sema-old-byte-float]
    tl.dot(x, x)
    # CHECK: hint: fp8e4nv is a type of these GPUs
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: warning: fp8e5b16 is AMD gfx942 specific and not supported on [[ARCH]]: the product is computed in fp16 [sema-old-byte-float]
    tl.dot(y, y)
    # CHECK-NOT: warning
    tl.dot(z, z)
