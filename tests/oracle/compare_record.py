"""Compares one kernel: `compare_record.py JOB.json`. Prints one JSON line for each step, so that what ends a crash is known.

JOB: root, path, kernel, signature, constexprs, libraries (a shared object of Kiln's for each device: "cpu", an emulated GPU's
name, or "hip:" and the name of one whose machine code is executed), machine (the libamdhip64 for these, tests/amdgcn), seeds,
memory_limit (bytes), seconds (for one run of the interpreter).
"""
import ctypes
import json
import os
import resource
import signal
import sys
import warnings

os.environ["TRITON_INTERPRET"] = "1"
warnings.filterwarnings("ignore")
sys.setrecursionlimit(5000)

import numpy as np

np.seterr(all="ignore")

import arguments
import compare
import interpreter
import kernels
import repairs
import stand_ins

GRIDS = ((2, 2, 1), (3, 1, 1), (1, 2, 2), (2, 3, 1), (4, 1, 1), (1, 1, 1))
DRIVER_HIP = 2  # runtime/kiln.h
MACHINES = ("gfx942", "gfx1100", "gfx90a", "gfx950", "gfx1201", "gfx1151")  # tests/amdgcn/MachineHip.h
ORDINALS = [ctypes.c_int(number) for number in range(len(MACHINES))]
ENOUGH = 2  # telling runs of a kernel, or such that the interpreter does not end in time
C_TYPES = {"i1": ctypes.c_bool, "u1": ctypes.c_bool, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32,
           "i64": ctypes.c_int64, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32,
           "u64": ctypes.c_uint64, "fp32": ctypes.c_float, "fp64": ctypes.c_double}


def say(**what):
    print(json.dumps(what), flush=True)


class Stream(ctypes.Structure):
    _fields_ = [("driver", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("handle", ctypes.c_void_p)]


def name_types(library):
    """What functions of the runtime return."""
    library.kiln_cpu_stream.restype = library.kiln_emulator_stream.restype = library.kiln_hip_stream.restype = Stream
    library.kiln_emulator_report.restype = library.kiln_last_error.restype = ctypes.c_char_p


def machine_stream(library, path, device, ranges):
    """The stream of "hip:" and a processor, once the library has the driver at `path`, which executes machine code. Kernels may touch the
    ranges (address, bytes) alone."""
    machine = ctypes.CDLL(path)
    for address, size in ranges:
        machine.kilnMachineRegister(ctypes.c_void_p(address), ctypes.c_size_t(size))
    machine.kilnMachineOrderWorkgroups()
    ordinal = MACHINES.index(device[len("hip:"):])
    return library.kiln_hip_stream(ctypes.byref(ORDINALS[ordinal]))


class CompiledKernel:
    """Kiln's code for the kernel, run by one thread, so that program instances follow each other."""

    def __init__(self, path, device, kinds, machine, memory):
        self.library = ctypes.CDLL(path)
        self.kinds = kinds
        name_types(self.library)
        if device.startswith("hip:"):
            self.check(self.library.kiln_set_driver_path(DRIVER_HIP, machine.encode()))
            self.stream = machine_stream(self.library, machine, device, [(memory.bytes.ctypes.data, memory.size)])
            return
        pool = ctypes.c_void_p()
        self.check(self.library.kiln_cpu_pool_create(ctypes.c_uint32(1), ctypes.byref(pool)))
        if device == "cpu":
            self.stream = self.library.kiln_cpu_stream(pool)
        else:
            emulator = ctypes.c_void_p()
            self.check(self.library.kiln_emulator_create(device.encode(), pool, ctypes.byref(emulator)))
            self.stream = self.library.kiln_emulator_stream(emulator)

    def check(self, status):
        if status:
            raise RuntimeError(self.library.kiln_last_error().decode())

    def run(self, values, grid):
        passed = [ctypes.c_void_p(v) if kind.startswith("*") else C_TYPES[kind](v) for kind, v in zip(self.kinds, values)]
        self.check(self.library.k(self.stream, *(ctypes.c_uint32(n) for n in grid), *passed))


class TimeUp(BaseException):
    pass


def with_limit(seconds, function):
    def stop(*ignored):
        raise TimeUp()
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return function()
    finally:
        signal.alarm(0)


def describe(error):
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {str(error)[:300]}"


def compare_once(job, kernel, constants, parameters, compiled, memory, seed):
    """Runs the interpreter, and the compiled kernel of each device; whether all of these wrote something telling."""
    pointers = [(name, kind[1:]) for name, kind in parameters if kind.startswith("*")]
    bases = {name: memory.base(i) for i, (name, _) in enumerate(pointers)}
    values = dict(arguments.choose(parameters, seed), **bases)
    grid = GRIDS[seed % len(GRIDS)]
    arguments.fill(memory, parameters, seed)
    initial = memory.bytes.copy()
    say(step="interpreter", seed=seed, scalars={n: v for n, v in values.items() if n not in bases}, grid=grid)
    typed = {name: interpreter.typed(kind, values[name]) for name, kind in parameters}
    try:
        with_limit(job["seconds"], lambda: interpreter.run(kernel, {**constants, **typed}, grid))
    except TimeUp:
        say(step="interpreter failed", seed=seed, error="time limit")
        raise
    except Exception as error:
        say(step="interpreter failed", seed=seed, error=describe(error))
        return False
    expected = memory.bytes.copy()
    all_telling = True
    for device, library in compiled.items():
        memory.bytes[:] = initial
        say(step="kiln", seed=seed, device=device)
        library.run([values[name] for name, _ in parameters], grid)
        regions = compare.compare(initial, expected, memory.bytes, pointers, memory)
        telling = compare.is_telling(regions)
        say(step="compared", seed=seed, device=device, telling=telling, regions=regions)
        all_telling &= telling
    return all_telling


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    repairs.mend()
    say(step="import")
    try:
        module = with_limit(60, lambda: stand_ins.import_module(job["root"], job["path"]))
    except BaseException as error:
        return say(step="import failed", error=describe(error))
    repairs.provide_builtins(job["root"])
    kernel = interpreter.find_kernel(module, job["kernel"])
    if kernel is None:
        return say(step="import failed", error="no kernel of that name")
    parameters, constants = [], {}
    for name in kernel.arg_names:
        kind = job["signature"].get(name)
        if isinstance(kind, str) and kind.lstrip("*").split(":")[0] in interpreter.ELEMENT_TYPES:
            parameters.append((name, kind.split(":")[0]))
        elif name in job["signature"] or name in job["constexprs"]:
            constants[name] = kernels.constant(job["constexprs"].get(name, kind), module)
    memory = arguments.Memory(sum(kind.startswith("*") for _, kind in parameters))
    resource.setrlimit(resource.RLIMIT_AS, (job["memory_limit"],) * 2)
    kinds = [kind for _, kind in parameters]
    compiled = {device: CompiledKernel(path, device, kinds, job["machine"], memory) for device, path in job["libraries"].items()}
    telling = endless = 0
    for seed in job["seeds"]:
        try:
            telling += compare_once(job, kernel, constants, parameters, compiled, memory, seed)
        except TimeUp:
            endless += 1
        if ENOUGH in (telling, endless):
            break


if __name__ == "__main__":
    main()
