"""A launch's arguments, as Triton's own binder sees them, as a spec and as C values."""

import ctypes

import torch
import triton.language as tl
from triton.runtime.jit import JITCallable

from kiln import element_types
from kiln.jit.compile_cache import LIBRARY
from kiln.jit.literals import Unwritable, dtype_attribute

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion")
AMD_OPTIONS = ("waves_per_eu", "matrix_instr_nonkdim", "kpack")


class Argument:
    """What a run-time argument of the C function is: its type with promises, its C value, and the tensor behind it."""

    def __init__(self, type_, value, tensor=None):
        self.type, self.value, self.tensor = type_, value, tensor


class Arguments:
    """Turns bound arguments into what a signature says, collecting those that stay at run time."""

    def __init__(self, source, home):
        self.source, self.home = source, home
        self.at_run_time = []

    def signature_value(self, kind, hint, value):
        if kind == "constexpr":
            return self.constant(value)
        if isinstance(kind, (tuple, list)):
            hints = hint if isinstance(hint, (tuple, list)) else [None] * len(kind)
            items = [self.signature_value(*each) for each in zip(kind, hints, value)]
            fields = getattr(value, "_fields", None)
            return {"namedtuple": dict(zip(fields, items))} if fields else items
        is_divisible = isinstance(hint, str) and "D" in hint
        argument = self._argument(kind.replace("u1", "i1") if kind in ("u1", "*u1", "*ku1") else kind, is_divisible, value)
        self.at_run_time.append(argument)
        return argument.type

    def _argument(self, kind, is_divisible, value):
        if kind.startswith("tensordesc"):
            padding = ":nan" if value.padding == "nan" else ""
            return Argument(kind.split(">")[0] + ">" + padding, descriptor_value(value), tensor_of(value.base))
        if kind.startswith("*"):
            return Argument(kind + (":16" if is_divisible else ""), ctypes.c_void_p(address_of(value)), tensor_of(value))
        if kind not in element_types.C_TYPES:
            raise Unwritable(f"an argument of type {kind}")
        value = value.item() if isinstance(value, torch.Tensor) else value
        if kind in element_types.INTEGERS:
            return Argument(kind + (":16" if is_divisible else ""), element_types.C_TYPES[kind](int(value)))
        if kind == "i1":
            return Argument(kind, ctypes.c_bool(value))
        bits = {"fp16": element_types.half_bits, "bf16": element_types.bfloat_bits}.get(kind, float)
        return Argument(kind, element_types.C_TYPES[kind](bits(float(value))))

    def constant(self, value):
        """A compile-time value as a spec writes it."""
        if isinstance(value, tl.constexpr):
            value = value.value
        if isinstance(value, str):
            return {"string": value}
        if isinstance(value, tl.dtype) and not isinstance(value, tl.pointer_type):
            return {"dtype": dtype_attribute(value)}
        if isinstance(value, torch.dtype):
            name = str(value).removeprefix("torch.")
            element = element_types.of_array(name)
            return {"dtype": element_types.ELEMENTS[element].language if element else name}
        if value is None or isinstance(value, (bool, float)):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, (list, tuple, tl.tuple)):
            items = [self.constant(item) for item in value]
            fields = getattr(value, "_fields", None)
            return {"namedtuple": dict(zip(fields, items))} if fields else items
        if callable(value) or isinstance(value, JITCallable):
            return {"function": self._function_name(value)}
        raise Unwritable(f"a constant of type {type(value).__name__}")

    def _function_name(self, function):
        python = function.fn if isinstance(function, JITCallable) else function
        if (getattr(python, "__module__", "") or "").startswith("triton.language"):
            return f"tl.{python.__name__}" if hasattr(tl, python.__name__) else python.__name__
        self.source.bind(self.home, python.__name__, function)
        return python.__name__


def signature_of(src, arguments):
    """The signature of a triton.compiler.ASTSource, which has paths of constants and attributes: (2,), or (0, 1) in a tuple."""

    def at(path, kind):
        if path in src.constants:
            return arguments.constant(src.constants[path])
        if isinstance(kind, (tuple, list)):
            items = [at((*path, index), item) for index, item in enumerate(kind)]
            fields = getattr(kind, "_fields", None)
            return {"namedtuple": dict(zip(fields, items))} if fields else items
        if kind == "constexpr":
            raise Unwritable(f"the constant of parameter {path}, which the source has no value of")
        is_divisible = any(name == "tt.divisibility" for name, *_ in src.attrs.get(path, ()))
        kind = kind.replace("u1", "i1") if kind in ("u1", "*u1", "*ku1") else kind
        return kind + (":16" if is_divisible and (kind in element_types.INTEGERS or kind.startswith("*")) else "")

    names, numbers = src.fn.arg_names, {name: index for index, name in enumerate(src.fn.arg_names)}
    signature = {name: at((number,), src.signature[name]) for name, number in numbers.items() if name in src.signature}
    signature.update({names[path[0]]: arguments.constant(value) for path, value in src.constants.items() if len(path) == 1})
    return signature


def tensor_of(value):
    """The tensor of one that Triton sees with another type of elements (triton.reinterpret), or of an argument; None of an address."""
    return value if isinstance(value, torch.Tensor) else getattr(value, "base", None)


def address_of(value):
    if value is None or isinstance(value, int):
        return value
    return value.data_ptr() or (element_types.NOWHERE if 0 in getattr(value, "shape", ()) else 0)


def descriptor_value(descriptor):
    tensor = element_types.Tensor(address_of(descriptor.base), len(descriptor.shape))
    for axis, (extent, stride) in enumerate(zip(descriptor.shape, descriptor.strides)):
        tensor.shape[axis], tensor.strides[axis] = int(extent), int(stride)
    return tensor


def spec_of(target, source, kernel, signature, options, debug, portable=False):
    """The spec of a library with one variant of one kernel, whose grid the caller passes."""
    names = OPTIONS + (AMD_OPTIONS if target.is_hip else ())
    config = {name: options[name] for name in names if options.get(name) is not None}
    entry = {"name": "k", "source": source, "kernel": kernel, "signature": signature, "configs": [config]}
    if debug:
        entry["debug"] = True
    if portable:
        entry["portable"] = True
    return {"kiln": 1, "library": LIBRARY, "targets": [target.name], "kernels": [entry]}
