# Tensor descriptors are values of the Tile dialect; only when one changes do control flow and functions carry it.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp16, M=i32, N=i32
import triton
import triton.language as tl


@triton.jit
def wrap(x, shape, strides, block: tl.constexpr):
    if isinstance(x, tl.tensor_descriptor):
        return x
    return tl.make_tensor_descriptor(x, shape, strides, block)


@triton.jit
def kernel(p, M, N):
    # CHECK: %[[D:[0-9]+]] = tile.make_descriptor %{{.*}}, [%{{.*}}, %[[N:.*]]], [%{{.*}}] : !tile.ptr<f16> -> !tile.descriptor<16x32xf16>
    desc = wrap(p, [M, N], [N, 1], [16, 32])
    desc = wrap(desc, [M, N], [N, 1], [16, 32])
    # CHECK: scf.for %[[I:[a-z0-9]+]] = %{{[^ ]+}} to %{{[^ ]+}} step %{{[^ ]+}} : i32 {
    for i in range(0, N, 32):
        # CHECK: %[[J:[0-9]+]] = arith.extsi %[[I]] : i32 to i64
        # CHECK: tile.descriptor_load %[[D]][%{{.*}}, %[[J]]] : !tile.descriptor<16x32xf16> -> tensor<16x32xf16>
        x = desc.load([0, i])
        # CHECK: tile.descriptor_store %[[D]][%{{.*}}], %{{.*}} : !tile.descriptor<16x32xf16>, tensor<16x32xf16>
        desc.store([0, i], x + 1)
    # CHECK: tile.descriptor_load %[[D]][{{.*}}] {evict = #tile.evict<evict_first>}
    x = tl.load_tensor_descriptor(desc, [0, 0], eviction_policy="evict_first")
    # CHECK: %[[IF:[0-9]+]] = scf.if %{{.*}} -> (!tile.descriptor<16x32xf16>)
    if M > 100:
        # CHECK: %[[E:[0-9]+]] = tile.make_descriptor
        # CHECK: scf.yield %[[E]]
        # CHECK: scf.yield %[[D]]
        desc = tl.make_tensor_descriptor(p + N, [M - 1, N], [N, 1], [16, 32])
    # CHECK: tile.descriptor_reduce <fadd> %[[IF]][
    desc.atomic_add([0, 0], x)
    # CHECK: %[[M:[0-9]+]] = tile.descriptor_extent %[[IF]], 0
    # CHECK: arith.trunci %[[M]] : i64 to i32
    m = desc.shape[0]
    # CHECK: %[[ROWS:[0-9]+]] = tile.make_descriptor {{.*}} -> !tile.descriptor<1x32xf16, nan>
    rows = tl.make_tensor_descriptor(p, [m, N], [N, 1], [1, 32], padding_option="nan")
    # CHECK: %[[X:[0-9]+]] = tile.descriptor_gather %[[ROWS]][{{.*}}] : !tile.descriptor<1x32xf16, nan>, tensor<8xi64> -> tensor<8x32xf16>
    # CHECK: tile.descriptor_scatter %[[ROWS]][{{.*}}], %[[X]]
    rows.scatter(rows.gather(tl.arange(0, 8), 0), tl.arange(8, 16), 0)
