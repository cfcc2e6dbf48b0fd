# What Python numbers become: weak beside a tensor, typed by their value alone.
# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: h=fp16, i=i32, u=u8, l=i64, p=*i64
import triton
import triton.language as tl


@triton.jit
def kernel(h, i, u, l, p):
    # A float beside a half stays a half; division of halves is done in fp32.
    # CHECK: arith.constant 2.000000e+00 : f16
    # CHECK: arith.mulf %{{.*}} : f16
    a = h * 2.0
    # CHECK: arith.extf %{{.*}} : f16 to f32
    # CHECK: arith.divf %{{.*}} fastmath<arcp> : f32
    b = h / 2
    # Integers divide into fp32; // and % truncate.
    # CHECK: arith.sitofp %{{.*}} : i32 to f32
    # CHECK: arith.divf %{{.*}} fastmath<arcp> : f32
    c = i / 3
    # CHECK: arith.divsi
    # CHECK: arith.remsi
    d = i // 3 + i % 3
    # Unsigned operations follow the type.
    # CHECK: arith.divui %{{.*}} : i8
    # CHECK: arith.shrui
    e = (u // 2) >> 1
    # 0xFFFFFFFF is uint32, 2**40 int64.
    # CHECK: %[[U32:.*]] = arith.constant -1 : i32
    f = 0xFFFFFFFF
    # CHECK: arith.extui %[[U32]] : i32 to i64
    g = f.to(tl.int64)
    # CHECK: arith.constant 1099511627776 : i64
    k = 2**40
    # A mixed sum promotes: int32 + int64, with sign extension.
    # CHECK: arith.extsi %{{.*}} : i32 to i64
    tl.store(p, l + i + g + k + e.to(tl.int64) + a.to(tl.int64) + b.to(tl.int64) + c.to(tl.int64) + d)
