# Floats of 8 bits that no instruction converts become f16 by words: each two codes of a word that was loaded are put apart at once.
# RUN: kiln compile %s -n widen -s "*fp8e4b8:16, *fp16:16" -t hip:gfx1100 -w 1 --emit asm | FileCheck %s --check-prefixes CHECK,FNUZ
# RUN: kiln compile %s -n widen -s "*fp8e4nv:16, *fp16:16" -t hip:gfx1100 -w 1 --emit asm | FileCheck %s
# A loop carries them as words, too.
# RUN: kiln compile %s -n carried -s "*fp8e4nv:16, *fp16:16, i32" -t hip:gfx1100 -w 1 --emit asm | FileCheck %s
#
# CHECK-NOT: v_{{or|lshlrev|and|mov}}_b16
# CHECK-COUNT-2: v_perm_b32
# CHECK-NOT: v_{{or|lshlrev|and|mov}}_b16
# FNUZ-COUNT-2: v_pk_min_i16
# CHECK: v_pk_mul_f16
# CHECK: v_pk_mul_f16
# CHECK-NOT: v_{{or|lshlrev|and|mov}}_b16
# CHECK-NOT: v_perm_b32
# CHECK: store_b64
import triton
import triton.language as tl


@triton.jit
def widen(codes, halves):
    i = tl.arange(0, 128)
    tl.store(halves + i, tl.load(codes + i).to(tl.float16))


@triton.jit
def carried(codes, halves, n):
    i = tl.arange(0, 128)
    last = tl.load(codes + i)
    for k in range(n):
        next = tl.load(codes + 128 * k + i)
        tl.store(halves + 128 * k + i, last.to(tl.float16))
        last = next
