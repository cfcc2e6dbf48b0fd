# Products that no matrix unit takes: f32 on RDNA.
# RUN: kiln compile %s -n multiply -s "*fp32:16, *fp32:16, *fp32:16, i32:16, i32:16, 32, 64, 64" -t hip:gfx1100 -w 4 -ns 2 --emit tilegpu | FileCheck %s --check-prefix=AHEAD
# RUN: kiln compile %s -n multiply -s "*fp32:16, *fp32:16, *fp32:16, i32:16, i32:16, 32, 64, 64" -t hip:gfx1100 -w 4 -ns 2 --emit asm | FileCheck %s --check-prefix=STEPS
# RUN: kiln compile %s -n multiply -s "*fp32:16, *fp32:16, *fp32:16, i32:16, i32:16, 32, 64, 64" -t hip:gfx1201 -w 4 -ns 2 --emit asm | FileCheck %s --check-prefix=STEPS
#
# What a thread takes, 512 numbers, it has no room for: the next tile, which is loaded ahead, is stored when all of it has been read and multiplied.
# AHEAD: scf.for
# AHEAD: tile.load
# AHEAD: tilegpu.barrier
# AHEAD: tilegpu.shared_load
# AHEAD-NOT: tilegpu.barrier
# AHEAD: tilegpu.dot
# AHEAD: tilegpu.barrier
# AHEAD: tilegpu.shared_store
# AHEAD: scf.yield
#
# It is read a step ahead of what takes it, and two multiply-adds are one instruction.
# STEPS-NOT: scratch_
# STEPS: v_dual_fmac_f32 {{.*}} :: v_dual_fmac_f32
# STEPS-NOT: scratch_
# STEPS: s_endpgm
# STEPS-NOT: scratch_
import triton
import triton.language as tl


@triton.jit
def multiply(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    l = tl.arange(0, K)
    pa = a + i[:, None] * k + l[None, :]
    pb = b + l[:, None] + j[None, :] * k
    sum = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        sum = tl.dot(tl.load(pa), tl.load(pb), sum, input_precision="ieee")
        pa += K
        pb += K
    tl.store(c + i[:, None] * n + j[None, :], sum)
