# Accesses through descriptors and block pointers are 16 bytes wide. Where the last axis may end within a vector there is
# a second path, by elements; rows that are as long as their stride need none.
# RUN: kiln compile %s -n copy -s "*fp16, *fp16, i32, i32, i32" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefixes=STRADDLE,PTX
# RUN: kiln compile %s -n copy -s "*fp16, *fp16, i32, i32, i32:16" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefixes=STRADDLE,PTX
# RUN: kiln compile %s -n blocks -s "*fp16:16, *fp16:16, i32, i32, i32:16" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefixes=STRADDLE,PTX
# RUN: kiln compile %s -n host -s "tensordesc<fp16>[64, 64], tensordesc<fp16>[64, 64]" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefixes=STRADDLE,PTX
# RUN: kiln compile %s -n dense -s "*fp16, *fp16, i32, i32" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=PTX --implicit-check-not=.b16
# RUN: kiln compile %s -n dense -s "*fp16, *fp16, i32, i32" -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=GFX --implicit-check-not=_short
# RUN: kiln compile %s -n rows -s "*fp16, *fp16, *i32:16, i32, i32" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefix=PTX --implicit-check-not=.b16
# STRADDLE: ld.global.b16
# PTX-COUNT-4: ld.global.v4.b32
# STRADDLE: st.global.b16
# PTX-COUNT-4: st.global.v4.b32
# GFX-COUNT-2: global_load_dwordx4
# GFX-COUNT-2: global_store_dwordx4
import triton
import triton.language as tl


@triton.jit
def host(a, b):
    i, j = tl.program_id(0) * 64, tl.program_id(1) * 64
    b.store([i, j], a.load([i, j]))


@triton.jit
def copy(p, q, M, N, S):
    a = tl.make_tensor_descriptor(p, [M, N], [S, 1], [64, 64])
    b = tl.make_tensor_descriptor(q, [M, N], [S, 1], [64, 64])
    host(a, b)


@triton.jit
def dense(p, q, M, N):
    copy(p, q, M, N, N)


@triton.jit
def rows(p, q, indices, M, N):
    a = tl.make_tensor_descriptor(p, [M, N], [N, 1], [1, 64])
    b = tl.make_tensor_descriptor(q, [M, N], [N, 1], [1, 64])
    i = tl.load(indices + tl.arange(0, 64))
    b.scatter(a.gather(i, 0), i, 0)


@triton.jit
def blocks(p, q, M, N, S):
    i, j = tl.program_id(0) * 64, tl.program_id(1) * 64
    a = tl.make_block_ptr(p, (M, N), (S, 1), (i, j), (64, 64), (1, 0))
    b = tl.make_block_ptr(q, (M, N), (S, 1), (i, j), (64, 64), (1, 0))
    x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
    tl.store(b, x, boundary_check=(0, 1))
