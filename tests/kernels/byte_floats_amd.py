# Floats of 8 bits, in the formats of AMD's matrix units: two at a time, by instructions.
# RUN: kiln compile %s -n convert -s "*fp8e4nv:16, *fp8e5:16, *fp32:16" -t hip:gfx950 --emit asm | FileCheck %s
# RUN: kiln compile %s -n convert -s "*fp8e4nv:16, *fp8e5:16, *fp32:16" -t hip:gfx1201 --emit asm | FileCheck %s
# RUN: kiln compile %s -n convert -s "*fp8e4b8:16, *fp8e5b16:16, *fp32:16" -t hip:gfx942 --emit asm | FileCheck %s
# The other formats, and older processors, have none.
# RUN: kiln compile %s -n convert -s "*fp8e4nv:16, *fp8e5:16, *fp32:16" -t hip:gfx942 --emit asm | FileCheck %s --check-prefix NONE
# RUN: kiln compile %s -n convert -s "*fp8e4nv:16, *fp8e5:16, *fp32:16" -t hip:gfx1100 --emit asm | FileCheck %s --check-prefix NONE
import triton
import triton.language as tl


# CHECK: v_cvt_pk_f32_fp8
# CHECK: v_cvt_pk_bf8_f32
# NONE-NOT: {{(fp|bf)8}}_f32
# NONE-NOT: f32_{{(fp|bf)8}}
@triton.jit
def convert(x, y, z):
    i = tl.arange(0, 512)
    numbers = tl.load(x + i).to(tl.float32)
    tl.store(y + i, (numbers * tl.load(z + i)).to(y.dtype.element_ty))
