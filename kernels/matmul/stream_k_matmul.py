"""C = activate(A @ B + bias) by programs that all have as many steps along k, whatever the number of tiles: a tile may be shared.

With a tile a program, 120 tiles on 132 processors leave 12 of them idle, and 144 tiles take as long as 264. Here only as many tiles as the
programs can take in full turns are taken so. The others, and one for each program, are one row of steps along k, which the programs cut
into equal pieces. A piece begins and ends anywhere in a tile, so a program has a last part of a tile, whole tiles, and a first part of another.

A program takes its piece from the end. The first part of a tile, whose end is the next program's, goes to memory at once; the last part of a
tile comes last, when the programs before this one have long written theirs, and who has it adds all parts up. So a program waits only for programs
with lower numbers, which were started before it, and sums are always made in the same order: equal calls give equal bits.
"""

import triton
import triton.language as tl
from matmul import activate
from tiles import inside, product, store_tile, tile_of

# A program has at least so many steps of shared tiles: parts of fewer take longer to hand over than to compute.
LEAST_STEPS = tl.constexpr(4)
# Parts are added so many rows at a time.
ROWS_ADDED = tl.constexpr(32)


@triton.jit
def places_of_part(part_ptr, tile_m, tile_n, M, N, first_row, ROWS: tl.constexpr, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    """Where some rows of a part are in memory, and which of their elements there are in C."""
    row, column = first_row + tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK_SIZE_N)[None, :]
    are_in_c = (tile_m * BLOCK_SIZE_M + row < M) & (tile_n * BLOCK_SIZE_N + column < N)
    return part_ptr + row * BLOCK_SIZE_N + column, are_in_c


@triton.jit
def finish(c_ptr, c, bias_ptr, tile_m, tile_n, M, N, stride_cm, stride_cn, ACTIVATION: tl.constexpr):
    if bias_ptr is not None:
        columns = tile_n * c.shape[1] + tl.arange(0, c.shape[1])
        c += tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    store_tile(c_ptr, activate(c, ACTIVATION), tile_m, tile_n, M, N, stride_cm, stride_cn)


@triton.jit
def finish_shared(
    c_ptr, bias_ptr, parts_ptr, flags_ptr, first, program, tile_m, tile_n, M, N, stride_cm, stride_cn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, ACTIVATION: tl.constexpr,
):
    """Adds up what the programs from `first` on have handed over, and this one's own part."""
    for other in range(first, program):
        while tl.atomic_cas(flags_ptr + other, 1, 0, sem="acquire") != 1:
            pass
    part_size: tl.constexpr = BLOCK_SIZE_M * BLOCK_SIZE_N
    for i in range(0, BLOCK_SIZE_M // ROWS_ADDED):
        places, are_in_c = places_of_part(parts_ptr, tile_m, tile_n, M, N, i * ROWS_ADDED, ROWS_ADDED, BLOCK_SIZE_M, BLOCK_SIZE_N)
        c = tl.zeros((ROWS_ADDED, BLOCK_SIZE_N), dtype=tl.float32)
        for other in range(first, program):
            c += tl.load(places + other.to(tl.int64) * 2 * part_size, mask=are_in_c, other=0.0)
        c += tl.load(places + (program.to(tl.int64) * 2 + 1) * part_size, mask=are_in_c, other=0.0)
        finish(c_ptr, c, bias_ptr, tile_m * (BLOCK_SIZE_M // ROWS_ADDED) + i, tile_n, M, N, stride_cm, stride_cn, ACTIVATION)


@triton.jit
def stream_k_matmul_kernel(
    a_ptr, b_ptr, bias_ptr, c_ptr, parts_ptr, flags_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr, ACTIVATION: tl.constexpr,
):
    """bias_ptr has N elements, or is None. For each program parts_ptr has two tiles of floats, and flags_ptr a number: 0 before and after."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    tiles = tl.cdiv(M, BLOCK_SIZE_M) * tl.cdiv(N, BLOCK_SIZE_N)
    steps = tl.maximum(tl.cdiv(K, BLOCK_SIZE_K), 1)
    rest = tiles % programs
    shared = tl.where(rest == 0, 0, tl.minimum(rest + programs, tiles))
    whole = tiles - shared
    piece = tl.maximum(tl.cdiv(shared * steps, programs), LEAST_STEPS)
    begin = tl.minimum(program * piece, shared * steps)
    first_tile = begin // steps
    # Of this program's piece, counted from the first step of the tile that it begins in.
    begin -= first_tile * steps
    end = tl.minimum(begin + piece, shared * steps - first_tile * steps)
    # The piece's last tile comes first; from 0 on, what comes in full turns.
    for turn in range(-tl.cdiv(end, steps), whole // programs):
        is_shared = turn < 0
        start = (-1 - turn) * steps
        first = tl.where(is_shared, tl.maximum(begin - start, 0), 0)
        last = tl.where(is_shared, tl.minimum(end - start, steps), steps)
        tile = tl.maximum(tl.where(is_shared, whole + first_tile - 1 - turn, program + turn * programs), 0)

        tile_m, tile_n = tile_of(tile, M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
        rows = inside(tile_m, M, BLOCK_SIZE_M)
        columns = inside(tile_n, N, BLOCK_SIZE_N)
        k = first * BLOCK_SIZE_K
        c = product(
            a_ptr + k.to(tl.int64) * stride_ak, b_ptr + k.to(tl.int64) * stride_bk, rows, columns, K - k,
            stride_am, stride_ak, stride_bk, stride_bn, BLOCK_SIZE_K, last - first,
        )
        if last - first == steps:
            finish(c_ptr, c, bias_ptr, tile_m, tile_n, M, N, stride_cm, stride_cn, ACTIVATION)
        else:
            part_ptr = parts_ptr + (program.to(tl.int64) * 2 + (last == steps)) * BLOCK_SIZE_M * BLOCK_SIZE_N
            places, are_in_c = places_of_part(part_ptr, tile_m, tile_n, M, N, 0, BLOCK_SIZE_M, BLOCK_SIZE_M, BLOCK_SIZE_N)
            tl.store(places, c, mask=are_in_c)
            tl.debug_barrier()
            if last == steps:
                finish_shared(
                    c_ptr, bias_ptr, parts_ptr, flags_ptr, (first_tile * steps + start) // piece, program, tile_m, tile_n, M, N, stride_cm, stride_cn,
                    BLOCK_SIZE_M, BLOCK_SIZE_N, ACTIVATION,
                )
            else:
                tl.atomic_xchg(flags_ptr + program, 1, sem="release")
