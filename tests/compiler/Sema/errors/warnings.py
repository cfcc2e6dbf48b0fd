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
    # CHECK-NOT: warning
    # CODE: %[[SUM:.*]] = arith.addi %c5_i32, %c6_i32
    # CODE: tile.store %{{.*}}, %[[SUM]]
    tl.store(p, i + j)
