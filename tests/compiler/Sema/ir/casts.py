# RUN: sema-tool %s | FileCheck %s
# KERNEL: kernel
# SIG: p=*i1, f=fp32, b=bf16, u=u32, s=i8, pp=**fp32
import triton
import triton.language as tl


@triton.jit
def kernel(p, f, b, u, s, pp):
    # Booleans in memory are bytes.
    # CHECK: %[[BYTE:.*]] = tile.load %{{.*}} : (!tile.ptr<i8>) -> i8
    # CHECK: arith.cmpi ne, %[[BYTE]]
    flag = tl.load(p)
    # CHECK: arith.cmpf une
    is_set = f.to(tl.int1)
    # CHECK: arith.fptoui {{.*}} : f32 to i8
    byte = f.to(tl.uint8)
    # CHECK: arith.uitofp {{.*}} : i32 to f32
    real = u.to(tl.float32)
    # bf16 and f16 meet in f32.
    # CHECK: arith.extf {{.*}} : bf16 to f32
    # CHECK: arith.truncf {{.*}} : f32 to f16
    half = b.to(tl.float16)
    # CHECK: [[NEAREST:%.*]] = arith.truncf [[X:%.*]] : f32 to bf16
    # CHECK: [[BACK:%.*]] = arith.extf [[NEAREST]]
    # CHECK: [[LARGER:%.*]] = math.absf [[BACK]]
    # CHECK: arith.cmpf ogt, [[LARGER]]
    # CHECK: arith.subi
    # CHECK: arith.select
    cut = f.to(tl.bfloat16, fp_downcast_rounding="rtz")
    # CHECK: tile.bitcast {{.*}} : f32 -> i32
    bits = f.to(tl.int32, bitcast=True)
    # CHECK: tile.narrow {{.*}} : f32 to f8E5M2
    tiny = f.to(tl.float8e5)
    # CHECK: arith.extui {{.*}} : i1 to i8
    # CHECK: tile.store
    tl.store(p, flag & is_set)
    # Pointers loaded from memory, and cast.
    # CHECK: tile.load %{{.*}} : (!tile.ptr<!tile.ptr<f32>>) -> !tile.ptr<f32>
    q = tl.load(pp)
    # CHECK: tile.bitcast {{.*}} : !tile.ptr<f32> -> !tile.ptr<i32>
    r = q.to(tl.pointer_type(tl.int32))
    tl.store(r, bits + byte + s)
    tl.store(q, real + half + cut + tiny.to(tl.float32))
