import triton
import triton.language as tl


@triton.jit
def step_kernel(out_ptr, limit, ADDEND: tl.constexpr):
    pid = tl.program_id(0)
    tl.device_assert(pid < limit, "beyond the limit")
    tl.store(out_ptr + pid, tl.load(out_ptr + pid) + ADDEND)
