"""The types of arguments as signatures write them, and what Python passes for them."""

import ctypes
import struct
from typing import NamedTuple

MAX_RANK = 5
# Where arrays without elements are: array libraries have null for them, which functions refuse. No program has this page.
NOWHERE = 1 << 12


class Tensor(ctypes.Structure):
    """kiln_tensor."""

    _fields_ = [
        ("base", ctypes.c_void_p),
        ("rank", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("shape", ctypes.c_int64 * MAX_RANK),
        ("strides", ctypes.c_int64 * MAX_RANK),
    ]


class Element(NamedTuple):
    language: str  # the attribute of triton.language
    array: str  # what libraries of arrays call it, "" where none has it
    dlpack: int  # DLDataTypeCode, -1 where it has none
    bits: int
    c_type: type  # of a scalar argument: floats of 8 and 16 bits travel as their bits


# The elements of runtime/element_types.def by their names in signatures.
ELEMENTS = {
    "i1": Element("int1", "bool", 6, 1, ctypes.c_bool),
    "i8": Element("int8", "int8", 0, 8, ctypes.c_int8),
    "i16": Element("int16", "int16", 0, 16, ctypes.c_int16),
    "i32": Element("int32", "int32", 0, 32, ctypes.c_int32),
    "i64": Element("int64", "int64", 0, 64, ctypes.c_int64),
    "u8": Element("uint8", "uint8", 1, 8, ctypes.c_uint8),
    "u16": Element("uint16", "uint16", 1, 16, ctypes.c_uint16),
    "u32": Element("uint32", "uint32", 1, 32, ctypes.c_uint32),
    "u64": Element("uint64", "uint64", 1, 64, ctypes.c_uint64),
    "fp8e4b15": Element("float8e4b15", "", -1, 8, ctypes.c_uint8),
    "fp8e4nv": Element("float8e4nv", "float8_e4m3fn", 10, 8, ctypes.c_uint8),
    "fp8e4b8": Element("float8e4b8", "float8_e4m3fnuz", 11, 8, ctypes.c_uint8),
    "fp8e5": Element("float8e5", "float8_e5m2", 12, 8, ctypes.c_uint8),
    "fp8e5b16": Element("float8e5b16", "float8_e5m2fnuz", 13, 8, ctypes.c_uint8),
    "fp16": Element("float16", "float16", 2, 16, ctypes.c_uint16),
    "bf16": Element("bfloat16", "bfloat16", 4, 16, ctypes.c_uint16),
    "fp32": Element("float32", "float32", 2, 32, ctypes.c_float),
    "fp64": Element("float64", "float64", 2, 64, ctypes.c_double),
}
INTEGERS = tuple(name for name in ELEMENTS if name[0] in "iu" and name != "i1")
FP8 = tuple(name for name in ELEMENTS if name.startswith("fp8"))
C_TYPES = {name: element.c_type for name, element in ELEMENTS.items()}
OF_ARRAYS = {element.array: name for name, element in ELEMENTS.items() if element.array}
OF_DLPACK = {(element.dlpack, 8 * ctypes.sizeof(element.c_type)): name for name, element in ELEMENTS.items() if element.dlpack >= 0}


def integer_range(kind):
    bits = int(kind[1:])
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "i" else (0, (1 << bits) - 1)


def half_bits(value):
    """fp16, to nearest, infinity where it is too large."""
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0x7C00 if value > 0 else 0xFC00


def bfloat_bits(value):
    """bf16, to nearest even of the fp32 number nearest to `value`."""
    bits = struct.unpack("<I", bytes(ctypes.c_float(value)))[0]
    if value != value:
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF


def of_array(name):
    """What signatures call the elements of an array whose library calls them `name` ("float32"); None: nothing."""
    return OF_ARRAYS.get(name)


# Where a library of arrays lacks a type, its bits in an unsigned integer of the same size stand for it.
BITS = {"bf16": "u16", **{name: "u8" for name in FP8}}


def may_hold(array_type, element):
    return array_type == element or BITS.get(element) == array_type
