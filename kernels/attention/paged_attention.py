"""Attention of one query for each sequence, whose keys and values lie in pages (Kwon et al., 2023), and are split among programs."""

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def paged_attention_kernel(
    q_ptr, k_ptr, v_ptr, pages_ptr, lengths_ptr, partial_ptr, lse_ptr,
    stride_qb, stride_qh, stride_kp, stride_kn, stride_kh, stride_vp, stride_vn, stride_vh, stride_pages,
    group, n_splits, scale,
    HEAD_DIM: tl.constexpr, PAGE_SIZE: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """The part of a split: partial[b, h, split, :] is attention over its keys alone, lse[b, h, split] the log of the sum of
    exp(scores), in powers of two. A split without keys has zeros and -inf.

    Key n of sequence b is row n % PAGE_SIZE of page pages[b, n // PAGE_SIZE]; there are lengths[b] of them. Strides count elements
    between pages, rows of a page and heads of them. `group` heads of queries share one of keys: a program takes BLOCK_H of these,
    and one split; the grid is batch by kv heads * cdiv(group, BLOCK_H) by n_splits. partial and lse are dense.
    """
    batch = tl.program_id(0).to(tl.int64)
    blocks = tl.cdiv(group, BLOCK_H)
    kv_head = tl.program_id(1) // blocks
    members = tl.program_id(1) % blocks * BLOCK_H + tl.arange(0, BLOCK_H)
    split = tl.program_id(2)
    heads = (kv_head * group + members).to(tl.int64)
    is_head = members < group
    dims = tl.arange(0, HEAD_DIM)
    q = tl.load(q_ptr + batch * stride_qb + heads[:, None] * stride_qh + dims[None, :], mask=is_head[:, None], other=0.0)

    length = tl.load(lengths_ptr + batch)
    split_length = tl.cdiv(tl.cdiv(length, BLOCK_N), n_splits) * BLOCK_N
    end = tl.minimum((split + 1) * split_length, length)
    pages_ptr += batch * stride_pages
    k_ptr += kv_head.to(tl.int64) * stride_kh
    v_ptr += kv_head.to(tl.int64) * stride_vh
    largest = tl.full([BLOCK_H], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_H], dtype=tl.float32)
    accumulator = tl.zeros([BLOCK_H, HEAD_DIM], dtype=tl.float32)
    for start in range(split * split_length, end, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        is_key = columns < end
        if PAGE_SIZE % BLOCK_N == 0:
            page = tl.load(pages_ptr + start // PAGE_SIZE).to(tl.int64)
            row = start % PAGE_SIZE + tl.arange(0, BLOCK_N)
        else:
            page = tl.load(pages_ptr + columns // PAGE_SIZE, mask=is_key, other=0).to(tl.int64)
            row = columns % PAGE_SIZE
        k = tl.load(k_ptr + (page * stride_kp + row * stride_kn)[:, None] + dims[None, :], mask=is_key[:, None], other=0.0)
        scores = tl.dot(q, tl.trans(k)) * (scale * LOG2_E)
        # Each block has a key that all rows see.
        scores = tl.where(is_key[None, :], scores, -float("inf"))
        now_largest = tl.maximum(largest, tl.max(scores, axis=1))
        p = tl.exp2(scores - now_largest[:, None])
        correction = tl.exp2(largest - now_largest)
        total = total * correction + tl.sum(p, axis=1)
        v = tl.load(v_ptr + (page * stride_vp + row * stride_vn)[:, None] + dims[None, :], mask=is_key[:, None], other=0.0)
        accumulator = tl.dot(p.to(v.dtype), v, accumulator * correction[:, None])
        largest = now_largest

    out = accumulator / tl.where(total == 0.0, 1.0, total)[:, None]
    n_heads = tl.num_programs(1) // blocks * group
    places = (batch * n_heads + heads) * n_splits + split
    tl.store(partial_ptr + places[:, None] * HEAD_DIM + dims[None, :], out, mask=is_head[:, None])
    tl.store(lse_ptr + places, largest + tl.log2(total), mask=is_head)


@triton.jit
def combine_splits_kernel(
    partial_ptr, lse_ptr, out_ptr, stride_ob, stride_oh, n_heads, n_splits, HEAD_DIM: tl.constexpr, MOST_SPLITS: tl.constexpr,
):
    """out[b, h, :] of the parts that paged_attention_kernel has made, of which there are at most MOST_SPLITS. The grid is n_heads by
    batch."""
    head = tl.program_id(0)
    batch = tl.program_id(1).to(tl.int64)
    splits = tl.arange(0, MOST_SPLITS)
    dims = tl.arange(0, HEAD_DIM)
    places = (batch * n_heads + head) * n_splits + splits
    is_split = splits < n_splits
    lse = tl.load(lse_ptr + places, mask=is_split, other=-float("inf"))
    partial = tl.load(partial_ptr + places[:, None] * HEAD_DIM + dims[None, :], mask=is_split[:, None], other=0.0)
    largest = tl.max(lse, axis=0)
    weights = tl.exp2(lse - tl.where(largest == -float("inf"), 0.0, largest))
    total = tl.sum(weights, axis=0)
    out = tl.sum(partial * weights[:, None], axis=0) / tl.where(total == 0.0, 1.0, total)
    tl.store(out_ptr + batch * stride_ob + head.to(tl.int64) * stride_oh + dims, out)
