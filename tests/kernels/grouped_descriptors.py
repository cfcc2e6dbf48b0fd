# One tile of one of several products, whose pointers and extents are loaded.
# Of descriptors that it loads, and of which it reads several blocks, a kernel makes tensor maps: two, each written, published and acquired, in a record of an area of the module's.
# RUN: kiln compile %s -n product_of_group -s "*i64, *i64, *i64, *i32, *i32, 128, 64, 64" -t cuda:sm_90a -w 4 -ns 3 --emit ptx | FileCheck %s
# It assembles.
# RUN: kiln compile %s -n product_of_group -s "*i64, *i64, *i64, *i32, *i32, 128, 64, 64" -t cuda:sm_90a -w 4 -ns 3 --emit cubin -o %t.cubin
# By threads elsewhere.
# RUN: kiln compile %s -n product_of_group -s "*i64, *i64, *i64, *i32, *i32, 128, 64, 64" -t cuda:sm_80 -w 4 -ns 3 --emit ptx | FileCheck %s --check-prefix=THREADS

# 144 processors with three blocks each of 128 + 2 * 128 bytes.
# CHECK: .global .align 128 .b8 kiln_map_records[165888];
# CHECK: atom.acquire.gpu.global.cas.b32
# CHECK: tensormap.replace.tile.global_address.shared::cta.b1024.b64
# CHECK: tensormap.replace.tile.rank.shared::cta.b1024.b32
# CHECK-DAG: tensormap.replace.tile.global_stride.shared::cta.b1024.b64 {{.*}}, 0, %rd
# CHECK-DAG: tensormap.replace.tile.elemtype.shared::cta.b1024.b32 {{.*}}, 6;
# CHECK: tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd{{[0-9]+}}], [%r{{[0-9]+}}], 128;
# CHECK: fence.proxy.tensormap::generic.acquire.gpu [%rd{{[0-9]+}}], 128;
# CHECK: tensormap.cp_fenceproxy
# CHECK: fence.proxy.tensormap
# CHECK-NOT: tensormap.replace
# CHECK: cp.async.bulk.tensor.2d.shared::cta.global
# CHECK: st.release.gpu.global.b32 [%rd{{[0-9]+}}], 0;

# THREADS-NOT: tensormap
# THREADS: cp.async.cg.shared.global

import triton
import triton.language as tl


@triton.jit
def product_of_group(pa, pb, pc, sizes, strides, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    g = tl.program_id(2)
    M = tl.load(sizes + g * 3)
    N = tl.load(sizes + g * 3 + 1)
    K = tl.load(sizes + g * 3 + 2)
    a = tl.make_tensor_descriptor(tl.load(pa + g).to(tl.pointer_type(tl.float16)), [M, K], [tl.load(strides + g * 3), 1], [BM, BK])
    b = tl.make_tensor_descriptor(tl.load(pb + g).to(tl.pointer_type(tl.float16)), [K, N], [tl.load(strides + g * 3 + 1), 1], [BK, BN])
    c = tl.make_tensor_descriptor(tl.load(pc + g).to(tl.pointer_type(tl.float32)), [M, N], [tl.load(strides + g * 3 + 2), 1], [BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([m, k]), b.load([k, n]), total)
    c.store([m, n], total)
