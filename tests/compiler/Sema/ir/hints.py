# A bare hint speaks of its variable from there on, as in Triton.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*fp32, n=i32
import triton
import triton.language as tl


@triton.jit
def kernel(p, n):
    # CHECK: %[[N:.*]] = tile.hint %{{.*}} divisibility = [16] : i32
    tl.multiple_of(n, 16)
    # CHECK: tile.hint %{{.*}} contiguity = [8] : tensor<8xi32>
    offsets = tl.max_contiguous(tl.arange(0, 8), 8)
    # CHECK: %[[C:.*]] = arith.cmpi sgt, %[[N]]
    # CHECK: tile.assume %[[C]] : i1
    tl.assume(n > 0)
    # CHECK: tile.barrier
    tl.debug_barrier()
    # CHECK: tile.load {{.*}}cache = #tile.cache<cg>, evict = #tile.evict<evict_last>, is_volatile
    x = tl.load(p + offsets, cache_modifier=".cg", eviction_policy="evict_last", volatile=True)
    # CHECK: tile.atomic_rmw <fadd> {{.*}} {scope = #tile.scope<sys>, semantic = #tile.semantic<relaxed>}
    tl.atomic_add(p + offsets, x, mask=offsets < n, sem="relaxed", scope="sys")
