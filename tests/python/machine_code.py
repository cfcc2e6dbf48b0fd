"""pytest -p machine_code -p kiln --kiln-target emu:gfx942 --kiln-check: in place of what the emulator runs, the machine code that a GPU
would be given is executed by tests/amdgcn (KILN_MACHINE, or bazel-bin/tests/amdgcn/libmachinehip.so). Kernels are compiled for arrays below
2 GiB in the device's memory, as Triton takes for granted on AMD."""
import ctypes
import os
import pathlib

from kiln.jit import launch_spec, target
from kiln.runtime import DRIVERS, Stream

# By ordinal: deviceProcessors of tests/amdgcn/MachineHip.h.
PROCESSORS = ("gfx942", "gfx1100", "gfx90a", "gfx950", "gfx1201", "gfx1151")
built = pathlib.Path(__file__).resolve().parents[2] / "bazel-bin/tests/amdgcn/libmachinehip.so"
library = os.environ.get("KILN_MACHINE", str(built))


class Target(target.Target):
    def __init__(self, name):
        super().__init__(name)
        self.name = "hip:" + self.arch


class Machine:
    """What stands where the emulator does: the executor knows each launch's memory, and reports what machine code does wrong."""

    def __init__(self, runtime, arch, check, pool):
        set_path = runtime.shared_object.kiln_set_driver_path
        runtime.succeed(set_path(DRIVERS["hip"], library.encode()))
        self.executor = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self.executor.kilnMachineTakeReport.restype = ctypes.c_char_p
        self.ordinal = ctypes.c_int(PROCESSORS.index(arch))
        self.executor.hipSetDevice(self.ordinal)
        self.stream = Stream(DRIVERS["hip"], 0, ctypes.addressof(self.ordinal))

    def register_memory(self, address, size, unwritten=0):
        self.executor.kilnMachineRegister(ctypes.c_void_p(address), ctypes.c_size_t(size))

    def unregister_memory(self, address):
        self.executor.kilnMachineUnregister(ctypes.c_void_p(address))

    def take_reports(self):
        report = self.executor.kilnMachineTakeReport().decode(errors="replace")
        return [report] if report else []


def spec_of(*arguments, **named):
    spec = of_emulators(*arguments, **named)
    for kernel in spec["kernels"]:
        kernel.update(small_arrays=True, device_memory=True)
    return spec


of_emulators, launch_spec.spec_of = launch_spec.spec_of, spec_of
target.Target, target.Emulator = Target, Machine
