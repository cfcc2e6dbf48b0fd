"""A small test suite as libraries with Triton kernels have them, run by run_pytest.sh through the plug-in: tests named test_finds_… have
a mistake planted that Kiln's checks must report, all others must pass."""
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def first_half_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i // 2, tl.load(x + i))  # two threads store to each element


@triton.jit
def sum_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0)))


@triton.autotune(configs=[triton.Config({"BLOCK": 32 << i}) for i in range(4)], key=["n"])
@triton.jit
def tuned_add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def copy_table_kernel(table, out, BLOCK: tl.constexpr):
    source = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0) * BLOCK + i, tl.load(source + i))


def add(x, y, out, n):
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=64)


EXTENT = 48
TWO = tl.constexpr(2)


@tl.core.builtin
def three(_semantic=None):
    return tl.constexpr(3)


@triton.jit
def beyond_triton_kernel(x, out):
    i = tl.arange(0, EXTENT)
    tl.store(out + i, tl.load(x + i) * TWO)


@triton.jit
def for_both_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.where(i, tl.load(x + i) * TWO, three()))


@pytest.mark.parametrize("size", [1, 100, 1000])
def test_add(size):
    x, y = torch.randn(size, device="cuda"), torch.randn(size, device="cuda")
    assert x.is_cuda and x.device.type == "cuda" and torch.cuda.is_available()
    out = torch.empty_like(x)
    add(x, y, out, size)
    torch.testing.assert_close(out, x + y)


def test_autotuner():
    x = torch.randn(100, device="cuda")
    out = torch.empty_like(x)
    tuned_add_kernel[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, x, out, 100)
    torch.testing.assert_close(out, 2 * x)


def test_tables_of_pointers():
    rows = [torch.randn(16, device="cuda") for _ in range(3)]
    table = torch.tensor([row.data_ptr() for row in rows], device="cuda")
    out = torch.empty(3, 16, device="cuda")
    copy_table_kernel[(3,)](table, out, BLOCK=16)
    torch.testing.assert_close(out, torch.stack(rows))


def test_references_in_fp64():
    """PyTorch adds in bf16 what the mean is of, and is further off than this allows."""
    torch.manual_seed(0)
    x, out = torch.randn(64, 1000, device="cuda").bfloat16(), torch.empty(64, 1000, device="cuda").bfloat16()
    add(x, torch.zeros_like(x), out, x.numel())
    target = torch.arange(64, device="cuda")
    exact = -torch.log_softmax(x.double(), dim=-1)[target, target].mean()
    torch.testing.assert_close(torch.nn.functional.cross_entropy(out, target).double(), exact, rtol=2.5e-3, atol=0)


def test_beyond_triton():
    x = torch.randn(48, device="cuda")
    out = torch.empty_like(x)
    beyond_triton_kernel[(1,)](x, out)
    torch.testing.assert_close(out, 2 * x)


def test_for_both():
    x = torch.randn(64, device="cuda")
    out = torch.empty_like(x)
    with pytest.warns(UserWarning, match=r"test_planted.py:.*the condition of tl.where is int32"):
        for_both_kernel[(1,)](x, out, BLOCK=64)
    assert out[0] == 3 and (out[1:] == 2 * x[1:]).all()


def test_marks_that_contradict_each_other():
    @triton.jit(do_not_specialize=["N"])
    def marked_kernel(x, N: tl.constexpr):
        tl.store(x, N)

    with pytest.raises(triton.CompilationError, match="N marked as constexpr and listed in do_not_specialize"):
        marked_kernel[(1,)](torch.zeros(1, device="cuda"), 5)


def test_finds_a_race():
    x = torch.randn(128, device="cuda")
    first_half_kernel[(1,)](x, torch.empty_like(x), BLOCK=128)


def test_finds_a_store_out_of_bounds():
    x = torch.randn(100, device="cuda")
    add(x, x, torch.empty(99, device="cuda"), 100)


def test_finds_a_load_outside_of_a_view():
    x = torch.randn(100, device="cuda")
    add(x[:50], x.clone(), torch.empty_like(x), 51)


def test_finds_a_read_of_what_nobody_wrote():
    x, total = torch.randn(100, device="cuda"), torch.empty(1, device="cuda")
    sum_kernel[(2,)](x, total, 100, BLOCK=64)


class Sum(torch.autograd.Function):
    """Its backward pass adds to what nobody has written."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sum()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        assert x.is_cuda
        total = torch.empty(1, device=x.device)
        sum_kernel[(2,)](x, total, x.numel(), BLOCK=64)
        return torch.ones_like(x)


def test_finds_what_a_backward_pass_does():
    Sum.apply(torch.randn(100, device="cuda", requires_grad=True)).backward()


def test_finds_it_though_the_test_swallows_errors():
    x = torch.randn(100, device="cuda")
    with pytest.raises(Exception):
        add(x, x, torch.empty(99, device="cuda"), 100)


def test_finds_a_refusal():
    @triton.jit
    def refused_kernel(x):
        tl.store(x, tl.no_such_function(1))

    refused_kernel[(1,)](torch.zeros(1, device="cuda"))
