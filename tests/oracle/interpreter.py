"""Runs a kernel with Triton's interpreter on memory that is already laid out.

Triton's own launcher takes torch tensors, calls the kernel with Python's numbers, and walks the grid with the last axis fastest. Here
arguments are the typed values that the signature promises, and the grid is walked with the first axis fastest, as
compiled code does: where program instances write the same element, the order decides.
"""
import numpy as np
import triton.language as tl
from triton.runtime import interpreter

import kernels

ELEMENT_TYPES = {"i1": tl.int1, "i8": tl.int8, "i16": tl.int16, "i32": tl.int32, "i64": tl.int64, "u1": tl.int1,
                 "u8": tl.uint8, "u16": tl.uint16, "u32": tl.uint32, "u64": tl.uint64,
                 "fp16": tl.float16, "bf16": tl.bfloat16, "fp32": tl.float32, "fp64": tl.float64,
                 "fp8e4nv": tl.float8e4nv, "fp8e5": tl.float8e5, "fp8e4b8": tl.float8e4b8,
                 "fp8e5b16": tl.float8e5b16, "fp8e4b15": tl.float8e4b15}


def find_kernel(module, name):
    return kernels.find_kernel(module, name, interpreter.InterpretedFunction)


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
