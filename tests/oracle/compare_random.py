#!/usr/bin/env python3
"""Compares random kernels (random_kernel.py) on Triton's interpreter and on Kiln's targets, to the last bit.

  PYTHON compare_random.py --kiln KILN --runtime FOLDER --first SEED --count N [--target emu:sm_90a ...] [--any-extents] [--blocks]

PYTHON has NumPy and Triton (3.5.1 with --blocks: later interpreters lack block pointers). --runtime is bazel-bin/runtime. Of targets such as
hip:gfx942 the machine code is executed, with --machine bazel-bin/tests/amdgcn/libmachinehip.so. Prints a
line for each seed that differs, that Kiln refuses, or that the interpreter cannot run, and keeps its source in --keep. With --source FILE,
that kernel instead of random ones; with --reduce, lines are left out of it as long as the outcome stays the same.
"""
import argparse
import ctypes
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

os.environ["TRITON_INTERPRET"] = "1"
warnings.filterwarnings("ignore")

import numpy as np
import triton._utils
import triton.language as tl
from triton.language import semantic

import interpreter
import oracle
import random_arrays
import random_kernel
import random_sources as sources
import repairs
from compare_record import DRIVER_HIP, machine_stream, name_types

np.seterr(all="ignore")
TARGETS = ("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942", "emu:gfx1100")
C_TYPES = {"i8": ctypes.c_int8, "i32": ctypes.c_int32, "i64": ctypes.c_int64}


def accept_any_extent():
    def count(shape):
        return int(np.prod([int(getattr(extent, "value", extent)) for extent in shape], dtype=np.int64))

    def arange(self, start, end, *, ret_ty=None):
        kind = ret_ty or tl.block_type(tl.int32, [end - start])
        return self.tensor(self.builder.create_make_range(kind.to_ir(self.builder), start, end), kind)

    for module in (triton._utils, tl.core):
        module.validate_block_shape = count
    semantic.TritonSemantic.arange = arange


class Library:
    def __init__(self, path, machine):
        self.library, self.machine = ctypes.CDLL(path), machine
        name_types(self.library)
        if machine:
            self.library.kiln_set_driver_path(DRIVER_HIP, machine.encode())

    def run(self, target, arrays):
        """What went wrong, or nothing."""
        k, pool, emulator = self.library, ctypes.c_void_p(), None
        k.kiln_cpu_pool_create(ctypes.c_uint32(1), ctypes.byref(pool))
        if target == "cpu":
            stream = k.kiln_cpu_stream(pool)
        elif target.startswith("hip:"):
            stream = machine_stream(k, self.machine, target, [(arrays.address(name), arrays.size(name)) for name in arrays.bytes])
        else:
            emulator = ctypes.c_void_p()
            if k.kiln_emulator_create(target[4:].encode(), pool, ctypes.byref(emulator)):
                return k.kiln_last_error().decode()
            k.kiln_emulator_set_check(emulator, 1)
            for name in arrays.bytes:
                k.kiln_emulator_register(emulator, ctypes.c_void_p(arrays.address(name)), ctypes.c_size_t(arrays.size(name)))
            stream = k.kiln_emulator_stream(emulator)
        passed = [ctypes.c_void_p(arrays.address(name)) for name in arrays.bytes]
        passed += [C_TYPES[kind](value) for kind, value in sources.SCALARS.values()]
        status = k.k(stream, ctypes.c_uint32(sources.PROGRAMS), ctypes.c_uint32(1), ctypes.c_uint32(1), *passed)
        if emulator and k.kiln_emulator_num_reports(emulator):
            return k.kiln_emulator_report(emulator, ctypes.c_uint32(0)).decode()
        return k.kiln_last_error().decode() if status else None


def build(args, source, seed, out):
    """The path of a library with the kernel, or None and the error."""
    (out / "kernel.py").write_text(source)
    (out / "spec.json").write_text(json.dumps(random_arrays.spec(seed, "record", "k", "kernel.py", args.target)))
    try:
        built = subprocess.run([args.kiln, "build", str(out / "spec.json"), "-o", str(out / "lib"), "-j", "1"], capture_output=True,
                               text=True, errors="replace", timeout=args.compile_seconds * len(args.target))
    except subprocess.TimeoutExpired:
        return None, "compiling took too long"
    if built.returncode:
        return None, oracle.first_error(built.stderr + built.stdout)
    return oracle.link(args.runtime, out)


def compare(args, seed, out, library):
    """In a process of its own: prints what differs."""
    arrays = random_arrays.Arrays(seed)
    initial = arrays.snapshot()
    spec = importlib.util.spec_from_file_location("kernel_under_test", out / "kernel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = interpreter.find_kernel(module, "kernel")
    values = {name: interpreter.typed(kind, arrays.address(name) if kind.startswith("*") else sources.SCALARS[name][1])
              for name, kind in sources.PARAMETERS.items()}
    try:
        interpreter.run(kernel, values, (sources.PROGRAMS, 1, 1))
    except BaseException as error:
        while error.__cause__ is not None:
            error = error.__cause__
        return [f"interpreter: {type(error).__name__}: {str(error)[:200]}"]
    expected = arrays.snapshot()
    loaded, found = Library(library, args.machine), []
    for target in args.target:
        arrays.restore(initial)
        print(f"in {target}", flush=True)
        error = loaded.run(target, arrays)
        if error:
            found.append(f"{target}: {error}")
            continue
        wrong = arrays.first_difference(expected)
        if wrong:
            found.append(f"{target}: {wrong}")
    return found


def outcome(args, source, seed):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        library, error = build(args, source, seed, out)
        if library is None:
            return [f"refused: {error}"]
        log = out / "log"
        child = os.fork()
        if child == 0:
            with open(log, "w") as file:
                os.dup2(file.fileno(), 1)
                for line in compare(args, seed, out, library):
                    print("found " + line)
                sys.stdout.flush()
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        lines = log.read_text().splitlines()
        found = [line[6:] for line in lines if line.startswith("found ")]
        if status:
            found.append(f"died with {status} {lines[-1:]}")
        return found


def kind_of(found):
    """An outcome without its numbers: what reducing keeps."""
    return sorted({re.sub(r"0x[0-9a-f]+|\d+", "#", line.split(": ")[0] + (": " + line.split(": ", 1)[1][:60] if line.startswith(("refused", "interpreter")) else "")) for line in found})


def reduced(args, source, seed):
    wanted = kind_of(outcome(args, source, seed))
    lines = source.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("def kernel")) + 2
    size = max(1, (len(lines) - head) // 2)
    while size:
        at = head
        while at < len(lines):
            fewer = lines[:at] + lines[at + size:]
            if kind_of(outcome(args, "\n".join(fewer) + "\n", seed)) == wanted:
                lines = fewer
            else:
                at += size
        size //= 2
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kiln", required=True)
    parser.add_argument("--runtime", required=True, type=pathlib.Path)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--target", action="append")
    parser.add_argument("--machine", help="libmachinehip.so, for hip:…")
    parser.add_argument("--any-extents", action="store_true")
    parser.add_argument("--blocks", action="store_true")
    parser.add_argument("--bits", type=int, default=10, choices=range(6, 14), help="of the number of elements of a common tile")
    parser.add_argument("--compile-seconds", type=int, default=20)
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--reduce", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "kiln-random")
    args = parser.parse_args()
    args.target, args.runtime = args.target or list(TARGETS), args.runtime.absolute()
    args.keep.mkdir(parents=True, exist_ok=True)
    repairs.mend()
    accept_any_extent()
    if args.source:
        source = args.source.read_text()
        if args.reduce:
            source = reduced(args, source, args.first)
            args.source.with_suffix(".reduced.py").write_text(source)
            print(source)
        print(*outcome(args, source, args.first), sep="\n")
        return
    good = 0
    for seed in range(args.first, args.first + args.count):
        source = random_kernel.generate(seed, any_extents=args.any_extents, block_pointers=args.blocks, most_bits=args.bits)
        found = outcome(args, source, seed)
        good += not found
        for line in found:
            print(f"seed {seed}: {line}", flush=True)
        if found:
            (args.keep / f"{seed}.py").write_text(source)
    print(f"{good} of {args.count} agree")


if __name__ == "__main__":
    main()
