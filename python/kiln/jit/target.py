"""What kernels run on: the CPU, or a GPU that the CPU stands in for."""

import ctypes
import re

from kiln.emulator import Emulator
from kiln.runtime import DRIVERS, Runtime, Stream

# What programs ask of a GPU: processors, bytes of shared memory for a block.
_GPUS = {
    "sm_80": (108, 166912),
    "sm_86": (84, 101376),
    "sm_89": (128, 101376),
    "sm_90a": (132, 232448),
    "gfx90a": (104, 65536),
    "gfx942": (304, 65536),
    "gfx950": (256, 163840),
    "gfx1100": (48, 65536),
    "gfx1101": (30, 65536),
    "gfx1102": (16, 65536),
    "gfx1103": (6, 65536),
    "gfx1150": (8, 65536),
    "gfx1151": (20, 65536),
    "gfx1152": (4, 65536),
    "gfx1153": (2, 65536),
    "gfx1200": (16, 65536),
    "gfx1201": (32, 65536),
}
_STANDS_FOR = "sm_90a"  # what a program that runs on the CPU target sees


class Target:
    def __init__(self, name):
        if name != "cpu" and not re.fullmatch(r"cpu:[\w-]+", name) and name.removeprefix("emu:") not in _GPUS:
            emulated = ", ".join("emu:" + arch for arch in _GPUS)
            raise ValueError(f"'{name}': expected cpu or one of {emulated}")
        self.name = name
        self.is_emulated = name.startswith("emu:")
        self.arch = name.removeprefix("emu:") if self.is_emulated else _STANDS_FOR
        self.is_hip = self.arch.startswith("gfx")
        self.warp_size = 64 if self.arch.startswith("gfx9") else 32
        self.processors, self.shared_bytes = _GPUS[self.arch]
        # torch.cuda.get_device_capability: (9, 0) of sm_90a, (9, 4) of gfx942, (11, 0) of gfx1100.
        digits = self.arch[3:].rstrip("a") if not self.is_hip else self.arch[3:-1]
        self.capability = (int(digits[:-1]), int(digits[-1]))


class Device:
    """The runtime for a target, in this process."""

    def __init__(self, target, library, check=False, threads=0):
        self.target, self.check = target, check and target.is_emulated
        self.runtime = Runtime(ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL))
        self.pool = ctypes.c_void_p()
        if threads:
            self.runtime.succeed(self.runtime.function("kiln_cpu_pool_create")(threads, ctypes.byref(self.pool)))
        if target.is_emulated:
            self.emulator = Emulator(self.runtime, target.arch, check, self.pool)
            self.stream = self.emulator.stream
        else:
            self.emulator = None
            self.stream = Stream(DRIVERS["cpu"], 0, self.pool)

    def last_error(self):
        return self.runtime.function("kiln_last_error")().decode(errors="replace")
