"""Scaled dot-product attention, backward: the scores are made again from the statistics of the forward pass (Dao et al., 2022), once for
the gradients of keys and values and once for that of the queries, so that sums are made in registers, in one order; or once for all,
with the queries' gradients added up in memory, in any order."""

import triton
import triton.language as tl
from attention import sequence, within

LOG2_E = tl.constexpr(1.4426950408889634)
ROW_UNIT = tl.constexpr(128)


@triton.jit
def padded_rows(n_queries):
    return tl.cdiv(n_queries, ROW_UNIT) * ROW_UNIT


@triton.jit
def statistics_rows(q_starts_ptr, batch, sequences, n_heads, n_queries):
    """Where the statistics of a batch's first head begin, and how far they are from head to head. n_queries: of each batch, or of
    all sequences, which are behind one another for each head then, each from a multiple of ROW_UNIT on."""
    if q_starts_ptr is None:
        return batch * n_heads * padded_rows(n_queries), padded_rows(n_queries)
    else:
        first = tl.load(q_starts_ptr + batch) // ROW_UNIT + batch
        return first * ROW_UNIT, (n_queries // ROW_UNIT + sequences) * ROW_UNIT


@triton.jit
def row_statistics_kernel(
    out_ptr, dout_ptr, lse_ptr, lse2_ptr, delta_ptr, stride_ob, stride_oh, stride_om, stride_gb, stride_gh, stride_gm,
    n_heads, n_queries, q_starts_ptr, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, dq_sums_ptr=None,
):
    """delta[b, h, m] = sum over d of out[b, h, m, d] * dout[b, h, m, d]; lse2 = lse in powers of two. dq_sums, which has a row of
    HEAD_DIM elements for each of delta's, becomes zero.

    The grid covers the padded rows by batch * n_heads. A head's rows of lse2 and delta begin at multiples of ROW_UNIT, so that
    they can be read in whole blocks; beyond the last query stand zeros. Sequences of several lengths are as in the forward pass.
    """
    queries = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    instance = tl.program_id(1)
    batch = (instance // n_heads).to(tl.int64)
    head = (instance % n_heads).to(tl.int64)
    out_ptr += batch * stride_ob + head * stride_oh
    dout_ptr += batch * stride_gb + head * stride_gh
    first_row, rows_of_head = statistics_rows(q_starts_ptr, batch, tl.num_programs(1) // n_heads, n_heads, n_queries)
    row = first_row + head * rows_of_head
    if q_starts_ptr is None:
        lse_ptr += instance.to(tl.int64) * n_queries
    else:
        lse_ptr += head * n_queries
        first_query, n_queries = sequence(q_starts_ptr, batch)
        out_ptr += first_query * stride_om
        dout_ptr += first_query * stride_gm
        lse_ptr += first_query
    dims = tl.arange(0, triton.next_power_of_2(HEAD_DIM))[None, :]
    places = queries.to(tl.int64)[:, None]
    is_query = queries < n_queries
    out = tl.load(out_ptr + places * stride_om + dims, mask=within(is_query[:, None], dims, HEAD_DIM), other=0.0).to(tl.float32)
    dout = tl.load(dout_ptr + places * stride_gm + dims, mask=within(is_query[:, None], dims, HEAD_DIM), other=0.0).to(tl.float32)
    lse = tl.load(lse_ptr + queries, mask=is_query, other=0.0)
    # The probabilities of a query that sees no key are zero.
    lse2 = tl.where(lse == -float("inf"), float("inf"), lse * LOG2_E)
    is_row = queries < padded_rows(n_queries)
    tl.store(lse2_ptr + row + queries, lse2, mask=is_row)
    tl.store(delta_ptr + row + queries, tl.sum(out * dout, axis=1), mask=is_row)
    if dq_sums_ptr is not None:
        sums = dq_sums_ptr + (row + places) * HEAD_DIM + dims
        tl.store(sums, tl.zeros_like(dout), mask=within(is_row[:, None], dims, HEAD_DIM))


@triton.jit
def query_gradients_of_sums_kernel(
    dq_sums_ptr, dq_ptr, stride_dqb, stride_dqh, stride_dqm, n_heads, n_queries, scale, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr,
):
    """dq = scale * dq_sums, behind key_gradients_kernel. The grid is cdiv(n_queries, BLOCK_M) by batch * n_heads."""
    queries = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    instance = tl.program_id(1)
    batch = (instance // n_heads).to(tl.int64)
    head = (instance % n_heads).to(tl.int64)
    dq_ptr += batch * stride_dqb + head * stride_dqh
    row = instance.to(tl.int64) * padded_rows(n_queries)
    dims = tl.arange(0, triton.next_power_of_2(HEAD_DIM))[None, :]
    places = queries.to(tl.int64)[:, None]
    is_element = within((queries < n_queries)[:, None], dims, HEAD_DIM)
    sums = tl.load(dq_sums_ptr + (row + places) * HEAD_DIM + dims, mask=is_element, other=0.0)
    tl.store(dq_ptr + places * stride_dqm + dims, sums * scale, mask=is_element)


@triton.jit
def probabilities(products, lse2, scale, soft_cap, CAPPED: tl.constexpr):
    """exp(scores - lse2), and the scores' derivatives by scale * products. lse2 is in powers of two."""
    if CAPPED:
        # cap * tanh(x / cap), where tanh(y) = 1 - 2 / (exp(2 y) + 1) and tanh'(y) = 1 - tanh(y)^2.
        tanh = 1 - 2 / (tl.exp2(products * (scale * 2 * LOG2_E / soft_cap)) + 1)
        return tl.exp2(tanh * (soft_cap * LOG2_E) - lse2), 1 - tanh * tanh
    else:
        return tl.exp2(products * (scale * LOG2_E) - lse2), 1.0


@triton.jit
def sees(rows, columns, window, CAUSAL: tl.constexpr, WINDOWED: tl.constexpr):
    """Whether the query that key `rows` belongs to sees key `columns`."""
    is_seen = rows == rows
    if CAUSAL:
        is_seen = columns <= rows
    if WINDOWED:
        is_seen = is_seen & (columns > rows - window)
    return is_seen


@triton.jit
def weights(
    products, lse2, queries, columns, n_queries, n_keys, scale, soft_cap, window,
    MASKED: tl.constexpr, CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, CAPPED: tl.constexpr,
):
    """As `probabilities`, of keys `columns` down and queries along, zero where MASKED queries do not see a key."""
    p, slope = probabilities(products, lse2[None, :], scale, soft_cap, CAPPED)
    if MASKED:
        p = tl.where(sees(queries[None, :] + (n_keys - n_queries), columns[:, None], window, CAUSAL, WINDOWED), p, 0.0)
    return p, slope


@triton.jit
def take_queries(
    k, v, q_ptr, dout_ptr, lse2_ptr, delta_ptr, stride_qm, stride_gm, columns, first, end, n_queries, n_keys, scale, soft_cap, window,
    dk, dv, dq_sums, instance, member,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, PRODUCTS_FIRST: tl.constexpr, MASKED: tl.constexpr, CAUSAL: tl.constexpr,
    WINDOWED: tl.constexpr, CAPPED: tl.constexpr,
):
    """Takes the queries from `first` to `end`, a block at a time, into the sums of the keys `columns`, and adds what these keys
    contribute to the queries' gradients to dq_sums[instance, member], if there is such. Without MASKED all of these queries see
    all of these keys. With PRODUCTS_FIRST both products of an iteration are started before there is work with their results."""
    dims = tl.arange(0, triton.next_power_of_2(HEAD_DIM))
    ADDS_UP: tl.constexpr = dq_sums is not None
    # Beside those sums statistics come an iteration ahead: barriers keep all warps in step, and all would wait for them.
    if ADDS_UP:
        some = first + tl.arange(0, BLOCK_M)
        lse2 = tl.load(lse2_ptr + some, mask=first < end, other=0.0)
        delta = tl.load(delta_ptr + some, mask=first < end, other=0.0)
    for start in range(first, end, BLOCK_M):
        queries = start + tl.arange(0, BLOCK_M)
        is_query = queries < n_queries
        places = queries.to(tl.int64)
        q = tl.load(q_ptr + places[:, None] * stride_qm + dims[None, :], mask=within(is_query[:, None], dims[None, :], HEAD_DIM), other=0.0)
        # Beyond the last query q and dout are zero, and so is all that is added.
        if not ADDS_UP:
            lse2 = tl.load(lse2_ptr + queries)
        products = tl.dot(k, tl.trans(q))
        if not PRODUCTS_FIRST:
            p, slope = weights(
                products, lse2, queries, columns, n_queries, n_keys, scale, soft_cap, window, MASKED, CAUSAL, WINDOWED, CAPPED)
        dout = tl.load(dout_ptr + places[:, None] * stride_gm + dims[None, :], mask=within(is_query[:, None], dims[None, :], HEAD_DIM), other=0.0)
        if not ADDS_UP:
            delta = tl.load(delta_ptr + queries)
        dp = tl.dot(v, tl.trans(dout))
        if PRODUCTS_FIRST:
            p, slope = weights(
                products, lse2, queries, columns, n_queries, n_keys, scale, soft_cap, window, MASKED, CAUSAL, WINDOWED, CAPPED)
        dv = tl.dot(p.to(dout.dtype), dout, dv)
        ds = (p * (dp - delta[None, :]) * slope).to(q.dtype)
        dk = tl.dot(ds, q, dk)
        if ADDS_UP:
            # Transposed, as the products are, sums go to shared memory without conflicts between banks.
            dq = tl.dot(tl.trans(k), ds)
            lse2 = tl.load(lse2_ptr + queries + BLOCK_M, mask=start + BLOCK_M < end, other=0.0)
            delta = tl.load(delta_ptr + queries + BLOCK_M, mask=start + BLOCK_M < end, other=0.0)
            dq_sums.atomic_add([instance, member, start, 0], tl.trans(dq)[None, None, :, :])
    return dk, dv


@triton.jit
def key_gradients_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse2_ptr, delta_ptr, dk_ptr, dv_ptr,
    stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn, stride_vb, stride_vh, stride_vn,
    stride_gb, stride_gh, stride_gm, stride_dkb, stride_dkh, stride_dkn, stride_dvb, stride_dvh, stride_dvn,
    n_kv_heads, group, n_queries, n_keys, scale, soft_cap, window, q_starts_ptr, k_starts_ptr,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
    WINDOWED: tl.constexpr, CAPPED: tl.constexpr, ONE_LOOP: tl.constexpr = False, PRODUCTS_FIRST: tl.constexpr = False,
    dq_sums_ptr=None,
):
    """The gradients of keys and values, for those of the result in dout. Those of the queries, without the factor `scale`, are added
    to dq_sums, if that is given; sequences of several lengths have none.

    A program instance takes BLOCK_N keys of one head of them and all the queries that see them: the grid is cdiv(n_keys, BLOCK_N)
    by batch * n_kv_heads. ROW_UNIT is a multiple of BLOCK_M. All else is as in the forward pass.
    With ONE_LOOP no loop of a causal form goes without masks, which takes fewer registers.
    """
    tl.static_assert(CAUSAL or not WINDOWED, "a window is of the keys up to the query's own")
    block = tl.program_id(0)
    columns = block * BLOCK_N + tl.arange(0, BLOCK_N)
    instance = tl.program_id(1)
    batch = (instance // n_kv_heads).to(tl.int64)
    kv_head = (instance % n_kv_heads).to(tl.int64)
    q_ptr += batch * stride_qb
    k_ptr += batch * stride_kb + kv_head * stride_kh
    v_ptr += batch * stride_vb + kv_head * stride_vh
    dout_ptr += batch * stride_gb
    dk_ptr += batch * stride_dkb + kv_head * stride_dkh
    dv_ptr += batch * stride_dvb + kv_head * stride_dvh
    first_row, rows_of_head = statistics_rows(
        q_starts_ptr, batch, tl.num_programs(1) // n_kv_heads, n_kv_heads * group, n_queries)
    if q_starts_ptr is not None:
        first_query, n_queries = sequence(q_starts_ptr, batch)
        first_key, n_keys = sequence(k_starts_ptr, batch)
        q_ptr += first_query * stride_qm
        k_ptr += first_key * stride_kn
        v_ptr += first_key * stride_vn
        dout_ptr += first_query * stride_gm
        dk_ptr += first_key * stride_dkn
        dv_ptr += first_key * stride_dvn
        if block * BLOCK_N >= n_keys:
            return
    dims = tl.arange(0, triton.next_power_of_2(HEAD_DIM))
    is_element = within((columns < n_keys)[:, None], dims[None, :], HEAD_DIM)
    places = columns.to(tl.int64)[:, None]
    k = tl.load(k_ptr + places * stride_kn + dims[None, :], mask=is_element, other=0.0)
    v = tl.load(v_ptr + places * stride_vn + dims[None, :], mask=is_element, other=0.0)
    dk = tl.zeros([BLOCK_N, triton.next_power_of_2(HEAD_DIM)], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, triton.next_power_of_2(HEAD_DIM)], dtype=tl.float32)

    # Queries from first to end see some of the keys, those from full on all of them.
    unseen = n_keys - n_queries
    first = 0
    full = 0
    end = n_queries
    if CAUSAL:
        first = tl.maximum(block * BLOCK_N - unseen, 0) // BLOCK_M * BLOCK_M
        full = tl.cdiv(tl.maximum((block + 1) * BLOCK_N - 1 - unseen, 0), BLOCK_M) * BLOCK_M
    if WINDOWED:
        end = tl.minimum(n_queries, (block + 1) * BLOCK_N - 1 + window - unseen)
    HAS_FULL: tl.constexpr = not WINDOWED and not (CAUSAL and ONE_LOOP)
    if not HAS_FULL:
        full = end

    dq_sums = None
    if dq_sums_ptr is not None:
        tl.static_assert(q_starts_ptr is None, "dq_sums is of batches of one length")
        dq_sums = tl.make_tensor_descriptor(
            dq_sums_ptr, [tl.num_programs(1), group, rows_of_head, HEAD_DIM],
            [rows_of_head.to(tl.int64) * HEAD_DIM * group, rows_of_head.to(tl.int64) * HEAD_DIM, HEAD_DIM, 1], [1, 1, BLOCK_M, triton.next_power_of_2(HEAD_DIM)])
    for member in range(0, group):
        head = kv_head * group + member
        row = first_row + head * rows_of_head
        q = q_ptr + head * stride_qh
        dout = dout_ptr + head * stride_gh
        if CAUSAL:
            dk, dv = take_queries(
                k, v, q, dout, lse2_ptr + row, delta_ptr + row, stride_qm, stride_gm, columns, first, tl.minimum(full, end), n_queries,
                n_keys, scale, soft_cap, window, dk, dv, dq_sums, instance, member, HEAD_DIM, BLOCK_M,
                PRODUCTS_FIRST, True, CAUSAL, WINDOWED, CAPPED)
        if HAS_FULL:
            dk, dv = take_queries(
                k, v, q, dout, lse2_ptr + row, delta_ptr + row, stride_qm, stride_gm, columns, full, end, n_queries, n_keys,
                scale, soft_cap, window, dk, dv, dq_sums, instance, member, HEAD_DIM, BLOCK_M, PRODUCTS_FIRST,
                False, CAUSAL, WINDOWED, CAPPED)

    tl.store(dk_ptr + places * stride_dkn + dims[None, :], dk * scale, mask=is_element)
    tl.store(dv_ptr + places * stride_dvn + dims[None, :], dv, mask=is_element)


@triton.jit
def take_keys(
    q, dout, k_ptr, v_ptr, lse2, delta, stride_kn, stride_vn, rows, first, end, n_keys, scale, soft_cap, window, dq,
    HEAD_DIM: tl.constexpr, BLOCK_N: tl.constexpr, COPY_WARP: tl.constexpr, MASKED: tl.constexpr, CAUSAL: tl.constexpr,
    WINDOWED: tl.constexpr, CAPPED: tl.constexpr,
):
    """Takes the keys from `first` to `end`, a block at a time, into the sum of the queries that keys `rows` belong to. Without
    MASKED all of these queries see all of these keys."""
    dims = tl.arange(0, triton.next_power_of_2(HEAD_DIM))
    for start in tl.range(first, end, BLOCK_N, warp_specialize=COPY_WARP):
        columns = start + tl.arange(0, BLOCK_N)
        is_key = columns < n_keys
        places = columns.to(tl.int64)
        k = tl.load(k_ptr + places[:, None] * stride_kn + dims[None, :], mask=within(is_key[:, None], dims[None, :], HEAD_DIM), other=0.0)
        p, slope = probabilities(tl.dot(q, tl.trans(k)), lse2[:, None], scale, soft_cap, CAPPED)
        if MASKED:
            is_seen = is_key[None, :] & sees(rows[:, None], columns[None, :], window, CAUSAL, WINDOWED)
            p = tl.where(is_seen, p, 0.0)
        v = tl.load(v_ptr + places[:, None] * stride_vn + dims[None, :], mask=within(is_key[:, None], dims[None, :], HEAD_DIM), other=0.0)
        dp = tl.dot(dout, tl.trans(v))
        ds = p * (dp - delta[:, None]) * slope
        dq = tl.dot(ds.to(k.dtype), k, dq)
    return dq


@triton.jit
def query_gradients_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse2_ptr, delta_ptr, dq_ptr,
    stride_qb, stride_qh, stride_qm, stride_kb, stride_kh, stride_kn, stride_vb, stride_vh, stride_vn,
    stride_gb, stride_gh, stride_gm, stride_dqb, stride_dqh, stride_dqm,
    n_heads, group, n_queries, n_keys, scale, soft_cap, window, q_starts_ptr, k_starts_ptr,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, COPY_WARP: tl.constexpr, CAUSAL: tl.constexpr,
    WINDOWED: tl.constexpr, CAPPED: tl.constexpr,
):
    """The gradients of the queries, for those of the result in dout. Grid and arguments are as in the forward pass. With
    COPY_WARP a warp of its own copies keys and values, where the copy engine brings them."""
    tl.static_assert(CAUSAL or not WINDOWED, "a window is of the keys up to the query's own")
    block = tl.program_id(0)
    if CAUSAL:
        # The blocks that see most come first, so that the last ones to be done are short.
        block = tl.num_programs(0) - 1 - block
    queries = block * BLOCK_M + tl.arange(0, BLOCK_M)
    instance = tl.program_id(1)
    batch = (instance // n_heads).to(tl.int64)
    head = (instance % n_heads).to(tl.int64)
    kv_head = (instance % n_heads // group).to(tl.int64)
    q_ptr += batch * stride_qb + head * stride_qh
    k_ptr += batch * stride_kb + kv_head * stride_kh
    v_ptr += batch * stride_vb + kv_head * stride_vh
    dout_ptr += batch * stride_gb + head * stride_gh
    dq_ptr += batch * stride_dqb + head * stride_dqh
    first_row, rows_of_head = statistics_rows(q_starts_ptr, batch, tl.num_programs(1) // n_heads, n_heads, n_queries)
    row = first_row + head * rows_of_head
    if q_starts_ptr is not None:
        first_query, n_queries = sequence(q_starts_ptr, batch)
        first_key, n_keys = sequence(k_starts_ptr, batch)
        q_ptr += first_query * stride_qm
        k_ptr += first_key * stride_kn
        v_ptr += first_key * stride_vn
        dout_ptr += first_query * stride_gm
        dq_ptr += first_query * stride_dqm
        if block * BLOCK_M >= n_queries:
            return
    dims = tl.arange(0, triton.next_power_of_2(HEAD_DIM))
    is_query = queries < n_queries
    places = queries.to(tl.int64)[:, None]
    q = tl.load(q_ptr + places * stride_qm + dims[None, :], mask=within(is_query[:, None], dims[None, :], HEAD_DIM), other=0.0)
    dout = tl.load(dout_ptr + places * stride_gm + dims[None, :], mask=within(is_query[:, None], dims[None, :], HEAD_DIM), other=0.0)
    lse2 = tl.load(lse2_ptr + row + queries, mask=is_query, other=0.0)
    delta = tl.load(delta_ptr + row + queries, mask=is_query, other=0.0)
    dq = tl.zeros([BLOCK_M, triton.next_power_of_2(HEAD_DIM)], dtype=tl.float32)

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
        dq = take_keys(
            q, dout, k_ptr, v_ptr, lse2, delta, stride_kn, stride_vn, queries + unseen, first, tl.minimum(full, end), n_keys, scale,
            soft_cap, window, dq, HEAD_DIM, BLOCK_N, COPY_WARP, True, CAUSAL, WINDOWED, CAPPED)
    dq = take_keys(
        q, dout, k_ptr, v_ptr, lse2, delta, stride_kn, stride_vn, queries + unseen, full, masked, n_keys, scale, soft_cap, window, dq,
        HEAD_DIM, BLOCK_N, COPY_WARP, False, CAUSAL, WINDOWED, CAPPED)
    dq = take_keys(
        q, dout, k_ptr, v_ptr, lse2, delta, stride_kn, stride_vn, queries + unseen, masked, end, n_keys, scale, soft_cap, window, dq,
        HEAD_DIM, BLOCK_N, COPY_WARP, True, CAUSAL, WINDOWED, CAPPED)

    tl.store(dq_ptr + places * stride_dqm + dims[None, :], dq * scale, mask=within(is_query[:, None], dims[None, :], HEAD_DIM))
