"""PyTorch's reference functions in fp64, rounded once.

On the CPU they compute in the tensors' own type, sometimes less exactly than the kernel under test. When a test has failed it runs
again with these, and passes with a note where that was all that was wrong."""

import torch

# Of torch.nn.functional.
FUNCTIONS = ("cross_entropy", "nll_loss", "log_softmax", "softmax", "layer_norm", "rms_norm", "group_norm", "kl_div")

enabled = False
used = False  # since the test began: there is something to repeat


def in_fp64(function, args, kwargs):
    def wide(value):
        return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    kind = next((a.dtype for a in args if isinstance(a, torch.Tensor) and a.is_floating_point()), None)
    kwargs = {name: wide(value) for name, value in kwargs.items() if name != "dtype"} | (
        {"dtype": torch.float64} if kwargs.get("dtype") is not None else {}
    )
    result = function(*map(wide, args), **kwargs)
    return result.to(kind) if isinstance(result, torch.Tensor) and kind else result
