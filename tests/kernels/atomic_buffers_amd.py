# Atomic operations are accesses to buffers, which leave lanes out without branches, where the target has them.
# RUN: kiln compile %s -n add -s "*fp32:16, *fp32:16, i32, 1024" -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=SINGLES
# RUN: kiln compile %s -n add -s "*fp32:16, *fp32:16, i32, 1024" -t hip:gfx90a --device-memory --emit amdgcn | FileCheck %s --check-prefix=SINGLES
# RUN: kiln compile %s -n add -s "*fp32:16, *fp32:16, i32, 1024" -t hip:gfx1100 --device-memory --emit amdgcn | FileCheck %s --check-prefix=SINGLES
# RUN: kiln compile %s -n add -s "*fp32:16, *fp32:16, i32, 1024" -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefixes=SINGLES,SCOPE
# RUN: kiln compile %s -n add -s "*fp32:16, *fp32:16, i32, 1024" -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=PLAIN
# RUN: kiln compile %s -n add -s "*i32:16, *i32:16, i32, 1024" -t hip:gfx90a --emit amdgcn | FileCheck %s --check-prefix=WORDS
# RUN: kiln compile %s -n add -s "*i64:16, *i64:16, i32, 1024" -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=PAIRS-OF-WORDS
# RUN: kiln compile %s -n add -s "*fp64:16, *fp64:16, i32, 1024" -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=DOUBLES
# RUN: kiln compile %s -n add -s "*fp64:16, *fp64:16, i32, 1024" -t hip:gfx1100 --device-memory --emit amdgcn | FileCheck %s --check-prefix=PLAIN
# RUN: kiln compile %s -n add -s "*fp16:16, *fp16:16, i32:16, 1024" -t hip:gfx942 --device-memory --emit amdgcn | FileCheck %s --check-prefix=HALVES
# RUN: kiln compile %s -n add -s "*bf16:16, *bf16:16, i32:16, 1024" -t hip:gfx950 --device-memory --emit amdgcn | FileCheck %s --check-prefix=BFLOATS
# RUN: kiln compile %s -n add -s "*bf16:16, *bf16:16, i32:16, 1024" -t hip:gfx942 --device-memory --emit amdgcn | FileCheck %s --check-prefix=PLAIN
# RUN: kiln compile %s -n add -s "*fp16:16, *fp16:16, i32:16, 1024" -t hip:gfx1100 --device-memory --emit amdgcn | FileCheck %s --check-prefix=PLAIN
#
# A bound within a pair makes single additions, of which there are none of 16 bits.
# RUN: kiln compile %s -n add -s "*fp16:16, *fp16:16, i32, 1024" -t hip:gfx942 --device-memory --emit amdgcn | FileCheck %s --check-prefix=PLAIN
#
# With results, if no two threads want the same.
# RUN: kiln compile %s -n add_and_return -s "*fp32:16, *fp32:16, i32, 1024" -t hip:gfx942 --device-memory --emit amdgcn | FileCheck %s --check-prefix=RESULTS
# RUN: kiln compile %s -n add_and_return -s "*fp32:16, *fp32:16, i32, 16" -t hip:gfx942 --device-memory --emit amdgcn | FileCheck %s --check-prefix=PLAIN
#
# Neither for the whole system, nor next to plain accesses of the array.
# RUN: kiln compile %s -n add_for_all -s "*fp32:16, *fp32:16, i32, 1024" -t hip:gfx942 --device-memory --emit amdgcn | FileCheck %s --check-prefix=PLAIN
# RUN: kiln compile %s -n add_and_poll -s "*fp32:16, *fp32:16, i32, 1024" -t hip:gfx942 --device-memory --emit amdgcn | FileCheck %s --check-prefix=PLAIN
# RUN: kiln compile %s -n largest -s "*u32:16, *u32:16, i32, 1024" -t hip:gfx942 --device-memory --emit amdgcn | FileCheck %s --check-prefix=LARGEST
# RUN: kiln compile %s -n largest -s "*fp32:16, *fp32:16, i32, 1024" -t hip:gfx942 --device-memory --emit amdgcn | FileCheck %s --check-prefix=PLAIN
#
# SINGLES-NOT: {{s_cbranch|global_atomic}}
# SINGLES-COUNT-4: buffer_atomic_add_f32 {{.*}} offen
# SCOPE-NOT: buffer_atomic_add_f32 {{.*[0-9]$}}
# PLAIN-NOT: buffer_atomic
# PLAIN: global_atomic
# PLAIN-NOT: buffer_atomic
# WORDS-NOT: {{s_cbranch_exec|global_atomic}}
# WORDS-COUNT-4: buffer_atomic_add v
# PAIRS-OF-WORDS-NOT: {{s_cbranch|global_atomic}}
# PAIRS-OF-WORDS-COUNT-8: buffer_atomic_add_u64
# DOUBLES-NOT: {{s_cbranch_exec|global_atomic}}
# DOUBLES-COUNT-4: buffer_atomic_add_f64
# HALVES-NOT: {{s_cbranch_exec|global_atomic}}
# HALVES-COUNT-2: buffer_atomic_pk_add_f16
# BFLOATS-NOT: {{s_cbranch_exec|global_atomic}}
# BFLOATS-COUNT-2: buffer_atomic_pk_add_bf16
# RESULTS-NOT: {{s_cbranch_exec|global_atomic}}
# RESULTS-COUNT-4: buffer_atomic_add_f32 {{.*}} sc0
# LARGEST-NOT: {{s_cbranch_exec|global_atomic}}
# LARGEST-COUNT-4: buffer_atomic_umax
import triton
import triton.language as tl


@triton.jit
def add(y, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y + i, tl.load(x + i, mask=i < n), mask=i < n, sem="relaxed")


@triton.jit
def add_for_all(y, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y + i, tl.load(x + i, mask=i < n), mask=i < n, sem="relaxed", scope="sys")


@triton.jit
def add_and_return(y, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.atomic_add(y + i, tl.load(x + i, mask=i < n), mask=i < n, sem="relaxed"), mask=i < n)


@triton.jit
def add_and_poll(y, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y + i, tl.load(x + i, mask=i < n), mask=i < n, sem="relaxed")
    tl.store(x + i, tl.load(y + i, mask=i < n, volatile=True), mask=i < n)


@triton.jit
def largest(y, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(y + i, tl.load(x + i, mask=i < n), mask=i < n, sem="relaxed")
