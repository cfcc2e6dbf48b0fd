import triton
import triton.language as tl


@triton.jit
def message_kernel(data, flag, before, after, BLOCK: tl.constexpr):
    """Program 0 writes `data` and says so; program 1, which has read it before, waits for that and reads it again."""
    offsets = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(data + offsets, offsets + 1)
        tl.atomic_xchg(flag, 1, sem="release")
    else:
        tl.store(before + offsets, tl.load(data + offsets))
        while tl.atomic_cas(flag, 1, 1, sem="acquire") == 0:
            pass
        tl.store(after + offsets, tl.load(data + offsets))
