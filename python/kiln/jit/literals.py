"""Values as source text."""

import enum
import math

import triton.language as tl

from kiln.element_types import ELEMENTS


class Unwritable(Exception):
    """A kernel refers to a value that cannot be written down."""


def dtype_attribute(dtype):
    """The attribute of triton.language: "float16"."""
    element = ELEMENTS.get(dtype.name)
    return element.language if element else dtype.name


def literal(value):
    if isinstance(value, enum.Enum) and not isinstance(value, (int, str)):
        raise Unwritable(f"enum {value!r}")
    if value is None or isinstance(value, (bool, str, bytes)):
        return repr(value)
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"float('{value}')"
    if isinstance(value, tl.constexpr):
        return f"tl.constexpr({literal(value.value)})"
    if isinstance(value, tl.pointer_type):
        return f"tl.pointer_type({literal(value.element_ty)})"
    if isinstance(value, tl.dtype):
        return "tl." + dtype_attribute(value)
    if isinstance(value, (tuple, tl.tuple)) and not hasattr(value, "_fields"):
        items = [literal(item) for item in value]
        return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    raise Unwritable(f"a value of type {type(value).__name__}")
