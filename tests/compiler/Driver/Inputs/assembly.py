# Assembly that names what only threads have.
import triton
import triton.language as tl


@triton.jit
def lanes(out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    lane = tl.inline_asm_elementwise("mov.u32 $0, %laneid; // of $1", "=r,r", [i], tl.int32, True, 1)
    tl.store(out_ptr + i, lane)


@triton.jit
def scalars(out_ptr):
    thread, warp = tl.inline_asm_elementwise(
        "mov.u32 $0, %tid.x; mov.u32 $1, %warpid;", "=r,=r", [], (tl.int32, tl.int32), True, 1)
    tl.inline_asm_elementwise("{ .reg .pred p; setp.eq.u32 p, $1, $3; @p st.global.release.sys.u32 [$2], $1; mov.u32 $0, 0; }",
                              "=r,r,l,n", [thread, out_ptr, 5], tl.int32, False, 1)
    tl.store(out_ptr + 1, warp)


@triton.jit
def halves(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise("{ .reg .b32 unused; mov.b32 unused, %lanemask_lt; neg.f16x2 $0, $1; }", "=r,r", [x], tl.float16, False, 2)
    z = tl.inline_asm_elementwise("{ .reg .b32 unused; mov.b32 unused, %lanemask_lt; add.f32 $0, $1, $2; }", "=f,f,f",
                                  [y.to(tl.float32), x.to(tl.float32)], tl.float32, True, 1)
    tl.store(out_ptr + i, z)


@triton.jit
def of_amd(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = tl.inline_asm_elementwise("v_add_u32 $0, $1, $1", "=v,v", [tl.load(x_ptr + i)], tl.int32, True, 1)
    tl.store(out_ptr + i, y)



@triton.jit
def given(x_ptr, BLOCK: tl.constexpr, TEXT: tl.constexpr, CONSTRAINTS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [tl.load(x_ptr + i)], tl.int32, True, 1)
    tl.store(x_ptr + i, y)
