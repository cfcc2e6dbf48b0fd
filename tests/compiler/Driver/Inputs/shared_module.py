"""Each kernel finds the module as it is executed, whatever another kernel's functions did to it."""
import triton
import triton.language as tl

SIZES = [1]
CALLS = {"grown": 0}


def grow():
    global LAST
    SIZES.append(len(SIZES) + 1)
    CALLS["grown"] += 1
    LAST = sum(SIZES)
    return len(SIZES) + CALLS["grown"]


LAST = 1
grow = triton.constexpr_function(grow)


@triton.jit
def first(p):
    tl.static_assert(LAST == 1)
    tl.static_assert(grow() == 3)
    tl.store(p, grow())


@triton.jit
def second(p):
    tl.static_assert(LAST == 1)
    tl.static_assert(grow() == 3)
    tl.store(p, len(SIZES))
