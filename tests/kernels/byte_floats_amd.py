# Floats of 8 bits, in the formats of AMD's matrix units: two at a time, by instructions, with numbers bounded and NaNs seen to.
# RUN: kiln compile %s -n convert -s "*fp8e4nv:16, *fp8e5:16, *fp16:16" -t hip:gfx950 --emit asm | FileCheck %s
# RUN: kiln compile %s -n convert -s "*fp8e4nv:16, *fp8e5:16, *fp16:16" -t hip:gfx1201 --emit asm | FileCheck %s
# RUN: kiln compile %s -n convert -s "*fp8e4b8:16, *fp8e5b16:16, *fp16:16" -t hip:gfx942 --emit asm | FileCheck %s
# The other formats, and older processors, have none.
# RUN: kiln compile %s -n convert -s "*fp8e4nv:16, *fp8e5:16, *fp16:16" -t hip:gfx942 --emit asm | FileCheck %s --check-prefix NONE
# RUN: kiln compile %s -n convert -s "*fp8e4nv:16, *fp8e5:16, *fp16:16" -t hip:gfx1100 --emit asm | FileCheck %s --check-prefix NONE
#
# CHECK-DAG: v_cvt_pk_f32_fp8_e32
# Of a word that was loaded each half is converted where it is.
# CHECK-DAG: v_cvt_pk_f32_fp8_{{.*(WORD_1|op_sel:\[1,0\])}}
# CHECK-DAG: v_cvt_pk_f32_bf8
# CHECK-DAG: v_min_{{(num_)?}}f32
# CHECK-DAG: v_cmp_u_f32
# CHECK-DAG: v_cvt_pk_fp8_f32
# CHECK-DAG: v_cvt_pk_bf8_f32
# NONE-NOT: {{(fp|bf)8}}_f32
# NONE-NOT: f32_{{(fp|bf)8}}
import triton
import triton.language as tl


@triton.jit
def convert(x, y, halves):
    i = tl.arange(0, 1024)
    a = tl.load(x + i).to(tl.float32)
    b = tl.load(y + i)
    tl.store(halves + i, b.to(tl.float16))
    tl.store(x + 1024 + i, (a * 3).to(x.dtype.element_ty))
    tl.store(y + 1024 + i, (a * 5).to(y.dtype.element_ty))
