"""Where tensors are that a program makes on the GPU, leaves on the CPU, or moves: run by run_pytest.sh through the plug-in."""
import copy
import io
import pickle

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from torch.utils.checkpoint import checkpoint


@triton.jit
def double_kernel(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)


def on_cpu():
    return torch.randn(4, 4)


def on_gpu():
    return torch.randn(4, 4, device="cuda")


LEFT_ON_THE_CPU = {
    "made without a device": lambda: [torch.zeros(3), torch.tensor([1]), torch.arange(3), torch.empty(0), torch.normal(0.0, 1.0, (3,))],
    "made for the CPU": lambda: [torch.zeros(3, device="cpu"), torch.zeros_like(on_gpu(), device="cpu"), on_gpu().new_zeros(3, device="cpu")],
    "of NumPy": lambda: [torch.from_numpy(np.ones(3)), torch.as_tensor(np.ones(3)), torch.frombuffer(bytearray(8), dtype=torch.uint8)],
    "results": lambda: [on_cpu() + 1, on_cpu().add_(1), torch.cat([on_cpu(), on_cpu()]), torch.topk(on_cpu(), 2)[1], torch.softmax(on_cpu(), -1)],
    "views": lambda: [on_cpu()[0], on_cpu().t(), on_cpu().detach(), on_cpu().unbind()[1], torch.nn.Parameter(on_cpu()), on_cpu().data],
    "copied from the GPU": lambda: [on_gpu().cpu(), on_gpu().to("cpu"), on_gpu().to(on_cpu()), on_gpu().type("torch.FloatTensor")],
    "written from the GPU": lambda: [torch.zeros(4, 4).copy_(on_gpu())],
    "numbers of the GPU": lambda: [torch.tensor([on_gpu()[0, 0], on_gpu()[0, 1]])],
    "copies": lambda: [copy.copy(on_cpu()), copy.deepcopy(on_cpu()), pickle.loads(pickle.dumps(on_cpu()))],
    "pinned": lambda: [on_cpu().pin_memory(), torch.empty(4, pin_memory=True)],
    "parameters": lambda: [torch.nn.Linear(2, 2).weight, torch.nn.Linear(2, 2).cuda().cpu().weight],
}
ON_THE_GPU = {
    "made there": lambda: [torch.zeros(3, device="cuda"), torch.tensor([1], device="cuda:0"), torch.arange(3, device=torch.device("cuda")), torch.empty(3, device=0)],
    "made like one there": lambda: [torch.empty_like(on_gpu()), on_gpu().new_zeros(3), torch.zeros_like(on_gpu()), torch.randn(3, device=on_gpu().device)],
    "moved": lambda: [on_cpu().cuda(), on_cpu().to("cuda"), on_cpu().to("cuda", torch.half), on_cpu().to(device="cuda"), on_cpu().to(on_gpu()), on_cpu().to(0)],
    "converted": lambda: [torch.as_tensor(np.ones(3), device="cuda"), torch.asarray(on_cpu(), device="cuda"), on_cpu().type_as(on_gpu()), on_cpu().type("torch.cuda.FloatTensor")],
    "results": lambda: [on_gpu() + 1, on_gpu() * torch.tensor(2.0), on_gpu().add_(1), on_gpu().half(), torch.stack([on_gpu()]), torch.topk(on_gpu(), 2)[1]],
    "views": lambda: [on_gpu()[0], on_gpu().t(), on_gpu().unbind()[1], on_gpu()[torch.tensor([0, 1])], torch.nn.Parameter(on_gpu())],
    "written from the CPU": lambda: [torch.zeros(4, 4, device="cuda").copy_(on_cpu())],
    "copies": lambda: [copy.copy(on_gpu()), copy.deepcopy(on_gpu()), pickle.loads(pickle.dumps(on_gpu()))],
    "parameters": lambda: [*torch.nn.Linear(2, 2, device="cuda").parameters(), *torch.nn.BatchNorm1d(2).to("cuda").buffers()],
}


@pytest.mark.parametrize("how", LEFT_ON_THE_CPU)
def test_is_on_the_cpu(how):
    for tensor in LEFT_ON_THE_CPU[how]():
        assert tensor.device == torch.device("cpu") and not tensor.is_cuda and tensor.is_cpu and tensor.get_device() == -1
        tensor.detach().numpy()


@pytest.mark.parametrize("how", ON_THE_GPU)
def test_is_on_the_gpu(how):
    for tensor in ON_THE_GPU[how]():
        assert tensor.device == torch.device("cuda", 0) and tensor.is_cuda and not tensor.is_cpu and tensor.get_device() == 0
        with pytest.raises(TypeError, match=r"copy it with .cpu\(\)"):
            tensor.detach().numpy()
        assert tensor.detach().cpu().numpy().shape == tensor.shape == tensor.detach().numpy(force=True).shape


def test_moves_are_copies():
    left = torch.zeros(3)
    moved = left.cuda()
    moved += 1
    back = moved.cpu()
    back += 1
    assert (left.tolist(), moved.tolist(), back.tolist()) == ([0] * 3, [1] * 3, [2] * 3)
    assert moved.cuda() is moved and moved.to("cuda") is moved and left.cpu() is left
    array = np.zeros(3)
    torch.as_tensor(array, device="cuda").add_(1)
    assert not array.any()


def test_gradients_go_through_moves():
    left = torch.zeros(3, requires_grad=True)
    moved = left.cuda()
    (moved * 2).sum().backward()
    assert left.grad.tolist() == [2] * 3 and left.grad.device.type == "cpu" and not moved.is_leaf


class Seen(torch.autograd.Function):
    """Notes where its backward pass is."""

    places = []

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sum()

    @staticmethod
    def backward(ctx, gradient):
        Seen.places += [gradient.device.type, (gradient * 2).device.type, ctx.saved_tensors[0].device.type]
        return torch.ones(3, device=gradient.device) * gradient


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_gradients_are_where_their_tensors_are(device):
    Seen.places = []
    x = torch.randn(3, device=device, requires_grad=True)
    (Seen.apply(x * 1) * 2).backward()
    assert device == "cpu" or Seen.places == [device] * 3  # within a backward pass of the CPU gradients have no mark
    assert x.grad.device.type == device
    assert torch.autograd.grad((x * x).sum(), [x])[0].device.type == device
    checkpoint(lambda y: (y * y).sum(), x, use_reentrant=False).backward()
    assert x.grad.device.type == device


def test_gradients_that_come_from_the_cpu_reach_kernels():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            result = gradient + torch.zeros_like(gradient)
            double_kernel[(1,)](result, BLOCK=16)
            return result

    left = torch.ones(16, requires_grad=True)
    Doubled.apply(left.cuda()).cpu().sum().backward()
    assert left.grad.tolist() == [2] * 16
    assert torch.autograd.grad(Doubled.apply(left.cuda()).sum(), [left])[0].device.type == "cpu"


def test_gradients_of_the_cpu_share_nothing_with_the_gpu():
    left, given = torch.ones(4, 4, requires_grad=True), torch.ones(16, device="cuda")
    left.cuda().view(16).backward(given)
    left.grad.zero_()
    assert left.grad.device.type == "cpu" and left.grad is left.grad
    result = torch.autograd.grad(left.cuda().view(16), [left], given)[0]
    result.zero_()
    assert result.device.type == "cpu" and given.is_cuda and given.tolist() == [1] * 16
    double_kernel[(1,)](given, BLOCK=16)


def test_files_keep_places():
    file = io.BytesIO()
    torch.save([on_cpu(), on_gpu()], file)
    for place, places in ((None, ["cpu", "cuda"]), ("cpu", ["cpu"] * 2), ("cuda", ["cuda"] * 2)):
        file.seek(0)
        assert [tensor.device.type for tensor in torch.load(file, map_location=place)] == places


def test_default_devices():
    with torch.device("cuda"):
        assert torch.zeros(3).is_cuda and torch.tensor([1]).is_cuda and not torch.zeros(3, device="cpu").is_cuda
    torch.set_default_device("cuda")
    try:
        assert torch.zeros(3).is_cuda
    finally:
        torch.set_default_device(None)
    assert not torch.zeros(3).is_cuda
    assert torch.empty(3, device="meta").device.type == "meta"


def test_what_nobody_saw_being_made_counts_as_on_the_gpu():
    for result in (torch.func.vmap(lambda row: row * 2)(on_gpu()), torch.func.grad(torch.sum)(on_gpu()), torch.Tensor(16)):
        assert result.is_cuda
    double_kernel[(1,)](torch.Tensor(16), BLOCK=16)


def test_comparisons_see_places():
    x = on_gpu()
    torch.testing.assert_close(x, x.clone())
    with pytest.raises(AssertionError, match="device"):
        torch.testing.assert_close(x, x.cpu())
    with pytest.raises(TypeError):
        np.testing.assert_allclose(x, x.cpu())


def test_optimizers_keep_places():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.LayerNorm(2)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 2, device="cuda")).sum().backward()
    optimizer.step()
    assert all(parameter.is_cuda and parameter.grad.is_cuda for parameter in model.parameters())


def test_kernels_refuse_what_is_on_the_cpu():
    x = torch.ones(16)
    with pytest.raises(ValueError, match="double_kernel: x is a tensor on the CPU"):
        double_kernel[(1,)](x, BLOCK=16)
    assert x.tolist() == [1] * 16
    for accessible in (x.cuda(), x.pin_memory()):
        double_kernel[(1,)](accessible, BLOCK=16)
        assert accessible.tolist() == [2] * 16
