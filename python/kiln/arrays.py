"""Arrays of any library: where their elements are, of which type, on which device.

PyTorch's tensors and NumPy's arrays are read by their own attributes, others (JAX, CuPy …) by DLPack, and what Python itself has
(array.array, memoryview) by the buffer protocol."""

import ctypes
from typing import NamedTuple, Optional

from kiln import element_types


class Array(NamedTuple):
    address: int
    element: str  # as signatures write it
    shape: tuple
    strides: tuple  # in elements
    driver: str  # "cpu", "cuda" or "hip"
    ordinal: int
    read_only: bool
    owner: object  # keeps the elements alive
    stream: Optional[int] = None  # the array library's current one on that device, if it says

    @property
    def base(self):
        """What functions get."""
        return self.address or (element_types.NOWHERE if 0 in self.shape else 0)


class NotAnArray(TypeError):
    pass


def array_of(value):
    if hasattr(value, "data_ptr") and hasattr(value, "untyped_storage"):
        return of_torch(value)
    if hasattr(value, "__array_interface__"):
        return of_numpy(value)
    if hasattr(value, "__dlpack__"):
        return of_dlpack(value)
    try:
        view = memoryview(value)
    except TypeError:
        kind = type(value).__name__
        raise NotAnArray(f"got {kind}, expected an array: of PyTorch, NumPy, or anything with __dlpack__ or a buffer") from None
    return of_buffer(view)


def element_named(name):
    element = element_types.of_array(name)
    if element is None:
        raise NotAnArray(f"no kernel takes elements of type {name}")
    return element


def of_torch(tensor):
    import torch

    kind = tensor.device.type
    if kind not in ("cpu", "cuda"):
        raise NotAnArray(f"the tensor is on device '{tensor.device}', expected cpu or cuda")
    if tensor.layout is not torch.strided:
        raise NotAnArray(f"the tensor's layout is {tensor.layout}, expected torch.strided")
    stream = None
    driver = kind
    if kind == "cuda":
        driver = "hip" if torch.version.hip else "cuda"
        stream = torch.cuda.current_stream(tensor.device).cuda_stream
    return Array(
        tensor.data_ptr(),
        element_named(str(tensor.dtype).split(".")[-1]),
        tuple(tensor.shape),
        tuple(tensor.stride()),
        driver,
        tensor.device.index or 0,
        False,
        tensor,
        stream,
    )


def of_numpy(array):
    interface = array.__array_interface__
    address, read_only = interface["data"]
    dtype = array.dtype
    if not dtype.isnative:
        raise NotAnArray(f"the array's byte order ({dtype.str}) is not this machine's")
    size = dtype.itemsize
    strides = interface.get("strides") or contiguous_strides(interface["shape"], size)
    if any(stride % size for stride in strides):
        raise NotAnArray(f"the array's strides {strides} are not multiples of its elements' {size} bytes")
    return Array(
        address,
        element_named(dtype.name),
        tuple(interface["shape"]),
        tuple(stride // size for stride in strides),
        "cpu",
        0,
        read_only,
        array,
    )


BUFFER_FORMATS = {"f": "fp32", "d": "fp64", "e": "fp16", "?": "i1"}


def of_buffer(view):
    letter = view.format[-1]
    if letter in BUFFER_FORMATS:
        element = BUFFER_FORMATS[letter]
    elif letter in "bBhHiIlLqQ" and view.format[0] not in "<>!":
        element = ("i" if letter.islower() else "u") + str(8 * view.itemsize)
    else:
        raise NotAnArray(f"no kernel takes elements of the buffer's format '{view.format}'")
    if view.readonly:
        raise NotAnArray("the buffer is read-only")
    if not view.contiguous:
        raise NotAnArray("the buffer has gaps")
    address = ctypes.addressof(ctypes.c_char.from_buffer(view)) if view.nbytes else 0
    strides = tuple(stride // view.itemsize for stride in view.strides)
    return Array(address, element, tuple(view.shape), strides, "cpu", 0, False, view)


def contiguous_strides(shape, step=1):
    strides = []
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


# --- DLPack: dlpack.h of https://github.com/dmlc/dlpack ---


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("ordinal", ctypes.c_int32)]


class DType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("rank", ctypes.c_int32),
        ("dtype", DType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


READ_ONLY = 1
DRIVERS = {1: "cpu", 2: "cuda", 3: "cpu", 10: "hip", 11: "cpu", 13: "cuda"}


def capsule_of(value):
    """A capsule of DLPack 1.0, or of the version before from libraries that know no other."""
    try:
        return value.__dlpack__(max_version=(1, 0))
    except TypeError:
        return value.__dlpack__()


def of_dlpack(value):
    capsule = capsule_of(value)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.restype, is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
    read_only = False
    if is_valid(capsule, b"dltensor_versioned"):
        managed = Versioned.from_address(pointer(capsule, b"dltensor_versioned"))
        if managed.major != 1:
            raise NotAnArray(f"the array is described by DLPack {managed.major}, expected 1")
        tensor, read_only = managed.tensor, bool(managed.flags & READ_ONLY)
    else:
        tensor = DLTensor.from_address(pointer(capsule, b"dltensor"))
    element = element_types.OF_DLPACK.get((tensor.dtype.code, tensor.dtype.bits)) if tensor.dtype.lanes == 1 else None
    if element is None:
        raise NotAnArray(f"no kernel takes elements of DLPack's type {tensor.dtype.code} with {tensor.dtype.bits} bits")
    driver = DRIVERS.get(tensor.device.kind)
    if driver is None:
        raise NotAnArray(f"the array is on a device of DLPack's kind {tensor.device.kind}, expected a CPU, CUDA or ROCm")
    shape = tuple(tensor.shape[axis] for axis in range(tensor.rank))
    strides = tuple(tensor.strides[axis] for axis in range(tensor.rank)) if tensor.strides else contiguous_strides(shape)
    # The capsule gives the array back when it goes: nobody takes it over here.
    return Array(
        (tensor.data or 0) + tensor.byte_offset, element, shape, strides, driver, tensor.device.ordinal, read_only, capsule
    )
