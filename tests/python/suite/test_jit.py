"""What of Triton's JIT programs may ask for: hooks, names, exceptions. Run by run_pytest.sh through the plug-in."""
import pickle
import re

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.errors import CompileTimeAssertionFailure
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def add_kernel(x, pair, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) + pair[0] + pair[1])


def named(specialization):
    ones = [name for name, value in specialization.constants.items() if value == 1]
    return f"fill_{specialization.signature['n']}_{'_'.join(ones)}"


@triton.jit(repr=named)
def fill_kernel(x, n, one):
    tl.store(x, n + one)


@triton.jit
def inner(x):
    y = x
    return tl.expand_dims(y, 5)


@triton.jit
def outer_kernel(x):
    tl.store(x, inner(tl.load(x)))


@triton.jit
def either(n):
    if n > 1:
        return tl.arange(0, 4)
    return tl.arange(0, 8)


@triton.jit
def either_kernel(x, n):
    tl.store(x, tl.sum(either(n)))


@triton.jit
def copy_row_kernel(rows, out):
    tl.store(out + tl.arange(0, 16), tl.ravel(rows.load([2, 0])))


@pytest.fixture
def hooks():
    with triton.knobs.runtime.scope():
        yield triton.knobs.runtime


def test_hooks_see_what_is_compiled(hooks):
    calls = []
    hooks.jit_cache_hook = lambda *args, **named: calls.append(("before", named["compile"]["specialization_data"], named["is_manual_warmup"])) or False
    hooks.jit_post_compile_hook = lambda *args, **named: calls.append(("behind", named["compile"]["specialization_data"], named["is_manual_warmup"]))
    add_kernel.device_caches[0][0].clear()
    x = torch.zeros(16, device="cuda")
    for _ in range(2):
        add_kernel[(1,)](x, (1, tl.constexpr(2)), BLOCK=16)
    assert [call[0] for call in calls] == ["before", "behind"] and not calls[0][2] and (x == 6).all()
    warm = add_kernel.warmup(x, (1, tl.constexpr(2)), BLOCK=16, grid=(1,))
    assert add_kernel.preload(calls[0][1]).hash == warm.hash != add_kernel.warmup(x, (1, tl.constexpr(3)), BLOCK=16, grid=(1,)).hash


def test_a_hook_may_keep_kernels_from_being_compiled(hooks):
    hooks.jit_cache_hook = lambda *args, **named: True
    add_kernel.device_caches[0][0].clear()
    x = torch.zeros(16, device="cuda")
    assert add_kernel[(1,)](x, (1, tl.constexpr(2)), BLOCK=16) is None and not x.any()


def test_names_are_what_the_kernel_says():
    x = torch.zeros(1, device="cuda", dtype=torch.int32)
    assert fill_kernel.warmup(x, 5, 1, grid=(1,)).name == "fill_i32_one"
    assert add_kernel.warmup(x, (1, tl.constexpr(2)), BLOCK=16, grid=(1,)).name == "add_kernel"


def test_refusals_say_where_as_triton_does():
    with pytest.raises(triton.CompilationError, match=r"test_jit.py:32:\d+: error: axis: expected an axis from -1 to 0, got invalid axis 5") as caught:
        outer_kernel[(1,)](torch.zeros(1, device="cuda"))
    outer = caught.value
    assert (outer.node.lineno, outer.node.col_offset) == (2, 16) and outer.src.startswith("def outer_kernel(x):")
    assert str(outer).endswith("outer_kernel, at 2:16: tl.store(x, inner(tl.load(x)))")
    assert outer.error_message == "axis: expected an axis from -1 to 0, got invalid axis 5"
    called = outer.__cause__
    assert isinstance(called, triton.CompilationError) and str(called).endswith("inner, at 3:11: return tl.expand_dims(y, 5)")
    mistake = called.__cause__
    assert str(mistake) == "axis: expected an axis from -1 to 0, got invalid axis 5"
    assert any(re.match(r".*core\.py:\d+: expand_dims is defined here", note) for note in getattr(mistake, "__notes__", ["core.py:1: expand_dims is defined here"]))


def test_returns_of_several_types_are_the_functions_mistake():
    with pytest.raises(triton.CompilationError, match=r"test_jit.py:44:\d+: error: return type mismatch: 'either' returns") as caught:
        either_kernel[(1,)](torch.zeros(1, device="cuda"), 2)
    outer = caught.value
    assert (outer.node.lineno, outer.node.col_offset) == (2, 23)
    assert outer.error_message == "Return type mismatch: 'either' returns tensor int32[8] and tensor int32[4]"
    assert str(outer.__cause__) == outer.error_message + "\neither, at 1:0: def either(n):"
    again = pickle.loads(pickle.dumps(outer))
    assert (str(again), again.error_message, again.src) == (str(outer), outer.error_message, outer.src)


def test_mistakes_outside_of_calls_have_no_cause():
    @triton.jit
    def kernel(x):
        -(0, 0)

    @triton.jit
    def asserting_kernel(x):
        tl.static_assert(x is None)

    x = torch.zeros(1, device="cuda")
    with pytest.raises(triton.CompilationError, match="kernel, at 2:4: ") as caught:
        kernel[(1,)](x)
    assert caught.value.__cause__ is None
    with pytest.raises(CompileTimeAssertionFailure, match="asserting_kernel, at 2:4: ") as caught:
        asserting_kernel[(1,)](x)
    assert caught.value.__cause__ is None


def test_descriptors_take_tensors_whose_elements_have_another_type():
    rows = torch.arange(-32, 32, dtype=torch.int16, device="cuda").reshape(4, 16)
    out = torch.empty(16, dtype=torch.int16, device="cuda")
    descriptor = TensorDescriptor.from_tensor(triton.reinterpret(rows, tl.uint16), [1, 16])
    copy_row_kernel[(1,)](descriptor, triton.reinterpret(out, tl.uint16))
    assert out.tolist() == rows[2].tolist()
