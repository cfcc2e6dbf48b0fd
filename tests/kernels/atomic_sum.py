# Sums whose results nobody uses are additions to memory of as many neighbours as the target takes at once.
# RUN: kiln compile %s -n add_all -s "*fp16:16, *fp16:16, 1024" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=HALVES
# RUN: kiln compile %s -n add_all -s "*bf16:16, *bf16:16, 1024" -t cuda:sm_100a --emit ptx | FileCheck %s --check-prefix=BFLOATS
# RUN: kiln compile %s -n add_all -s "*fp32:16, *fp32:16, 1024" -t cuda:sm_120a --emit ptx | FileCheck %s --check-prefix=SINGLES
# RUN: kiln compile %s -n add_all -s "*fp16:16, *fp16:16, 1024" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefix=PAIRS
# RUN: kiln compile %s -n add_all -s "*fp16:16, *fp16:16, 1024" -t cuda:sm_86 --emit ptx | FileCheck %s --check-prefix=PAIRS
# RUN: kiln compile %s -n add_all -s "*fp32:16, *fp32:16, 1024" -t cuda:sm_89 --emit ptx | FileCheck %s --check-prefix=ONE
# RUN: kiln compile %s -n add_all -s "*fp16, *fp16, 1024" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=UNALIGNED
# RUN: kiln compile %s -n add -s "*fp16:16, *fp16:16, i32:16, 1024" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=BOUND
# RUN: kiln compile %s -n add -s "*fp16:16, *fp16:16, i32, 1024" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=STRADDLE
# RUN: kiln compile %s -n add_few -s "*fp16:16, *fp16:16, 64" -t cuda:sm_80 --emit ptx | FileCheck %s --check-prefix=OWNED
# RUN: kiln compile %s -n add_few -s "*fp16:16, *fp16:16, 256" -t cuda:sm_86 --emit ptx | FileCheck %s --check-prefix=FEW
# RUN: kiln compile %s -n add_and_return -s "*fp16:16, *fp16:16, 1024" -t cuda:sm_90a --emit ptx | FileCheck %s --check-prefix=RESULT
# RUN: kiln compile %s -n add_at_one_place -s "*bf16:16, *bf16:16, i32, 64" -t cuda:sm_80 -w 1 --emit ptx | FileCheck %s --check-prefix=LOOP
#
# HALVES-NOT: {{atom\.|cas}}
# HALVES: red.relaxed.gpu.global.add.noftz.v4.f16x2
# BFLOATS: red.relaxed.gpu.global.add.noftz.v4.bf16x2
# SINGLES-COUNT-2: red.relaxed.gpu.global.add.v4.f32
# SINGLES-NOT: bra
# PAIRS-NOT: {{atom\.|bra}}
# PAIRS-COUNT-4: red.relaxed.gpu.global.add.noftz.f16x2
# ONE-NOT: {{atom\.|bra}}
# ONE-COUNT-8: red.relaxed.gpu.global.add.f32
# UNALIGNED: red.relaxed.gpu.global.add.noftz.f16 [
#
# Under a bound that is a multiple of the vector's length the vector has one predicate.
# BOUND-NOT: bra
# BOUND: @%p{{[0-9]+}} red.relaxed.gpu.global.add.noftz.v4.f16x2
#
# Where a bound may end within a vector, the thread in which it does adds element by element.
# STRADDLE: bra
# STRADDLE: @%p{{[0-9]+}} red.relaxed.gpu.global.add.noftz.f16 [
# STRADDLE: @%p{{[0-9]+}} red.relaxed.gpu.global.add.noftz.v4.f16x2
#
# Pairs, also where there are more threads than elements.
# FEW-NOT: noftz.f16 [
# FEW: red.relaxed.gpu.global.add.noftz.f16x2
# FEW-NOT: noftz.f16 [
# OWNED-NOT: noftz.f16 [
# OWNED: @%p{{[0-9]+}} red.relaxed.gpu.global.add.noftz.f16x2
# OWNED-NOT: noftz.f16 [
#
# Each attempt of the loop of compare-and-swap adds to what it has found, at a word's beginning, too.
# LOOP: {{^}}$L__BB0_{{[0-9]+}}:
# LOOP-NOT: cas
# LOOP: cvt.u16.u32 [[OLD:%rs[0-9]+]],
# LOOP: fma.rn.bf16 {{.*}}, [[OLD]],
# LOOP: cas.b32
#
# RESULT-NOT: red.
# RESULT: atom{{.*}}f16
import triton
import triton.language as tl


@triton.jit
def add(y, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y + i, tl.load(x + i, mask=i < n), mask=i < n, sem="relaxed")


@triton.jit
def add_all(y, x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(y + i, tl.load(x + tl.program_id(0) * BLOCK + i), sem="relaxed")


@triton.jit
def add_few(y, x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    rows = tl.load(x + tl.arange(0, 32)[:, None] * BLOCK + i[None, :])
    tl.atomic_add(y + i, tl.sum(rows.to(tl.float32), axis=0).to(tl.float16), sem="relaxed")


@triton.jit
def add_and_return(y, x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.atomic_add(y + i, tl.load(x + i), sem="relaxed"))


@triton.jit
def add_at_one_place(y, x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(y + (i * 0 + n - n), tl.load(x + i), sem="release")
