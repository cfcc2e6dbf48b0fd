"""kiln.load: the functions of a generated library, for Python's arrays and numbers.

What a function takes is what the library says of itself (kiln_describe), so nothing is read but the shared object."""

import ctypes
import json
import operator
import os
import re

from kiln import element_types
from kiln.arrays import array_of
from kiln.emulator import Emulator
from kiln.runtime import DRIVERS, Runtime, Stream

GRID = ["grid_x", "grid_y", "grid_z"]


def load(path, name=None, prefix=""):
    """The library in the shared object `path`: its entry points are attributes of what this returns.

    `name` is the library's, in place of X of the file libX.so; `prefix` that of `kiln build --prefix`."""
    path = os.path.abspath(os.fspath(path))
    name = name or re.sub(r"^lib|\.so.*$", "", os.path.basename(path))
    return Library(ctypes.CDLL(path), path, name, prefix)


class Library:
    def __init__(self, shared_object, path, name, prefix):
        self._runtime = Runtime(shared_object, prefix)
        try:
            record = ctypes.c_char.in_dll(shared_object, f"{prefix}{name}_library")
            describe = self._runtime.function("kiln_describe")
        except (ValueError, AttributeError):
            raise ValueError(
                f"{path}: expected a library of Kiln named '{name}' with Kiln's runtime (no {prefix}{name}_library and "
                "kiln_describe); load(path, name=…, prefix=…) say how it is called"
            ) from None
        size = ctypes.c_size_t()
        self._runtime.succeed(describe(ctypes.addressof(record), None, 0, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self._runtime.succeed(describe(ctypes.addressof(record), text, size.value, None))
        self.path, self.description = path, json.loads(text.value)
        self._shared_object, self._prefix, self._name = shared_object, prefix, name
        for entry in self.description["entries"]:
            setattr(self, entry["name"], EntryPoint(self._runtime, shared_object, entry))

    def __repr__(self):
        return f"<library '{self._name}' of {self.path}: {', '.join(e['name'] for e in self.description['entries'])}>"

    def emulator(self, arch, check=False):
        """An emulated GPU ("sm_90a") for this library: pass it as `stream`."""
        return Emulator(self._runtime, arch, check)

    def unload(self):
        """Takes the library's code off all devices: docs/runtime.md says when that may be done."""
        unload = getattr(self._shared_object, f"{self._prefix}{self._name}_unload")
        self._runtime.succeed(unload())


class EntryPoint:
    def __init__(self, runtime, shared_object, description):
        if "arguments" not in description:
            raise ValueError(f"{description['name']}: the library does not describe its arguments; build it anew")
        self.__name__ = description["name"]
        self.description = description
        arguments = description["arguments"]
        self.has_callers_grid = [a["name"] for a in arguments[:3]] == GRID
        self.parameters = [Parameter(a["name"], a["type"]) for a in arguments[3 if self.has_callers_grid else 0 :]]
        self._runtime = runtime
        grid = [ctypes.c_uint32] * 3 if self.has_callers_grid else []
        types = [Stream, *grid, *(p.c_type for p in self.parameters)]
        self._call = self._function(shared_object, self.__name__, types)
        self._call_variant = self._function(shared_object, self.__name__ + "_variant", [ctypes.c_uint32, *types])
        self._drivers = sorted({target["driver"] for target in description["targets"]})

    @staticmethod
    def _function(shared_object, name, types):
        function = getattr(shared_object, name)
        function.restype, function.argtypes = ctypes.c_int, types
        return function

    def __repr__(self):
        return f"<{self.__name__}({', '.join(f'{p.name}: {p.type}' for p in self.parameters)})>"

    @property
    def variants(self):
        return [variant["name"] for variant in self.description["variants"]]

    def __call__(self, *args, stream=None, grid=None, **named):
        """Chooses a variant and launches it.

        `stream`: a number or pointer of the driver (cudaStream_t), an object with `cuda_stream`, an emulator() of the library;
        none: PyTorch's current stream where a tensor is on a GPU, else the default one. `grid`: where the spec has none."""
        self._launch(self._call, [], args, named, stream, grid)

    def run_variant(self, index, *args, stream=None, grid=None, **named):
        """Launches one variant; arguments that it does not hold for are an error."""
        self._launch(self._call_variant, [index], args, named, stream, grid)

    def _launch(self, function, first, args, named, stream, grid):
        bound = self._bind(args, named)
        arrays, values = {}, []
        for parameter, value in zip(self.parameters, bound):
            try:
                values.append(parameter.value(value, arrays))
            except (TypeError, ValueError, OverflowError) as error:
                raise type(error)(f"{self.__name__}: '{parameter.name}' ({parameter.type}): {error}") from None
        stream = self._stream(stream, arrays)
        self._runtime.succeed(function(*first, stream, *self._grid(grid), *values))

    def _bind(self, args, named):
        names = [p.name for p in self.parameters]
        if len(args) > len(names):
            raise TypeError(f"{self.__name__}: {len(args)} arguments, expected {len(names)}: {', '.join(names)}")
        given = dict(zip(names, args))
        for name, value in named.items():
            if name not in names or name in given:
                problem = "given twice" if name in given else f"expected one of {', '.join(names)}"
                raise TypeError(f"{self.__name__}: argument '{name}': {problem}")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{self.__name__}: no value for {', '.join(missing)}")
        return [given[name] for name in names]

    def _grid(self, grid):
        if not self.has_callers_grid:
            if grid is not None:
                raise TypeError(f"{self.__name__}: the library computes the grid")
            return []
        if grid is None:
            raise TypeError(f"{self.__name__}: expected grid=(x, y, z): the spec has none")
        sizes = [grid] if isinstance(grid, int) else list(grid)
        if not 1 <= len(sizes) <= 3 or any(not 0 <= operator.index(n) < 2**32 for n in sizes):
            raise ValueError(f"{self.__name__}: grid={grid}: expected one to three sizes of at least 0")
        return [*sizes, 1, 1][:3]

    def _stream(self, stream, arrays):
        places = {(array.driver, array.ordinal): name for name, array in arrays.items()}
        if len(places) > 1:
            found = ", ".join(f"'{name}' on {driver} {ordinal}" for (driver, ordinal), name in places.items())
            raise ValueError(f"{self.__name__}: arrays are on different devices: {found}")
        driver = next(iter(places))[0] if places else None
        if isinstance(stream, (Emulator, Stream)):
            stream = stream.stream if isinstance(stream, Emulator) else stream
            on_host = stream.driver in (DRIVERS["cpu"], DRIVERS["emu"])
            if driver and on_host != (driver == "cpu"):
                raise ValueError(f"{self.__name__}: the arrays are on {driver}, the stream is not")
            return stream
        driver = driver or ("cpu" if self._drivers == ["cpu"] else next((d for d in self._drivers if d in ("cuda", "hip")), None))
        if driver not in self._drivers:
            hint = "; stream=library.emulator(arch) runs it on an emulated GPU" if "emu" in self._drivers else ""
            raise ValueError(
                f"{self.__name__}: the arrays are on {driver or 'no device'}, but the library is for {', '.join(self._drivers)}{hint}"
            )
        if stream is None:
            stream = next((array.stream for array in arrays.values() if array.stream is not None), None)
        handle = getattr(stream, "cuda_stream", stream)
        if driver == "cpu" and handle:
            raise ValueError(f"{self.__name__}: the arrays are on the CPU, the stream is a GPU's")
        return Stream(DRIVERS[driver], 0, handle)


class Parameter:
    """An argument of an entry point."""

    def __init__(self, name, type_):
        self.name, self.type = name, type_
        descriptor = re.fullmatch(r"(\w+) tensor of rank (\d+)", type_)
        pointer = re.fullmatch(r"(\*+)(k?)(\w+)", type_)
        self.element = self.rank = None
        self.is_const = False
        if descriptor:
            self.element, self.rank = descriptor[1], int(descriptor[2])
            self.c_type, self.value = element_types.Tensor, self._tensor
        elif pointer:
            self.is_const = pointer[2] == "k"
            self.element = "u64" if len(pointer[1]) > 1 else pointer[3]
            self.c_type, self.value = ctypes.c_void_p, self._pointer
        else:
            self.c_type, self.value = element_types.C_TYPES[type_], self._scalar

    def _array(self, value, arrays):
        array = array_of(value)
        if not element_types.may_hold(array.element, self.element) and not (self.type.startswith("**") and array.element == "i64"):
            raise TypeError(f"an array of {array.element}, expected {self.element}")
        if array.read_only and not self.is_const:
            raise ValueError("the array is read-only; the kernel may write to it (the type *k… says that it does not)")
        arrays[self.name] = array
        return array

    def _pointer(self, value, arrays):
        if value is None:
            return None
        if isinstance(value, int):
            return value
        return self._array(value, arrays).base

    def _tensor(self, value, arrays):
        array = self._array(value, arrays)
        if len(array.shape) != self.rank:
            raise ValueError(f"an array of rank {len(array.shape)}, expected {self.rank}")
        tensor = element_types.Tensor(array.base, self.rank)
        tensor.shape[: self.rank], tensor.strides[: self.rank] = array.shape, array.strides
        return tensor

    def _scalar(self, value, arrays):
        kind = self.type
        if kind in element_types.INTEGERS or kind in element_types.FP8:
            number = operator.index(value)
            low, high = element_types.integer_range(kind) if kind in element_types.INTEGERS else (0, 255)
            if not low <= number <= high:
                raise OverflowError(f"{number}, expected {low} to {high}")
            return number
        if kind == "i1":
            return bool(value)
        number = float(value)
        if kind == "fp16":
            return element_types.half_bits(number)
        return element_types.bfloat_bits(number) if kind == "bf16" else number
