# What loops of products become where threads bring their operands: AMD.
# RUN: kiln compile %s -n scaled -s "*fp16:16, *fp16:16, *fp32:16, *fp32:16, i32" -t hip:gfx942 -ns 2 --emit tilegpu | FileCheck %s --check-prefix=SCALED
# RUN: kiln compile %s -n two_steps -s "*fp16:16, *fp16:16, *fp32:16" -t hip:gfx942 -ns 2 --emit tilegpu | FileCheck %s --check-prefix=STEPS
# RUN: kiln compile %s -n recurrence -s "*bf16:16, *fp32:16, i32" -t hip:gfx942 -ns 2 --emit tilegpu | FileCheck %s --check-prefix=RECURRENCE
# RUN: kiln compile %s -n narrow -s "*fp32:16, *bf16:16" -t hip:gfx942 --emit asm | FileCheck %s --check-prefix=ROUNDED
# RUN: kiln compile %s -n narrow -s "*fp32:16, *bf16:16" -t hip:gfx1100 --emit asm | FileCheck %s --check-prefix=ROUNDED
# RUN: kiln compile %s -n narrow -s "*fp32:16, *bf16:16" -t hip:gfx950 --emit asm | FileCheck %s --check-prefix=CONVERTED
# RUN: kiln compile %s -n edge -s "*fp16:16, *fp16:16, i32, i32:16" -t hip:gfx942 --emit llvm | FileCheck %s --check-prefix=EDGE
# RUN: kiln compile %s -n edge -s "*fp16:16, *fp16:16, i32, i32:16" -t cuda:sm_80 --emit llvm | FileCheck %s --check-prefix=BRANCH
# RUN: kiln compile %s -n tile -s "*fp16:16, *fp16:16, *fp16:16, i32, 128, 64" -t hip:gfx1100 -w 4 -ns 2 --emit llvmir | FileCheck %s --check-prefix=LATENCIES
# RUN: kiln compile %s -n tile -s "*fp16:16, *fp16:16, *fp32:16, i32, 128, 64" -t hip:gfx1100 -w 4 -ns 2 --emit llvmir | FileCheck %s --check-prefix=LATENCIES
# RUN: kiln compile %s -n tile -s "*fp16:16, *fp16:16, *fp32:16, i32, 32, 32" -t hip:gfx1100 -w 4 -ns 2 --emit llvmir | FileCheck %s --check-prefix=WAVES
# RUN: kiln compile %s -n wide -s "*fp16:16, *fp16:16, *fp16:16, i32:16, 256" -t hip:gfx942 -w 4 -ns 2 --emit asm | FileCheck %s --check-prefix=BLOCKS
# RUN: kiln compile %s -n wide -s "*fp16:16, *fp16:16, *fp16:16, i32:16, 128" -t hip:gfx1100 -w 4 -ns 2 --emit asm | FileCheck %s --check-prefix=BLOCKS
# RUN: kiln compile %s -n tile -s "*fp16:16, *fp16:16, *fp32:16, i32, 64, 64" -t hip:gfx1100 -w 4 -ns 2 --emit llvmir | FileCheck %s --check-prefix=EIGHT
# RUN: kiln compile %s -n tile -s "*fp16:16, *fp16:16, *fp32:16, i32, 128, 32" -t hip:gfx1201 -w 4 -ns 2 --emit llvmir | FileCheck %s --check-prefix=SEVEN
# RUN: kiln compile %s -n rows -s "*fp16:16, *fp16:16, *fp32:16" -t hip:gfx1100 -w 4 -ns 2 --emit tilegpu | FileCheck %s --check-prefix=LANES
# RUN: kiln compile %s -n once -s "*fp16:16, *fp16:16, *fp16:16, i32:16" -t hip:gfx1100 -w 4 -ns 2 --emit llvmir | FileCheck %s --check-prefix=SHORTER
# RUN: kiln compile %s -n gated -s "*fp16:16, *fp16:16, *fp16:16" -t hip:gfx1100 -w 8 -ns 2 --small-arrays --emit asm | FileCheck %s --check-prefix=AHEAD
# RUN: kiln compile %s -n behind_a_float -s "*fp16:16, *fp16:16, *fp16:16" -t hip:gfx950 -w 4 -ns 2 --emit hsaco -o %t.hsaco
# RUN: kiln compile %s -n behind_a_float -s "*fp16:16, *fp16:16, *fp16:16" -t hip:gfx950 -w 4 -ns 2 --emit asm | FileCheck %s --check-prefix=COPIED
# RUN: kiln compile %s -n tile -s "*fp16:16, *fp16:16, *fp32:16, i32, 128, 64" -t hip:gfx950 -w 4 -ns 2 --emit llvmir | FileCheck %s --check-prefix=NUMBER
# RUN: kiln compile %s -n singles -s "*fp16:16, *fp16:16, *fp32:16, i32" -t hip:gfx942 -w 4 -ns 2 --emit tilegpu | FileCheck %s --check-prefix=FOURS
# RUN: kiln compile %s -n singles -s "*fp16:16, *fp16:16, *fp32:16, i32" -t hip:gfx950 -w 4 -ns 2 --emit tilegpu | FileCheck %s --check-prefix=EIGHTS
#
# Beside the operands' tiles the next iteration's row of scales is loaded, and carried.
# SCALED: scf.for {{.*}} iter_args({{.*}}) -> ({{.*}}tensor<64xf32
# SCALED: tilegpu.buffer_load {{.*}} -> tensor<64xf32
# SCALED: tilegpu.shared_load
# SCALED-NOT: tilegpu.buffer_load
# SCALED: scf.yield
#
# Behind a loop of two iterations stands the second: it stores nothing to shared memory, and loads nothing.
# STEPS: scf.for
# STEPS: tilegpu.dot
# STEPS: scf.yield
# STEPS-NOT: {{tile.load|tilegpu.buffer_load|tilegpu.shared_store}}
# STEPS: tilegpu.shared_load
# STEPS-NOT: {{tile.load|tilegpu.buffer_load|tilegpu.shared_store}}
# STEPS: tilegpu.dot
#
# A sum that is the next product's operand is rounded where it is, before it changes hands.
# RECURRENCE: #[[SUM:layout[0-9]*]] = #tilegpu.layout<"register: 0,1 0,2 0,16 0,32;
# RECURRENCE: scf.for {{.*}} iter_args(%[[STATE:[a-z0-9]+]] = {{.*}} -> (tensor<64x64xf32, #[[SUM]]>
# RECURRENCE: %[[NARROW:.*]] = arith.truncf %[[STATE]] : tensor<64x64xf32, #[[SUM]]> to tensor<64x64xbf16, #[[SUM]]>
# RECURRENCE: {{(tilegpu.shared_store|tilegpu.convert_layout)}} %[[NARROW]]
# RECURRENCE: tilegpu.dot
#
# Two at a time where there is no instruction for it: nothing is compared.
# ROUNDED-NOT: v_cmp
# ROUNDED: v_pk_max_u16
# ROUNDED-NOT: v_cmp
# ROUNDED: s_endpgm
# CONVERTED: v_cvt_pk_bf16_f32
#
# A row that ends anywhere: on AMD a thread reads its vector, and keeps what is there; elsewhere it asks which way to go.
# EDGE-NOT: llvm.cond_br
# EDGE: tilegpu.global_load {{.*}} elements {{.*}} -> vector<8xf16>
# BRANCH: llvm.cond_br
# BRANCH: tilegpu.global_load {{.*}} -> f16
#
# Shared memory has room for two blocks, whatever registers threads have: all of them, so that reads come ahead of products. Else fewer registers are more blocks.
# LATENCIES: attributes {{.*}}"amdgpu-sched-strategy"="max-ilp"
# WAVES-NOT: amdgpu-sched-strategy
#
# Rows that lanes exchange on their way to a product are loaded an iteration ahead as they are, also of four iterations, which are done by twos and of which the last ones stand behind the loop.
# LANES-COUNT-4: tilegpu.buffer_load
# LANES: scf.for
# LANES-COUNT-4: tilegpu.buffer_load
# LANES: tilegpu.convert_layout {{.*}} : tensor<64x16xf16, #{{.*}}> -> tensor<64x16xf16, #{{[a-z0-9]+}}>{{$}}
# LANES-NOT: tilegpu.buffer_load
# LANES: scf.yield
# LANES-NOT: tilegpu.buffer_load
#
# Code without a loop waits once for what is loaded where it is ordered for latencies, and is for as many waves.
# SHORTER: attributes {{.*}}"amdgpu-sched-strategy"="max-ilp"
#
# Ordered for latencies, with the registers that seven blocks leave, and eight.
# SEVEN: attributes {{.*}}"amdgpu-num-vgpr"="216" "amdgpu-sched-strategy"="max-ilp"
# EIGHT: attributes {{.*}}"amdgpu-num-vgpr"="192" "amdgpu-sched-strategy"="max-ilp"
#
# A few registers less are a third block on a processor, or, ordered for latencies, a ninth: 168 at most, and none spilled.
# BLOCKS: .vgpr_count: {{ *(1[0-5][0-9]|16[0-8])$}}
# BLOCKS: .vgpr_spill_count: {{ *0$}}
#
# Loads that a thread may lack registers for, by the estimate, and does not: both of the second operands run ahead, and have their places in shared memory.
# AHEAD: .group_segment_fixed_size: 40960
# AHEAD: .vgpr_spill_count: {{ *0$}}
#
# A base that lanes compute, as floats are: copies have it in scalar registers, which scalar instructions write.
# COPIED: v_readfirstlane
# COPIED: s_mov_b64 s[96:97], s[
# COPIED-NEXT: s_mov_b64 s[98:99], s[
# COPIED-NEXT: buffer_load_dwordx4 v{{[0-9]+}}, s[96:99], 0 offen lds
#
# Which of the block's warps copies is known once, in front of the loop.
# NUMBER: %[[THREAD:[0-9]+]] = {{.*}}@llvm.amdgcn.workitem.id.x
# NUMBER-NEXT: call i32 @llvm.amdgcn.readfirstlane.i32(i32 %[[THREAD]])
# NUMBER-NOT: readfirstlane.i32(i32 %[[THREAD]])
# NUMBER-COUNT-16: {{(global_load_lds|buffer_load)}}_dwordx4
# NUMBER-NOT: readfirstlane.i32(i32 %[[THREAD]])
#
# Neighbours a run-time stride apart are loaded one by one: a thread has those that a lane of the unit multiplies at once, also where others take what is loaded.
# FOURS-DAG: #[[B:layout[0-9]*]] = #tilegpu.layout<"register: 1,0 2,0 {{.*}} -> 32x64">
# FOURS: tile.load {{.*}} -> tensor<32x64xf16, #[[B]]>
# EIGHTS-DAG: #[[B:layout[0-9]*]] = #tilegpu.layout<"register: 1,0 2,0 4,0; {{.*}} -> 32x64">
# EIGHTS: tile.load {{.*}} -> tensor<32x64xf16, #[[B]]>
import triton
import triton.language as tl

@triton.jit
def behind_a_float(a, b, out):
    first = (tl.program_id(0).to(tl.float32) * 0.125).to(tl.int32) * 128
    rows, columns, ks = tl.arange(0, 128)[:, None], tl.arange(0, 128)[None, :], tl.arange(0, 64)
    total = tl.zeros([128, 128], tl.float32)
    for k in range(0, 4096, 64):
        x = tl.load(a + (first + rows) * 4096 + k + ks[None, :])
        y = tl.load(b + columns * 4096 + k + ks[:, None])
        total = tl.dot(x, y, total)
    tl.store(out + (first + rows) * 128 + columns, total.to(tl.float16))

@triton.jit
def scaled(a, b, scales, out, n):
    rows, columns = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    total = tl.zeros([64, 64], tl.float32)
    for i in range(n):
        x = tl.load(a + i * 4096 + rows * 64 + columns)
        y = tl.load(b + i * 4096 + rows * 64 + columns)
        total += tl.dot(x, y) * tl.load(scales + i * 64 + tl.arange(0, 64))[:, None]
    tl.store(out + rows * 64 + columns, total)

@triton.jit
def two_steps(a, b, out):
    rows, columns = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    total = tl.zeros([64, 64], tl.float32)
    for i in range(2):
        x = tl.load(a + i * 4096 + rows * 64 + columns)
        y = tl.load(b + i * 4096 + rows * 64 + columns)
        total = tl.dot(x, y, total)
    tl.store(out + rows * 64 + columns, total)

@triton.jit
def recurrence(a, out, n):
    rows, columns = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    state = tl.zeros([64, 64], tl.float32) + 1
    for i in range(n):
        x = tl.load(a + i * 4096 + rows * 64 + columns)
        state = tl.dot(x, state.to(tl.bfloat16))
    tl.store(out + rows * 64 + columns, state)

@triton.jit
def narrow(a, out):
    i = tl.arange(0, 1024)
    tl.store(out + i, (tl.load(a + i) * 3).to(tl.bfloat16))

@triton.jit
def edge(a, out, n, stride):
    rows, columns = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    tile = tl.load(a + rows * stride + columns, mask=columns < n, other=0)
    tl.store(out + rows * 64 + columns, tile + 1)

@triton.jit
def tile(a, b, out, n, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    i, j, l = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :], tl.arange(0, DEPTH)
    total = tl.zeros([SIZE, SIZE], tl.float32)
    for t in range(n):
        x = tl.load(a + i * n * DEPTH + t * DEPTH + l[None, :])
        y = tl.load(b + (t * DEPTH + l[:, None]) * SIZE + j)
        total = tl.dot(x, y, total)
    tl.store(out + i * SIZE + j, total)

@triton.jit
def wide(a, b, out, n, SIZE: tl.constexpr):
    i, j, l = tl.arange(0, 64)[:, None], tl.arange(0, SIZE)[None, :], tl.arange(0, 32)
    total = tl.zeros([64, SIZE], tl.float32)
    for t in range(n):
        x = tl.load(a + i * n * 32 + t * 32 + l[None, :])
        y = tl.load(b + (t * 32 + l[:, None]) * SIZE + j)
        total = tl.dot(x, y, total)
    tl.store(out + i * SIZE + j, total.to(tl.float16))

@triton.jit
def rows(q, k, out):
    i, l = tl.arange(0, 64), tl.arange(0, 16)
    total = tl.zeros([64, 64], tl.float32)
    for t in range(0, 64, 16):
        x = tl.load(q + i[:, None] * 64 + t + l[None, :])
        y = tl.load(k + i[:, None] * 64 + t + l[None, :])
        total += tl.dot(x, tl.trans(y))
    tl.store(out + i[:, None] * 64 + i[None, :], total)

@triton.jit
def once(a, b, out, n):
    i, j = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    x = tl.load(a + i * n + j, mask=i < n, other=0)
    y = tl.load(b + i * n + j, mask=i < n, other=0)
    tl.store(out + i * n + j, tl.dot(x, tl.trans(y)).to(tl.float16), mask=i < n)


@triton.jit
def singles(pa, pb, pc, stride):
    i = tl.arange(0, 64)
    k = tl.arange(0, 32)
    sum = tl.zeros((64, 64), tl.float32)
    all = tl.zeros((32, 64), tl.float32)
    for step in range(0, 8):
        a = tl.load(pa + i[:, None] * 256 + (k + step * 32)[None, :])
        b = tl.load(pb + i[None, :] * stride + (k + step * 32)[:, None] * stride * 64)
        sum += tl.dot(a, b * 2)
        all += b
    tl.store(pc + i[:, None] * 64 + i[None, :], sum + tl.sum(all))


@triton.jit
def gated(x, w, out):
    m = tl.arange(0, 64)
    n = tl.arange(0, 128)
    k = tl.arange(0, 64)
    gate = tl.zeros((64, 128), dtype=tl.float32)
    up = tl.zeros((64, 128), dtype=tl.float32)
    for start in range(0, 2048, 64):
        rows = tl.load(x + m[:, None] * 2048 + start + k[None, :])
        first = w + n[:, None] * 2048 + start + k[None, :]
        gate = tl.dot(rows, tl.trans(tl.load(first)), acc=gate)
        up = tl.dot(rows, tl.trans(tl.load(first + 128 * 2048)), acc=up)
    tl.store(out + m[:, None] * 128 + n[None, :], (gate * tl.sigmoid(gate) * up).to(tl.float16))
