"""Runs a kernel with Triton's interpreter on memory that is already laid out.

Triton's own launcher takes torch tensors, calls the kernel with Python's numbers, and walks the grid with the last axis fastest. Here
arguments are the typed values that the signature promises, and the grid is walked with the first axis fastest, as
compiled code does: where program instances write the same element, the order decides.

Functions of libdevice, which the interpreter lacks, are NumPy's, computed in double precision.
"""
import inspect
import math
import sys

import numpy as np
import triton
import triton.language as tl
from triton.runtime import interpreter

ELEMENT_TYPES = {"i1": tl.int1, "i8": tl.int8, "i16": tl.int16, "i32": tl.int32, "i64": tl.int64, "u1": tl.int1,
                 "u8": tl.uint8, "u16": tl.uint16, "u32": tl.uint32, "u64": tl.uint64,
                 "fp16": tl.float16, "bf16": tl.bfloat16, "fp32": tl.float32, "fp64": tl.float64,
                 "fp8e4nv": tl.float8e4nv, "fp8e5": tl.float8e5, "fp8e4b8": tl.float8e4b8,
                 "fp8e5b16": tl.float8e5b16, "fp8e4b15": tl.float8e4b15}

SEMANTIC = interpreter.TritonSemantic(interpreter.interpreter_builder)

LIBDEVICE = {
    "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "tan": np.tan, "sin": np.sin, "cos": np.cos,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "atan2": np.arctan2, "pow": np.power, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt, "cbrt": np.cbrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc),
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)), "fmod": np.fmod, "abs": np.abs, "copysign": np.copysign,
    "fast_expf": np.exp, "fast_logf": np.log, "fast_dividef": np.divide, "div_rn": np.divide, "rcp_rn": np.reciprocal,
    "sqrt_rn": np.sqrt,
}
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "finitef": np.isfinite, "isfinited": np.isfinite}


def libdevice_function(compute, gives_truth):
    def call(*arguments, **ignored):
        like = next(a for a in arguments if isinstance(a, tl.tensor))
        data = [np.asarray(a.handle.data if isinstance(a, tl.tensor) else a) for a in arguments]
        if any(isinstance(a, tl.tensor) and a.dtype == tl.bfloat16 for a in arguments):
            raise NotImplementedError("libdevice function of bf16")
        wide = compute(*(d.astype(np.float64) for d in data))
        element = tl.int1 if gives_truth else like.dtype
        handle = interpreter.TensorHandle(wide.astype(interpreter._get_np_dtype(element)), element)
        return tl.tensor(handle, tl.block_type(element, like.type.shape) if like.type.is_block() else element)
    return call


def provide_libdevice():
    """Before kernel modules are imported: they may bind the functions by name."""
    from triton.language.extra import libdevice
    import triton.language.extra.cuda.libdevice as cuda_libdevice

    for table, gives_truth in ((LIBDEVICE, False), (TESTS, True)):
        for name, compute in table.items():
            function = libdevice_function(compute, gives_truth)
            setattr(libdevice, name, function)
            setattr(cuda_libdevice, name, function)
            if not hasattr(tl.math, name):
                setattr(tl.math, name, function)
    tl.libdevice = libdevice


def find_kernel(module, name):
    """The interpreted function behind decorators; `Class.method` and methods of any class are found too."""
    found = module
    for part in name.split("."):
        inner = getattr(found, part, None)
        if inner is None:
            methods = (vars(c)[part] for c in vars(module).values() if isinstance(c, type) and part in vars(c))
            inner = next(methods, None)
        found = getattr(inner, "__func__", inner)
    for _ in range(8):
        if isinstance(found, interpreter.InterpretedFunction):
            return found
        found = getattr(found, "fn", None) or getattr(found, "__wrapped__", None)
    return None


def typed(kind, value):
    """`value` as the kernel would get it from a launcher."""
    if kind.startswith("*"):
        pointee = kind.lstrip("*")
        dtype = ELEMENT_TYPES[pointee]
        for _ in range(len(kind) - len(pointee)):
            dtype = tl.pointer_type(dtype)
        return tl.tensor(interpreter.TensorHandle(np.array([value], dtype=np.uint64), dtype), dtype)
    dtype = ELEMENT_TYPES[kind]
    data = np.array([value], dtype=interpreter._get_np_dtype(dtype))
    return tl.tensor(interpreter.TensorHandle(data, dtype), dtype)


def provide_semantics(root):
    """Lets modules of the folder `root` call builtins that they bound by name (`exp = tl.exp`), which the interpreter patches
    in triton.language only."""
    def patched(builtin):
        def call(*arguments, **keywords):
            keywords["_semantic"] = SEMANTIC
            return builtin(*arguments, **keywords)
        return call

    for module in list(sys.modules.values()):
        if not (getattr(module, "__file__", None) or "").startswith(root):
            continue
        for name, value in list(vars(module).items()):
            if inspect.isfunction(value) and tl.core.is_builtin(value):
                setattr(module, name, patched(value))


def accept_one_element_arrays():
    """The interpreter turns arrays of shape (1,) into ints, which NumPy refuses from 2.4 on."""
    patch = interpreter._patch_lang_tensor

    def patched(tensor, *arguments):
        patch(tensor, *arguments)
        tensor.__index__ = lambda self: int(self.handle.data.item())

    interpreter._patch_lang_tensor = patched


def run(kernel, arguments, grid):
    function = kernel.rewrite()
    scope = interpreter._patch_lang(function)
    builder = interpreter.interpreter_builder
    builder.set_grid_dim(*grid)
    try:
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    builder.set_grid_idx(x, y, z)
                    function(**arguments)
    finally:
        if scope is not None:
            scope.restore()
