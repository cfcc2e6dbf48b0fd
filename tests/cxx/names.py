import triton
import triton.language as tl


@triton.jit
def detail(new, plan, ceil_div, detail, kiln_status, stream, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(new + i, i < ceil_div) * detail + kiln_status
    tl.store(plan + i, value + stream, i < ceil_div)
