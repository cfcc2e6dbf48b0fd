"""Accesses in front of and behind what orders them: memory_model.test looks at the instructions between."""

import triton
import triton.language as tl


@triton.jit
def atomic(x_ptr, y_ptr, out_ptr, flag_ptr, N: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    tl.atomic_add(flag_ptr, 1, sem=SEM, scope=SCOPE)
    tl.store(out_ptr + i, tl.load(y_ptr + i))


@triton.jit
def global_barrier(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    tl.debug_barrier()
    tl.store(out_ptr + i, tl.load(x_ptr + (N - 1 - i)))


@triton.jit
def shared_barrier(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    tl.store(out_ptr, tl.sum(tl.load(out_ptr + 1 + i), axis=0))
