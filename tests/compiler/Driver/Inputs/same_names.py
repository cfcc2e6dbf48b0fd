import triton
import triton.language as tl


class Double:
    @staticmethod
    @triton.jit
    def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


class Triple:
    @staticmethod
    @triton.jit
    def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, 3 * tl.load(x_ptr + i, mask=i < n), mask=i < n)
