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
