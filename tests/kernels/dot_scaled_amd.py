# Numbers of 4 and 8 bits beside bf16: gfx950 widens two of them times their scale by one instruction, taking bytes where a word has them.
# RUN: kiln compile %s -n product -s "*bf16:16, *u8:16, *u8:16, *fp32:16, 'e2m1', 2" -t hip:gfx950 --emit asm | FileCheck %s --check-prefixes PAIRS,SCALED --implicit-check-not "v_pk_mul_f32"
# RUN: kiln compile %s -n product -s "*bf16:16, *u8:16, *u8:16, *fp32:16, 'e4m3', 1" -t hip:gfx950 --emit asm | FileCheck %s --check-prefixes BYTES,SCALED --implicit-check-not "v_pk_mul_f32"
# Others have no such instructions.
# RUN: kiln compile %s -n product -s "*bf16:16, *u8:16, *u8:16, *fp32:16, 'e2m1', 2" -t hip:gfx942 --emit asm | FileCheck %s --check-prefix NONE
#
# SCALED: v_lshlrev_b32{{.*}} 23,
# PAIRS-DAG: v_cvt_scalef32_pk_bf16_fp4 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+$}}
# PAIRS-DAG: v_cvt_scalef32_pk_bf16_fp4 {{.*}} op_sel:[1,0,0]
# PAIRS-DAG: v_cvt_scalef32_pk_bf16_fp4 {{.*}} op_sel:[0,1,0]
# PAIRS-DAG: v_cvt_scalef32_pk_bf16_fp4 {{.*}} op_sel:[1,1,0]
# BYTES-DAG: v_cvt_scalef32_pk_bf16_fp8 v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+$}}
# BYTES-DAG: v_cvt_scalef32_pk_bf16_fp8 {{.*}} op_sel:[1,0,0]
# NONE-NOT: v_cvt_scalef32
import triton
import triton.language as tl


@triton.jit
def product(a, b, scales, c, FORMAT: tl.constexpr, NUMBERS: tl.constexpr):
    m, k, n = tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, 64)
    bytes = tl.arange(0, 64 // NUMBERS)
    x = tl.load(a + m[:, None] * 64 + k[None, :])
    y = tl.load(b + n[None, :] * (64 // NUMBERS) + bytes[:, None])
    s = tl.load(scales + n[:, None] * 2 + tl.arange(0, 2)[None, :])
    tl.store(c + m[:, None] * 64 + n[None, :], tl.dot_scaled(x, None, "bf16", y, s, FORMAT))
