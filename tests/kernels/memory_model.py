"""Accesses in front of and behind what orders them: memory_model.test looks at the instructions between."""

import triton
import triton.language as tl


@triton.jit
def atomic(x_ptr, N: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    """Parts of one array, so that nothing else has to be ordered."""
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    tl.atomic_add(x_ptr + N, 1, sem=SEM, scope=SCOPE)
    tl.store(x_ptr + 3 * N + i, tl.load(x_ptr + 2 * N + i))


@triton.jit
def global_barrier(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, i)
    tl.debug_barrier()
    tl.store(out_ptr + i, tl.load(x_ptr + (N - 1 - i)))
