# What Triton lets pass, with a word about it.
# RUN: sema-tool %s --quiet 2>&1 | FileCheck %s
# RUN: sema-tool %s | FileCheck %s --check-prefix=CODE
# SIG: p=*i32, BLOCK=24
# KERNEL: kernel
import triton
import triton.language as tl


@triton.jit
def kernel(p, BLOCK: tl.constexpr):
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: warning: 3 values for 2 targets: the last ones are dropped [sema-surplus-values]
    i, j = 5, 6, tl.program_id(2)
    for k in tl.static_range(2):
        # CHECK: :[[@LINE+1]]:{{[0-9]+}}: warning: this assertion does not hold [sema-assert-ignored]
        assert BLOCK == 16, "BLOCK"
    # CHECK: :[[@LINE+2]]:{{[0-9]+}}: warning: the condition of tl.where is int32, not int1: what is not zero counts as true [sema-where-condition]
    # CHECK: hint: write 'condition != 0'; later versions of Triton refuse the condition
    x = tl.where(i, 1, 2)
    y = tl.zeros((32, 32), tl.float8e4b15)
    # CHECK: :[[@LINE+1]]:{{[0-9]+}}: warning: the use of fp8e4b15 is deprecated on Hopper and later architectures: the product is computed in fp16 [sema-old-byte-float]
    tl.dot(y, y)
    # CHECK-NOT: warning
    x = tl.where(i != 0, 1, 2)
    x = tl.where(True, 1, 2)
    # CODE: %[[SUM:.*]] = arith.addi %c5_i32, %c6_i32
    # CODE: tile.store %{{.*}}, %[[SUM]]
    tl.store(p, i + j)
