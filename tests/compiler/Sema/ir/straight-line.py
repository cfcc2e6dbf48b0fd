# RUN: sema-tool %s | FileCheck %s
# KERNEL: add
# SIG: x=*fp32:16, y=*fp32, n=i32:16, BLOCK=128
import torch
import triton
import triton.language as tl

# CHECK: func.func @add(%[[X:.*]]: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %[[Y:.*]]: !tile.ptr<f32>, %[[N:.*]]: i32 {tile.divisibility = 16 : i32})
# CHECK-SAME: tile.kernel, tile.num_ctas = 1 : i32, tile.num_stages = 3 : i32, tile.num_warps = 4 : i32


@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    # CHECK: %[[PID:.*]] = tile.program_id 0 : i32
    # CHECK: %[[START:.*]] = arith.muli %[[PID]], %c128_i32
    # CHECK: %[[RANGE:.*]] = tile.arange 0, 128 : tensor<128xi32>
    # CHECK: %[[SPLAT:.*]] = tile.splat %[[START]] : i32 -> tensor<128xi32>
    # CHECK: %[[OFFSETS:.*]] = arith.addi %[[SPLAT]], %[[RANGE]]
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # CHECK: %[[MASK:.*]] = arith.cmpi slt, %[[OFFSETS]]
    mask = offsets < n
    # CHECK: tile.splat %[[X]]
    # CHECK: %[[P:.*]] = tile.addptr
    # CHECK: %[[OTHER:.*]] = tile.splat %{{.*}} : f32 -> tensor<128xf32>
    # CHECK: %[[V:.*]] = tile.load %[[P]] mask %[[MASK]] other %[[OTHER]]
    v = tl.load(x + offsets, mask=mask, other=0.0)
    # CHECK: tile.store %{{.*}}, %{{.*}} mask %[[MASK]]
    tl.store(y + offsets, v + 1, mask=mask)
    # CHECK: return


torch.manual_seed(0)  # Host code is never evaluated.
