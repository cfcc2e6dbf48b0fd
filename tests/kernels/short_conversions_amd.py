# Integers of a few bits become f16 by one instruction, without f32 between, or two at a time without one, where a thread has numbers that lie 16 bits apart in a word.
# RUN: kiln compile %s -n unpack -s "*i32:16, *i32:16, *fp16:16, *fp16:16" -t hip:gfx90a --emit asm | FileCheck %s
# RUN: kiln compile %s -n unpack -s "*i32:16, *i32:16, *fp16:16, *fp16:16" -t hip:gfx942 --emit asm | FileCheck %s
# RUN: kiln compile %s -n unpack -s "*i32:16, *i32:16, *fp16:16, *fp16:16" -t hip:gfx1100 --emit asm | FileCheck %s --check-prefix PAIRS
# RUN: kiln compile %s -n whole -s "*i32:16, *fp16:16" -t hip:gfx942 --emit asm | FileCheck %s --check-prefix WHOLE
#
# CHECK-NOT: v_cvt_f32
# CHECK: v_cvt_f16_i16
# CHECK-NOT: v_cvt_f32
# PAIRS-NOT: v_cvt_
# PAIRS: v_pk_add_f16
# PAIRS-NOT: v_cvt_
# PAIRS: s_endpgm
# WHOLE: v_cvt_f32_i32
# WHOLE: v_cvt_f16_f32
import triton
import triton.language as tl


@triton.jit
def unpack(weights, zeros, scales, out):
    i = tl.arange(0, 1024)
    shifts = i % 8 * 4
    number = ((tl.load(weights + i // 8) >> shifts) & 0xF) - ((tl.load(zeros + i // 8) >> shifts) & 0xF)
    tl.store(out + i, number.to(tl.float16) * tl.load(scales + i))


@triton.jit
def whole(x, out):
    i = tl.arange(0, 1024)
    tl.store(out + i, tl.load(x + i).to(tl.float16))
