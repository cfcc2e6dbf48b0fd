"""Scaled dot-product attention, forward: softmax(Q K^T * scale) V, with the scores never in memory (Dao et al., 2022)."""

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LN_2 = tl.constexpr(0.6931471805599453)


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn,
    stride_vb, stride_vh, stride_vn, stride_ob, stride_oh, stride_om,
    n_heads, n_queries, n_keys, scale,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):
    """out[b, h, m, :] = sum over n of p[m, n] v[b, h, n, :]; lse[b, h, m] = log of the sum of exp(scores), for a backward pass.

    A program instance takes BLOCK_M queries of one head: the grid is cdiv(n_queries, BLOCK_M) by batch * n_heads. Strides
    count elements between batches, heads and rows; the HEAD_DIM elements of a row lie one after the other. lse is dense.
    With CAUSAL the last query sees all keys, and each one before it one key less; a query that sees none gets zeros.
    """
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    instance = tl.program_id(1).to(tl.int64)
    batch = instance // n_heads
    head = instance % n_heads
    q_ptr += batch * stride_qb + head * stride_qh
    k_ptr += batch * stride_kb + head * stride_kh
    v_ptr += batch * stride_vb + head * stride_vh
    out_ptr += batch * stride_ob + head * stride_oh
    dims = tl.arange(0, HEAD_DIM)
    is_query = rows < n_queries

    q = tl.load(q_ptr + rows.to(tl.int64)[:, None] * stride_qm + dims[None, :], mask=is_query[:, None], other=0.0)
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    accumulator = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    unseen = n_keys - n_queries
    end = n_keys
    if CAUSAL:
        end = min(n_keys, (tl.program_id(0) + 1) * BLOCK_M + unseen)
    for start in range(0, end, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        is_key = columns < n_keys
        places = columns.to(tl.int64)
        k = tl.load(k_ptr + places[None, :] * stride_kn + dims[:, None], mask=is_key[None, :], other=0.0)
        # In powers of two, which the hardware has an instruction for.
        scores = tl.dot(q, k) * (scale * LOG2_E)
        is_seen = is_key[None, :]
        if CAUSAL:
            is_seen = is_seen & (columns[None, :] <= rows[:, None] + unseen)
        scores = tl.where(is_seen, scores, -float("inf"))
        now_largest = tl.maximum(largest, tl.max(scores, axis=1))
        # A row that has seen nothing yet must not become -inf - -inf.
        shift = tl.where(now_largest == -float("inf"), 0.0, now_largest)
        p = tl.exp2(scores - shift[:, None])
        correction = tl.exp2(largest - shift)
        total = total * correction + tl.sum(p, axis=1)
        v = tl.load(v_ptr + places[:, None] * stride_vn + dims[None, :], mask=is_key[:, None], other=0.0)
        accumulator = tl.dot(p.to(v.dtype), v, accumulator * correction[:, None])
        largest = now_largest

    out = accumulator / tl.where(total == 0.0, 1.0, total)[:, None]
    tl.store(out_ptr + rows.to(tl.int64)[:, None] * stride_om + dims[None, :], out, mask=is_query[:, None])
    lse = (largest + tl.log2(total)) * LN_2
    tl.store(lse_ptr + instance * n_queries + rows, lse, mask=is_query)
