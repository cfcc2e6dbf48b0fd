import triton
import triton.language as tl


@triton.jit
def product_kernel(a, b, c, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr, DOUBLES: tl.constexpr = False):
    """c = a b of one block of M x N: a is M x K, b is K x N, K a multiple of STEP. Or twice that, doubled by assembly."""
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, STEP)
    product = tl.zeros((M, N), tl.float32)
    for k in range(0, K, STEP):
        x = tl.load(a + rows[:, None] * K + k + inner[None, :])
        y = tl.load(b + (k + inner[:, None]) * N + columns[None, :])
        product = tl.dot(x, y, product)
    if DOUBLES:
        product = tl.inline_asm_elementwise("v_add_f32 $0, $1, $1", "=v,v", [product], dtype=tl.float32, is_pure=False, pack=1)
    tl.store(c + rows[:, None] * N + columns[None, :], product)
