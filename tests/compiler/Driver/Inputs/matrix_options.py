import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 64, "matrix_instr_nonkdim": 16, "kpack": 1, "waves_per_eu": 2}),
                          triton.Config({"BLOCK": 64, "matrix_instr_nonkdim": 32, "kpack": 2}),
                          triton.Config({"BLOCK": 64, "matrix_instr_nonkdim": 4}),
                          triton.Config({"BLOCK": 32}, maxnreg=64), triton.Config({"BLOCK": 32}, maxnreg=128)], key=[])
@triton.jit
def product(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@triton.jit
def scaled(a, sa, b, sb, c, F: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    P: tl.constexpr = 2 if F == "e2m1" else 1
    m = tl.arange(0, M)
    k = tl.arange(0, K // P)
    s = m[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :]
    x = tl.load(a + m[:, None] * (K // P) + k[None, :])
    y = tl.load(b + m[None, :] * (K // P) + k[:, None])
    tl.store(c + m[:, None] * M + m[None, :], tl.dot_scaled(x, tl.load(sa + s), F, y, tl.load(sb + s), F))
