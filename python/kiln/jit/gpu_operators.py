"""Operators that PyTorch has for GPUs alone, done on the CPU."""

import torch

_PRODUCTS = ("mm", "addmm", "bmm", "baddbmm")


def product_of_other_type(function, args, kwargs):
    """mm and the like with `out_dtype`: the operands are converted first."""
    kwargs = dict(kwargs)
    kind, out = kwargs.pop("out_dtype"), kwargs.pop("out", None)
    result = function(*(a.to(kind) if isinstance(a, torch.Tensor) else a for a in args), **kwargs)
    return result if out is None else out.copy_(result)


def scaled_product(a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """torch._scaled_mm for scales of a tensor or of rows and columns."""
    result = (a.float() * scale_a) @ (b.float() * scale_b)
    result = result if bias is None else result + bias.float()
    return (result if scale_result is None else result * scale_result).to(out_dtype or a.dtype)


def stand_in_for(name, kwargs):
    """What to call in place of an operator with (function, args, kwargs), or None."""
    if name in _PRODUCTS and "out_dtype" in kwargs:
        return product_of_other_type
    if name == "_scaled_mm":
        return lambda _function, args, kwargs: scaled_product(*args, **kwargs)
    return None
