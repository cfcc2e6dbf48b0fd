# On sm_90a results of products are stored by the copy engine where blocks of their operands come by it, too, and where rows are whole pieces of 16 bytes
# by what the signature promises; nothing else may touch the array, and no block begin before it.
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32, i32:16, i32:16, i32:16, 0, False" -w 4 --ns 3 --experimental pointer-stores -t cuda:sm_90a -g 1,1,1 --emit tilegpu | FileCheck %s --check-prefix=ENGINE
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32, i32, i32:16, i32:16, 0, False" -w 4 --ns 3 --experimental pointer-stores -t cuda:sm_90a -g 1,1,1 --emit tilegpu | FileCheck %s --check-prefix=THREADS
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32, i32:16, i32:16, i32, 0, False" -w 4 --ns 3 --experimental pointer-stores -t cuda:sm_90a -g 1,1,1 --emit tilegpu | FileCheck %s --check-prefix=THREADS
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16, i32, i32:16, i32:16, i32:16, 0, False" -w 4 --ns 3 --experimental pointer-stores -t cuda:sm_90a -g 1,1,1 --emit tilegpu | FileCheck %s --check-prefix=THREADS
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32, i32:16, i32:16, i32:16, 0, True" -w 4 --ns 3 --experimental pointer-stores -t cuda:sm_90a -g 1,1,1 --emit tilegpu | FileCheck %s --check-prefix=THREADS
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32, i32:16, i32:16, i32:16, 8, False" -w 4 --ns 3 --experimental pointer-stores -t cuda:sm_90a -g 1,1,1 --emit tilegpu | FileCheck %s --check-prefix=THREADS
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32, i32:16, i32:16, i32:16, 0, False" -w 4 --ns 3 --experimental pointer-stores -t cuda:sm_80 -g 1,1,1 --emit tilegpu | FileCheck %s --check-prefix=OTHERS
# RUN: kiln compile %s -n product -s "*fp16:16, *fp16:16, *fp16:16, i32, i32:16, i32:16, i32:16, 0, False" -w 4 --ns 3 -t cuda:sm_90a -g 1,1,1 --emit tilegpu | FileCheck %s --check-prefix=THREADS
# ENGINE: tilegpu.tma_load
# ENGINE: tilegpu.shared_store
# ENGINE: tilegpu.proxy_fence
# ENGINE: tilegpu.tma_store {{.*}} : {{.*}}<128x64xf16>
# ENGINE-NOT: tile.store
# THREADS: tilegpu.tma_load
# THREADS-NOT: tma_store
# THREADS: tile.store
# OTHERS-NOT: tma_
# OTHERS: tile.store
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, stride_c, BEFORE: tl.constexpr, ADDS: tl.constexpr):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    j = tl.program_id(1) * 64 + tl.arange(0, 64)
    k = tl.arange(0, 64)
    sum = tl.zeros((128, 64), tl.float32)
    for first in range(0, K, 64):
        a = tl.load(a_ptr + i[:, None] * K + (first + k)[None, :], mask=(i < M)[:, None] & (first + k < K)[None, :], other=0.0)
        b = tl.load(b_ptr + j[None, :] * K + (first + k)[:, None], mask=(j < N)[None, :] & (first + k < K)[:, None], other=0.0)
        sum = tl.dot(a, b, sum)
    i -= BEFORE
    c = c_ptr + i[:, None] * stride_c + j[None, :]
    in_c = ((i >= 0) & (i < M))[:, None] & (j < N)[None, :]
    if ADDS:
        sum += tl.load(c, mask=in_c, other=0.0)
    tl.store(c, sum.to(tl.float16), mask=in_c)
