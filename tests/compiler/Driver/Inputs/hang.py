import triton
import triton.language as tl


@triton.jit
def wait_kernel(flag_ptr):
    while tl.load(flag_ptr, volatile=True) == 0:
        pass
