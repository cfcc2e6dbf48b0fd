"""Kernels that are bound by memory, in the shapes in which programs have them: each reads and writes every element once or twice."""
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask) + tl.load(y_ptr + offsets, mask), mask)


@triton.jit
def increment_kernel(x_ptr, n, BLOCK: tl.constexpr):
    """In place."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask) + 1, mask)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, stride, n_cols, BLOCK: tl.constexpr):
    """A row a program."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    x = tl.load(x_ptr + row * stride + columns, mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * stride + columns, e / tl.sum(e, 0), mask)


@triton.jit
def softmax_rows_kernel(x_ptr, out_ptr, stride, n_rows, n_cols, BLOCK: tl.constexpr):
    """Programs that go over many rows."""
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + columns, mask, other=-float("inf"))
        e = tl.exp(x - tl.max(x, 0))
        tl.store(out_ptr + row * stride + columns, e / tl.sum(e, 0), mask)


@triton.jit
def layer_norm_kernel(x_ptr, w_ptr, b_ptr, out_ptr, stride, n_cols, eps, BLOCK: tl.constexpr):
    """A row a program, in pieces: three passes over the row."""
    row = tl.program_id(0)
    x_ptr += row * stride
    out_ptr += row * stride
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + columns, columns < n_cols, other=0).to(tl.float32)
    mean = tl.sum(total, 0) / n_cols
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, columns < n_cols, other=0).to(tl.float32)
        x = tl.where(columns < n_cols, x - mean, 0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, 0) / n_cols + eps)
    for start in range(0, n_cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_cols
        x = tl.load(x_ptr + columns, mask, other=0).to(tl.float32)
        y = (x - mean) * rstd * tl.load(w_ptr + columns, mask) + tl.load(b_ptr + columns, mask)
        tl.store(out_ptr + columns, y, mask)


@triton.jit
def layer_norm_row_kernel(x_ptr, w_ptr, b_ptr, out_ptr, stride, n_cols, eps, BLOCK: tl.constexpr):
    """A row a program, which fits."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    x = tl.load(x_ptr + row * stride + columns, mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + columns, mask, other=0)
    b = tl.load(b_ptr + columns, mask, other=0)
    centred = tl.where(mask, x - tl.sum(x, 0) / n_cols, 0)
    rstd = tl.rsqrt(tl.sum(centred * centred, 0) / n_cols + eps)
    tl.store(out_ptr + row * stride + columns, centred * rstd * w + b, mask)


@triton.jit
def rms_norm_kernel(x_ptr, w_ptr, out_ptr, stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    x = tl.load(x_ptr + row * stride + columns, mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + columns, mask, other=0)
    rstd = tl.rsqrt(tl.sum(x * x, 0) / n_cols + eps)
    tl.store(out_ptr + row * stride + columns, x * rstd * w, mask)


@triton.jit
def layer_norm_backward_kernel(x_ptr, w_ptr, dy_ptr, dx_ptr, dw_ptr, db_ptr, stride, n_rows, n_cols, eps, BLOCK: tl.constexpr):
    """Programs that go over many rows; each has its own sums of the parameters' gradients."""
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    w = tl.load(w_ptr + columns, mask, other=0).to(tl.float32)
    dw = tl.zeros([BLOCK], tl.float32)
    db = tl.zeros([BLOCK], tl.float32)
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + columns, mask, other=0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride + columns, mask, other=0).to(tl.float32)
        centred = tl.where(mask, x - tl.sum(x, 0) / n_cols, 0)
        rstd = tl.rsqrt(tl.sum(centred * centred, 0) / n_cols + eps)
        normal = centred * rstd
        scaled = dy * w
        along = tl.sum(normal * scaled, 0) / n_cols
        mean = tl.sum(scaled, 0) / n_cols
        tl.store(dx_ptr + row * stride + columns, (scaled - normal * along - mean) * rstd, mask)
        dw += dy * normal
        db += dy
    tl.store(dw_ptr + tl.program_id(0) * n_cols + columns, dw, mask)
    tl.store(db_ptr + tl.program_id(0) * n_cols + columns, db, mask)


@triton.jit
def rms_norm_backward_kernel(x_ptr, w_ptr, dy_ptr, dx_ptr, dw_ptr, stride, n_rows, n_cols, eps, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    w = tl.load(w_ptr + columns, mask, other=0).to(tl.float32)
    dw = tl.zeros([BLOCK], tl.float32)
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + columns, mask, other=0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride + columns, mask, other=0).to(tl.float32)
        rstd = tl.rsqrt(tl.sum(x * x, 0) / n_cols + eps)
        normal = x * rstd
        scaled = dy * w
        along = tl.sum(normal * scaled, 0) / n_cols
        tl.store(dx_ptr + row * stride + columns, (scaled - normal * along) * rstd, mask)
        dw += dy * normal
    tl.store(dw_ptr + tl.program_id(0) * n_cols + columns, dw, mask)


@triton.jit
def swiglu_kernel(a_ptr, b_ptr, out_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    at = row * stride + columns
    a = tl.load(a_ptr + at, mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + at, mask, other=0)
    tl.store(out_ptr + at, a * tl.sigmoid(a) * b, mask)


@triton.jit
def swiglu_backward_kernel(dc_ptr, a_ptr, b_ptr, stride, n_cols, BLOCK: tl.constexpr):
    """The gradients take the place of the inputs."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    at = row * stride + columns
    dc = tl.load(dc_ptr + at, mask, other=0)
    a = tl.load(a_ptr + at, mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + at, mask, other=0)
    sigmoid = tl.sigmoid(a)
    silu = a * sigmoid
    tl.store(a_ptr + at, dc * (silu * (1 - sigmoid) + sigmoid) * b, mask)
    tl.store(b_ptr + at, dc * silu, mask)


@triton.jit
def rotary_kernel(q_ptr, cos_ptr, sin_ptr, stride, n_heads, HEADS: tl.constexpr, HALF: tl.constexpr):
    """In place: each half of a head is written from both."""
    position = tl.program_id(0)
    heads = tl.arange(0, HEADS)[:, None]
    columns = tl.arange(0, HALF)[None, :]
    mask = heads < n_heads
    cos = tl.load(cos_ptr + position * HALF + columns)
    sin = tl.load(sin_ptr + position * HALF + columns)
    at = position * stride + heads * (2 * HALF) + columns
    left = tl.load(q_ptr + at, mask, other=0)
    right = tl.load(q_ptr + at + HALF, mask, other=0)
    tl.store(q_ptr + at, left * cos - right * sin, mask)
    tl.store(q_ptr + at + HALF, right * cos + left * sin, mask)


@triton.jit
def cross_entropy_kernel(x_ptr, target_ptr, loss_ptr, stride, n_cols, BLOCK: tl.constexpr):
    """A row a program, in pieces; the gradient takes the place of the logits."""
    row = tl.program_id(0)
    x_ptr += row * stride
    target = tl.load(target_ptr + row)
    chosen = tl.load(x_ptr + target).to(tl.float32)
    largest = float("-inf")
    total = 0.0
    for start in range(0, n_cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, columns < n_cols, other=float("-inf")).to(tl.float32)
        larger = tl.maximum(largest, tl.max(x, 0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(x - larger), 0)
        largest = larger
    tl.store(loss_ptr + row, tl.log(total) + largest - chosen)
    for start in range(0, n_cols, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_cols
        x = tl.load(x_ptr + columns, mask, other=float("-inf")).to(tl.float32)
        gradient = tl.exp(x - largest) / total
        tl.store(x_ptr + columns, tl.where(columns == target, gradient - 1, gradient), mask)
