"""The types of arguments as signatures write them, and what Python passes for them."""

import ctypes
import struct

MAX_RANK = 5


class Tensor(ctypes.Structure):
    """kiln_tensor."""

    _fields_ = [
        ("base", ctypes.c_void_p),
        ("rank", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("shape", ctypes.c_int64 * MAX_RANK),
        ("strides", ctypes.c_int64 * MAX_RANK),
    ]


INTEGERS = {
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
}
FP8 = ("fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5", "fp8e5b16")
C_TYPES = {
    **INTEGERS,
    **{name: ctypes.c_uint8 for name in FP8},
    "i1": ctypes.c_bool,
    "fp16": ctypes.c_uint16,
    "bf16": ctypes.c_uint16,
    "fp32": ctypes.c_float,
    "fp64": ctypes.c_double,
}


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
    return ARRAY_TYPES.get(name)


ARRAY_TYPES = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2": "fp8e5",
    "float8_e5m2fnuz": "fp8e5b16",
}

# Where a library of arrays lacks a type, its bits in an unsigned integer of the same size stand for it.
BITS = {"bf16": "u16", **{name: "u8" for name in FP8}}


def may_hold(array_type, element):
    return array_type == element or BITS.get(element) == array_type
