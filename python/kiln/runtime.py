"""The runtime's C functions in a shared object, and its statuses as exceptions."""

import ctypes


class Error(RuntimeError):
    """A status other than success: `status` is its number, the text what the runtime says."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Stream(ctypes.Structure):
    """kiln_stream."""

    _fields_ = [("driver", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("handle", ctypes.c_void_p)]


class Position(ctypes.Structure):
    """kiln_emulator_position, without the call in which it was inlined."""

    _fields_ = [("file", ctypes.c_char_p), ("line", ctypes.c_uint32), ("column", ctypes.c_uint32), ("caller", ctypes.c_void_p)]


class Count(ctypes.Structure):
    """kiln_emulator_count: what the instructions at one place did."""

    TEXTS = ("kernel", "operation", "kind", "file")
    NUMBERS = (
        ["instructions", "thread_instructions", "divergent_branches", "flops", "matrix_operations"]
        + ["global_requests", "sectors", "ideal_sectors", "shared_requests", "wavefronts", "ideal_wavefronts"]
        + ["global_read", "global_written", "shared_read", "shared_written"]
    )
    _fields_ = [
        *((name, ctypes.c_char_p) for name in TEXTS),
        ("line", ctypes.c_uint32),
        ("column", ctypes.c_uint32),
        ("caller", ctypes.POINTER(Position)),
        *((name, ctypes.c_uint64) for name in NUMBERS),
    ]


class CountedKernel(ctypes.Structure):
    """kiln_emulator_kernel."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("warp_size", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("blocks", ctypes.c_uint64),
        ("first_count", ctypes.c_uint32),
        ("num_counts", ctypes.c_uint32),
    ]


# kiln_driver
DRIVERS = {"cuda": 1, "hip": 2, "cpu": 3, "emu": 4}

_pointer, _size, _number, _status = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_int
_SIGNATURES = {
    "kiln_last_error": (ctypes.c_char_p, []),
    "kiln_status_string": (ctypes.c_char_p, [_status]),
    "kiln_describe": (_status, [_pointer, ctypes.c_char_p, _size, ctypes.POINTER(_size)]),
    "kiln_cpu_pool_create": (_status, [_number, _pointer]),
    "kiln_cpu_pool_destroy": (None, [_pointer]),
    "kiln_emulator_create": (_status, [ctypes.c_char_p, _pointer, _pointer]),
    "kiln_emulator_destroy": (None, [_pointer]),
    "kiln_emulator_stream": (Stream, [_pointer]),
    "kiln_emulator_set_check": (None, [_pointer, ctypes.c_int]),
    "kiln_emulator_register": (_status, [_pointer, _pointer, _size]),
    "kiln_emulator_unregister": (_status, [_pointer, _pointer]),
    "kiln_emulator_set_unwritten": (_status, [_pointer, _pointer, ctypes.c_uint64]),
    "kiln_emulator_num_reports": (_number, [_pointer]),
    "kiln_emulator_report": (ctypes.c_char_p, [_pointer, _number]),
    "kiln_emulator_clear_reports": (None, [_pointer]),
    "kiln_emulator_set_count": (None, [_pointer, ctypes.c_int]),
    "kiln_emulator_num_kernels": (_number, [_pointer]),
    "kiln_emulator_kernel_at": (_status, [_pointer, _number, ctypes.POINTER(CountedKernel)]),
    "kiln_emulator_count_at": (_status, [_pointer, _number, ctypes.POINTER(Count)]),
    "kiln_emulator_clear_counts": (None, [_pointer]),
}


class Runtime:
    def __init__(self, shared_object, prefix=""):
        self.shared_object, self.prefix = shared_object, prefix
        self.functions = {}

    def function(self, name):
        if name not in self.functions:
            function = getattr(self.shared_object, self.prefix + name)
            function.restype, function.argtypes = _SIGNATURES[name]
            self.functions[name] = function
        return self.functions[name]

    def succeed(self, status):
        if status:
            raise Error(status, self.function("kiln_last_error")().decode(errors="replace"))
