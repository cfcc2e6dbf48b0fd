# Weights of 4 bits that lie 16 bits apart in a word, as AWQ's neighbours do, become f16 two at a time, less their zeros: below 1024, without a conversion.
# RUN: kiln compile %s -n unpack -s "*i32:16, *i32:16, *fp16:16, *fp16:16" -t hip:gfx90a --emit asm | FileCheck %s --check-prefixes CHECK,CDNA
# RUN: kiln compile %s -n unpack -s "*i32:16, *i32:16, *fp16:16, *fp16:16" -t hip:gfx942 --emit asm | FileCheck %s --check-prefixes CHECK,CDNA
# RUN: kiln compile %s -n unpack -s "*i32:16, *i32:16, *fp16:16, *fp16:16" -t hip:gfx1100 --emit asm | FileCheck %s --check-prefixes CHECK,RDNA
#
# CHECK-NOT: v_cvt
# CDNA: v_and_b32{{.*}} 0xf000f,
# CDNA: v_or_b32{{.*}} 0x64006400,
# RDNA: v_and_or_b32
# CHECK: v_pk_add_f16 {{.*}} neg_lo:[0,1] neg_hi:[0,1]
# CHECK-NOT: v_cvt
# CHECK: s_endpgm
import triton
import triton.language as tl


@triton.jit
def unpack(weights, zeros, scales, out):
    i, j = tl.arange(0, 256)[:, None], tl.arange(0, 8)[None, :]
    shifts = (j % 2 * 4 + j // 2) * 4
    number = ((tl.load(weights + i) >> shifts) & 0xF) - ((tl.load(zeros + i) >> shifts) & 0xF)
    tl.store(out + i * 8 + j, number.to(tl.float16) * tl.load(scales + i * 8 + j))
