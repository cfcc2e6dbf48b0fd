#!/usr/bin/env python3
"""Products of f16 matrices on one GPU: every config of products.json, Triton's JIT with the same source and config, and cuBLAS, in turns.

    products_gpu.py LIBRARY.so [--sizes N,N,...] [--only TEXT] [--kiln-alone]

LIBRARY.so is the library of products.json linked with the runtime (docs/performance.md has the commands). Checks every result against
PyTorch in single precision first, odd sizes as well, then times all in turns and prints TFLOP/s. Needs PyTorch; Triton unless --kiln-alone.
"""
import argparse
import ctypes
import importlib.util
import json
import pathlib
import statistics

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


def kiln(library, name, a, b, c):
    (m, k), n = a.shape, b.shape[1]
    stream = library.kiln_cuda_stream(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    numbers = [m, n, k, a.stride(0), b.stride(0), c.stride(0)]
    passed = [stream, *(ctypes.c_void_p(t.data_ptr()) for t in (a, b, c)), *map(ctypes.c_int32, numbers)]
    function = getattr(library, name)

    def launch():
        if function(*passed):
            raise RuntimeError(library.kiln_last_error().decode())

    return launch


def triton_launch(kernel, config, a, b, c):
    (m, k), n = a.shape, b.shape[1]
    grid = (-(-m // config["BLOCK_SIZE_M"]) * -(-n // config["BLOCK_SIZE_N"]),)
    arguments = [a, b, c, m, n, k, a.stride(0), 1, b.stride(0), 1, c.stride(0), 1]
    return lambda: kernel.fn[grid](*arguments, ACTIVATION="", **config)


def operands(m, n, k):
    """Normal numbers; rows of a multiple of 16 elements, as the signatures promise."""
    return (torch.randn(m, k, device="cuda", dtype=torch.float16), torch.randn(k, n, device="cuda", dtype=torch.float16),
            torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16))


def check(library, names):
    for m, n, k in ((64, 64, 64), (257, 272, 16), (128, 256, 32), (100, 304, 80), (1000, 1008, 528), (512, 768, 1024), (513, 512, 4096)):
        a, b, c = operands(m, n, k)
        expected = a.float() @ b.float()
        for name in names:
            c.fill_(float("nan"))
            kiln(library, name, a, b, c)()
            torch.cuda.synchronize()
            error = (c.float() - expected).abs().max().item() / expected.abs().max().item()
            assert error < 2e-3, f"{name}, {m} x {n} x {k}: off by {error:.1e}"
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
    parser.add_argument("--only", default="")
    parser.add_argument("--kiln-alone", action="store_true")
    options = parser.parse_args()
    library = load(options.library)
    configs = {kernel["name"]: kernel["configs"][0] for kernel in json.loads((HERE / "products.json").read_text())["kernels"]
               if options.only in kernel["name"]}
    check(library, configs)
    kernel = None
    if not options.kiln_alone:
        spec = importlib.util.spec_from_file_location("matmul", HERE / "../../kernels/matmul/matmul.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kernel = module.matmul_kernel
    for size in map(int, options.sizes.split(",")):
        a, b, c = operands(size, size, size)
        launches = {"cuBLAS": lambda: torch.matmul(a, b, out=c)}
        for name, config in configs.items():
            launches[name] = kiln(library, name, a, b, c)
            if kernel:
                launches["triton " + name] = triton_launch(kernel, config, a, b, c)
        rates = {name: 2 * size**3 / time * 1e-9 for name, time in milliseconds(launches).items()}
        best = max(rates[name] for name in configs)
        print(f"{size}: cuBLAS {rates['cuBLAS']:.0f}, Kiln's best {best:.0f} = {best / rates['cuBLAS']:.3f}", flush=True)
        for name in configs:
            beside = f", Triton {rates['triton ' + name]:.0f}, ratio {rates[name] / rates['triton ' + name]:.3f}" if kernel else ""
            print(f"  {name}: {rates[name]:.0f}{beside}", flush=True)


if __name__ == "__main__":
    main()
