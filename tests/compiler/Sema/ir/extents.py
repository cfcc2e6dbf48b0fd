# Extents that are not powers of two: ranges, reductions of everything, histograms, sorts that extend their rows.
# RUN: sema-tool %s --kernel ranges | FileCheck %s --check-prefix=RANGES
# RUN: sema-tool %s --kernel everything | FileCheck %s --check-prefix=ALL
# RUN: sema-tool %s --kernel counts | FileCheck %s --check-prefix=COUNTS
# RUN: sema-tool %s --kernel sorted | FileCheck %s --check-prefix=SORTED
# RUN: not sema-tool %s --kernel large 2>&1 | FileCheck %s --check-prefix=LARGE
# SIG: p=*i32
import triton
import triton.language as tl


@triton.jit
def ranges(p):
    # RANGES: tile.arange 48, 96 : tensor<48xi32>
    # RANGES: tile.arange 0, 8 : tensor<8xi32>
    # RANGES: arith.addi {{.*}} : tensor<8xi32>
    tl.store(p + tl.arange(48, 96), 1)
    tl.store(p + tl.arange(-5, 3), 1)


@triton.jit
def everything(p):
    # The last axis first; of powers of two, in one.
    # ALL: tile.reduce({{.*}}) axis 1 : (tensor<12x20xi32>) -> tensor<12xi32>
    # ALL: tile.reduce({{.*}}) axis 0 : (tensor<12xi32>) -> i32
    # ALL: tile.reduce({{.*}}) axis 0 : (tensor<256xi32>) -> i32
    x = tl.load(p + tl.arange(0, 12)[:, None] * 20 + tl.arange(0, 20)[None, :])
    tl.store(p, tl.sum(x))
    y = tl.load(p + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])
    tl.store(p, tl.sum(y))


@triton.jit
def counts(p):
    # COUNTS: tile.histogram {{.*}} : (tensor<3000xi32>) -> tensor<24xi32>
    x = tl.load(p + tl.arange(0, 3000))
    tl.store(p + tl.arange(0, 24), tl.histogram(x, 24))


@triton.jit
def sorted(p):
    # SORTED: %[[LAST:.*]] = arith.constant 2147483647 : i32
    # SORTED: tile.gather {{.*}} : (tensor<3x24xi32>, tensor<3x32xi32>) -> tensor<3x32xi32>
    # SORTED: arith.select {{.*}} : tensor<3x32xi1>, tensor<3x32xi32>
    # SORTED: tile.gather {{.*}} : (tensor<3x32xi32>, tensor<3x24xi32>) -> tensor<3x24xi32>
    i = tl.arange(0, 3)[:, None] * 24 + tl.arange(0, 24)[None, :]
    tl.store(p + i, tl.sort(tl.load(p + i)))


@triton.jit
def large(p):
    # 1025 counts as 2048.
    # LARGE: error: a tensor: expected at most 1048576 elements, got [1025, 1024] [sema-shape]
    x = tl.arange(0, 1025)[:, None] + tl.arange(0, 1024)[None, :]
