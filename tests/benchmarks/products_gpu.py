#!/usr/bin/env python3
"""Products of matrices on one GPU: every config of products.json, Triton's JIT with the same source and config, and cuBLAS, in turns.

    products_gpu.py LIBRARY.so [--spec products.json] [--sizes N,N,... | --shapes MxNxK,...] [--rows M] [--only TEXT] [--kiln-alone]

LIBRARY.so is the library of products.json, or of clusters.json (num_ctas beside single blocks; it goes with --kiln-alone), linked with the runtime (docs/performance.md has the commands). Checks every result against
PyTorch in double precision first, odd sizes as well, then times all in turns and prints TFLOP/s. --rows: of A, where it is not square; prints
GB/s of B. Needs PyTorch; Triton unless --kiln-alone.
"""
import argparse
import ctypes
import functools
import importlib
import json
import pathlib
import statistics
import sys

import torch

HERE = pathlib.Path(__file__).parent
ROUNDS = 16


class Stream(ctypes.Structure):
    _fields_ = [("driver", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("handle", ctypes.c_void_p)]


def load(path):
    library = ctypes.CDLL(path)
    library.kiln_cuda_stream.restype = Stream
    library.kiln_cuda_stream.argtypes = [ctypes.c_void_p]
    library.kiln_last_error.restype = ctypes.c_char_p
    return library


TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "fp8": torch.float8_e4m3fn, "int8": torch.int8, "tf32": torch.float32}


class Kind:
    """A config's operand type, and whether A and B are stored transposed: "f16nt_..."."""

    def __init__(self, name):
        kind = name.split("_")[0]
        self.name, self.type = kind, TYPES[kind[:-2]]
        self.transposed = [letter == "t" for letter in kind[-2:]]
        self.result = {"fp8": torch.float16, "int8": torch.int32}.get(kind[:-2], self.type)

    def operands(self, m, n, k):
        """Normal numbers, or small integers; where the result is not written there stays a NaN or -1."""
        def matrix(rows, columns, transposed):
            x = torch.randint(-8, 8, (rows, columns), device="cuda") if self.type == torch.int8 else torch.randn(rows, columns, device="cuda")
            x = x.to(self.type)
            return x.T.contiguous().T if transposed else x
        a, b = matrix(m, k, self.transposed[0]), matrix(k, n, self.transposed[1])
        return a, b, torch.full((m, n), -1 if self.result == torch.int32 else float("nan"), device="cuda", dtype=self.result)

    def by_library(self, a, b, c):
        if self.type == torch.float8_e4m3fn:
            one = torch.ones((), device="cuda")
            return lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.float16, use_fast_accum=True)
        return (lambda: torch._int_mm(a, b)) if self.type == torch.int8 else (lambda: torch.matmul(a, b, out=c))


def strides(a, b, c):
    """Those that are arguments: of each matrix the one that is not 1 (of a single row PyTorch may say so, too)."""
    return [max(t.stride()) for t in (a, b, c)]


class Shared:
    """What programs that share tiles need beside the operands: parts of tiles, flags, and how many of them there are."""

    def __init__(self):
        self.programs = torch.cuda.get_device_properties(0).multi_processor_count
        self.arrays = [torch.empty(self.programs * 2 * 128 * 256, device="cuda"), torch.zeros(self.programs, device="cuda", dtype=torch.int32)]

    @staticmethod
    @functools.cache
    def get():
        return Shared()

    @staticmethod
    def is_for(name):
        return name.endswith("_stream_k")


def kiln(library, name, a, b, c):
    (m, k), n = a.shape, b.shape[1]
    stream = library.kiln_cuda_stream(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    shared = Shared.get() if Shared.is_for(name) else None
    arrays = [a, b, c, *(shared.arrays if shared else [])]
    numbers = [m, n, k, *strides(a, b, c), *([shared.programs] if shared else [])]
    passed = [stream, *(ctypes.c_void_p(t.data_ptr()) for t in arrays), *map(ctypes.c_int32, numbers)]
    function = getattr(library, name)

    def launch():
        if function(*passed):
            raise RuntimeError(library.kiln_last_error().decode())

    return launch


def triton_launch(kernels, name, config, a, b, c):
    (m, k), n = a.shape, b.shape[1]
    numbers = [m, n, k, *a.stride(), *b.stride(), *c.stride()]
    if Shared.is_for(name):
        shared = Shared.get()
        return lambda: kernels["stream_k_matmul"][(shared.programs,)](a, b, None, c, *shared.arrays, *numbers, ACTIVATION="", **config)
    grid = (-(-m // config["BLOCK_SIZE_M"]) * -(-n // config["BLOCK_SIZE_N"]),)
    return lambda: kernels["matmul"].fn[grid](a, b, c, *numbers, ACTIVATION="", **config)


def triton_kernels():
    sys.path.insert(0, str(HERE / "../../kernels/matmul"))
    return {name: getattr(importlib.import_module(name), name + "_kernel") for name in ("matmul", "stream_k_matmul")}


def check(library, names):
    for m, n, k in ((64, 64, 64), (272, 272, 16), (128, 256, 32), (112, 304, 80), (1008, 1008, 528), (512, 768, 1024), (528, 512, 4096)):
        for name in names:
            a, b, c = Kind(name).operands(m, n, k)
            expected = a.double() @ b.double()
            kiln(library, name, a, b, c)()
            torch.cuda.synchronize()
            error = (c.double() - expected).abs().max().item() / expected.abs().max().item()
            # The unit adds products of 8-bit floats up with fewer bits.
            assert error < (2e-3 if name[:3] in ("f16", "tf3") else 1e-2), f"{name}, {m} x {n} x {k}: off by {error:.1e}"
    print(f"{len(names)} configs are right", flush=True)


def milliseconds(launches):
    """Of each launch, the median over rounds in which all take turns."""
    times = {name: [] for name in launches}
    for _ in range(ROUNDS):
        for name, launch in launches.items():
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            launch()
            start.record()
            for _ in range(4):
                launch()
            end.record()
            torch.cuda.synchronize()
            times[name].append(start.elapsed_time(end) / 4)
    return {name: statistics.median(mine[2:]) for name, mine in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--sizes", default="1024,2048,4096,8192")
    parser.add_argument("--shapes")
    parser.add_argument("--spec", default="products.json")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--kiln-alone", action="store_true")
    options = parser.parse_args()
    library = load(options.library)
    configs = {kernel["name"]: kernel["configs"][0] for kernel in json.loads((HERE / options.spec).read_text())["kernels"]
               if options.only in kernel["name"]}
    check(library, configs)
    kernels = None if options.kiln_alone else triton_kernels()
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",")] if options.shapes else [
        (options.rows or size, size, size) for size in map(int, options.sizes.split(","))]
    torch.backends.cuda.matmul.allow_tf32 = True
    for kind in dict.fromkeys(name.split("_")[0] for name in configs):
        mine = {name: config for name, config in configs.items() if name.startswith(kind + "_")}
        for m, n, k in shapes:
            a, b, c = Kind(kind + "_").operands(m, n, k)
            launches = {"cuBLAS": Kind(kind + "_").by_library(a, b, c)}
            for name, config in mine.items():
                launches[name] = kiln(library, name, a, b, c)
                if kernels:
                    launches["triton " + name] = triton_launch(kernels, name, config, a, b, c)
            work = k * n * b.element_size() * 1e3 if options.rows else 2 * m * n * k
            rates = {name: work / time * 1e-9 for name, time in milliseconds(launches).items()}
            best = max(rates[name] for name in mine)
            print(f"{kind} {m} x {n} x {k}: cuBLAS {rates['cuBLAS']:.0f}, Kiln's best {best:.0f} = {best / rates['cuBLAS']:.3f}", flush=True)
            for name in mine:
                beside = f", Triton {rates['triton ' + name]:.0f}, ratio {rates[name] / rates['triton ' + name]:.3f}" if kernels else ""
                print(f"  {name}: {rates[name]:.0f}{beside}", flush=True)


if __name__ == "__main__":
    main()
