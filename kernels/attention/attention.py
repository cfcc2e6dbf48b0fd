"""Scaled dot-product attention, forward: softmax(Q K^T * scale) V, with the scores never in memory (Dao et al., 2022)."""

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LN_2 = tl.constexpr(0.6931471805599453)


@triton.jit
def widened(x):
    """8-bit floats as f16: units transpose elements of 16 bits alone, and probabilities are worth more than three bits."""
    if x.dtype.primitive_bitwidth == 8:
        return x.to(tl.float16)
    else:
        return x


@triton.jit
def within(is_row, dims, HEAD_DIM: tl.constexpr):
    """Which elements of a block there are, of rows and of HEAD_DIM dimensions, which may be no power of two."""
    if dims.shape[0] * dims.shape[1] == HEAD_DIM:
        return is_row
    else:
        return is_row & (dims < HEAD_DIM)


@triton.jit
def sequence(starts_ptr, number):
    """Where a sequence's rows begin, and how many there are."""
    first = tl.load(starts_ptr + number)
    return first.to(tl.int64), tl.load(starts_ptr + number + 1) - first


@triton.jit
def attend(
    q, k_ptr, v_ptr, stride_kn, stride_vn, rows, first, end, n_keys, scale, soft_cap, window,
    accumulator, largest, total,
    HEAD_DIM: tl.constexpr, BLOCK_N: tl.constexpr, MASKED: tl.constexpr, CAUSAL: tl.constexpr,
    WINDOWED: tl.constexpr, CAPPED: tl.constexpr,
):
    """Takes the keys from `first` to `end`, a block at a time, into the row's sums; row i of q is the query that key rows[i]
    belongs to. Scores are in powers of two. Without MASKED every row sees all of these keys."""
    dims = tl.arange(0, triton.next_power_of_2(HEAD_DIM))
    for start in range(first, end, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        is_key = columns < n_keys
        places = columns.to(tl.int64)
        k = tl.load(k_ptr + places[None, :] * stride_kn + dims[:, None], mask=within(is_key[None, :], dims[:, None], HEAD_DIM), other=0.0)
        scores = tl.dot(q, k)
        factor = scale * LOG2_E
        if CAPPED:
            # cap * tanh(x / cap), where tanh(y) = 1 - 2 / (exp(2 y) + 1).
            e = tl.exp2(scores * (scale * 2 * LOG2_E / soft_cap))
            scores = 1 - 2 / (e + 1)
            factor = soft_cap * LOG2_E
        if MASKED:
            is_seen = is_key[None, :]
            if CAUSAL:
                is_seen = is_seen & (columns[None, :] <= rows[:, None])
            if WINDOWED:
                is_seen = is_seen & (columns[None, :] > rows[:, None] - window)
            scores = tl.where(is_seen, scores, -float("inf"))
        now_largest = tl.maximum(largest, tl.max(scores, axis=1) * factor)
        shift = now_largest
        if MASKED:
            # A row that has seen nothing yet must not become -inf - -inf.
            shift = tl.where(now_largest == -float("inf"), 0.0, now_largest)
        p = tl.exp2(scores * factor - shift[:, None])
        correction = tl.exp2(largest - shift)
        total = total * correction + tl.sum(p, axis=1)
        v = tl.load(v_ptr + places[:, None] * stride_vn + dims[None, :], mask=within(is_key[:, None], dims[None, :], HEAD_DIM), other=0.0)
        v = widened(v)
        accumulator = tl.dot(p.to(v.dtype), v, accumulator * correction[:, None])
        largest = now_largest
    return accumulator, largest, total


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn,
    stride_vb, stride_vh, stride_vn, stride_ob, stride_oh, stride_om,
    n_heads, group, n_queries, n_keys, scale, soft_cap, window, q_starts_ptr, k_starts_ptr,
    q_scales_ptr, k_scales_ptr, v_scales_ptr, scale_step,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
    WINDOWED: tl.constexpr, CAPPED: tl.constexpr,
):
    """out[b, h, m, :] = sum over n of p[m, n] v[b, h // group, n, :]; lse[b, h, m] = log of the sum of exp(scores), for a
    backward pass.

    A program instance takes BLOCK_M queries of one head: the grid is cdiv(n_queries, BLOCK_M) by batch * n_heads. Strides
    count elements between batches, heads and rows; the HEAD_DIM elements of a row lie one after the other. lse is dense.
    `group` heads of queries share one of keys and values. scale is positive.
    With CAUSAL the last query sees all keys, and each one before it one key less; a query that sees none gets zeros.
    With WINDOWED a query sees only the last `window` (1 or more) of its keys, which wants CAUSAL.
    With CAPPED a score s becomes soft_cap * tanh(s / soft_cap).

    Sequences of several lengths: with q_starts_ptr and k_starts_ptr the rows of sequence b are those from starts[b] on and before
    starts[b + 1]. There are no strides between batches, the grid is for the longest sequence, and n_queries is the number of rows
    of all, which lse has for each head.

    With scales (8-bit floats) what q, k and v stand for is their elements times scales[(b * heads + h) * scale_step], where heads
    are n_heads of q, n_heads // group of k and v: 1 for a scale of each head, 0 for one of all.
    """
    tl.static_assert(CAUSAL or not WINDOWED, "a window is of the keys up to the query's own")
    block = tl.program_id(0)
    if CAUSAL:
        # The blocks that see most come first, so that the last ones to be done are short.
        block = tl.num_programs(0) - 1 - block
    queries = block * BLOCK_M + tl.arange(0, BLOCK_M)
    instance = tl.program_id(1)
    batch = instance // n_heads
    head = instance % n_heads
    kv_head = head // group
    q_ptr += batch.to(tl.int64) * stride_qb + head.to(tl.int64) * stride_qh
    k_ptr += batch.to(tl.int64) * stride_kb + kv_head.to(tl.int64) * stride_kh
    v_ptr += batch.to(tl.int64) * stride_vb + kv_head.to(tl.int64) * stride_vh
    out_ptr += batch.to(tl.int64) * stride_ob + head.to(tl.int64) * stride_oh
    if q_starts_ptr is None:
        lse_ptr += instance.to(tl.int64) * n_queries
    else:
        lse_ptr += head.to(tl.int64) * n_queries
        first_query, n_queries = sequence(q_starts_ptr, batch)
        first_key, n_keys = sequence(k_starts_ptr, batch)
        q_ptr += first_query * stride_qm
        k_ptr += first_key * stride_kn
        v_ptr += first_key * stride_vn
        out_ptr += first_query * stride_om
        lse_ptr += first_query
        if block * BLOCK_M >= n_queries:
            return
    dims = tl.arange(0, triton.next_power_of_2(HEAD_DIM))
    is_query = queries < n_queries

    out_scale = 1.0
    if q_scales_ptr is not None:
        kv_instance = batch * (n_heads // group) + kv_head
        scale *= tl.load(q_scales_ptr + instance * scale_step) * tl.load(k_scales_ptr + kv_instance * scale_step)
        out_scale = tl.load(v_scales_ptr + kv_instance * scale_step)

    q = tl.load(q_ptr + queries.to(tl.int64)[:, None] * stride_qm + dims[None, :], mask=within(is_query[:, None], dims[None, :], HEAD_DIM), other=0.0)
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    accumulator = tl.zeros([BLOCK_M, triton.next_power_of_2(HEAD_DIM)], dtype=tl.float32)

    # Keys from first to end are seen by some query, those from full to masked (in whole blocks) by all.
    unseen = n_keys - n_queries
    first = 0
    full = 0
    masked = tl.maximum(n_keys, 0) // BLOCK_N * BLOCK_N
    end = n_keys
    if CAUSAL:
        masked = tl.maximum(tl.minimum(n_keys, block * BLOCK_M + unseen + 1), 0) // BLOCK_N * BLOCK_N
        end = tl.minimum(n_keys, (block + 1) * BLOCK_M + unseen)
    if WINDOWED:
        first = tl.maximum(block * BLOCK_M + unseen - window + 1, 0) // BLOCK_N * BLOCK_N
        full = tl.maximum(tl.cdiv(tl.maximum((block + 1) * BLOCK_M + unseen - window, 0), BLOCK_N) * BLOCK_N, first)
        masked = tl.maximum(masked, full)
        accumulator, largest, total = attend(
            q, k_ptr, v_ptr, stride_kn, stride_vn, queries + unseen, first, tl.minimum(full, end), n_keys, scale, soft_cap, window,
            accumulator, largest, total, HEAD_DIM, BLOCK_N, True, CAUSAL, WINDOWED, CAPPED)
    accumulator, largest, total = attend(
        q, k_ptr, v_ptr, stride_kn, stride_vn, queries + unseen, full, masked, n_keys, scale, soft_cap, window,
        accumulator, largest, total, HEAD_DIM, BLOCK_N, False, CAUSAL, WINDOWED, CAPPED)
    accumulator, largest, total = attend(
        q, k_ptr, v_ptr, stride_kn, stride_vn, queries + unseen, masked, end, n_keys, scale, soft_cap, window,
        accumulator, largest, total, HEAD_DIM, BLOCK_N, True, CAUSAL, WINDOWED, CAPPED)

    out = accumulator * (out_scale / tl.where(total == 0.0, 1.0, total))[:, None]
    tl.store(out_ptr + queries.to(tl.int64)[:, None] * stride_om + dims[None, :], out, mask=within(is_query[:, None], dims[None, :], HEAD_DIM))
    lse = (largest + tl.log2(total)) * LN_2
    tl.store(lse_ptr + queries, lse, mask=is_query)
