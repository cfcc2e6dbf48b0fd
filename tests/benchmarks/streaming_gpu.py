#!/usr/bin/env python3
"""Kernels bound by memory (streaming.json) on one GPU: several builds of the library, and Triton's JIT, in turns.

    streaming_gpu.py LIBRARY.so...

Each LIBRARY.so is the library linked with the runtime, by one Kiln or another (docs/performance.md has the commands). Checks every result
against PyTorch in double precision first, then times all in turns and prints, for each kernel, GB/s and the ratio of the first library's time to the others'.
Needs PyTorch and Triton.
"""
import ctypes
import importlib.util
import math
import pathlib
import statistics
import sys

import torch
import triton

ROUNDS = 40


class Stream(ctypes.Structure):
    _fields_ = [("driver", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("handle", ctypes.c_void_p)]


spec = importlib.util.spec_from_file_location("streaming", pathlib.Path(__file__).with_name("streaming.py"))
kernels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernels)


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


class Case:
    """A launch: name, grid, arguments, constants and warps as in streaming.json; `expected` from copies of the arguments."""

    def __init__(self, name, grid, arguments, config, moved, expected, tolerance):
        self.name, self.grid, self.arguments, self.config, self.moved = name, grid, arguments, config, moved
        self.initial = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        self.expected, self.tolerance = expected, tolerance

    def restore(self):
        for now, before in zip(self.arguments, self.initial):
            if isinstance(now, torch.Tensor):
                now.copy_(before)

    def check(self, who, launch):
        self.restore()
        launch()
        torch.cuda.synchronize()
        for index, expected in self.expected(self.initial).items():
            error = (self.arguments[index].double() - expected).abs().max().item() / max(1e-9, expected.abs().max().item())
            assert error < self.tolerance, f"{self.name}, {who}: argument {index} is off by {error:.1e}"
        self.restore()

    def kiln(self, library):
        def argument(value):
            if isinstance(value, torch.Tensor):
                return ctypes.c_void_p(value.data_ptr())
            return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int32(value)

        function = getattr(library, self.name)
        stream = library.kiln_cuda_stream(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        passed = [stream, *(ctypes.c_uint32(d) for d in (self.grid, 1, 1)), *map(argument, self.arguments)]

        def launch():
            if function(*passed):
                raise RuntimeError(library.kiln_last_error().decode())

        return launch

    def triton(self):
        kernel = getattr(kernels, self.name + "_kernel")
        return lambda: kernel[(self.grid,)](*self.arguments, **self.config)


def rotated(q, cos, sin):
    q, cos, sin = q.double(), cos.double()[:, None], sin.double()[:, None]
    left, right = q.chunk(2, -1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1)


def swiglu_gradients(dc, a, b):
    dc, a, b = dc.double(), a.double(), b.double()
    sigmoid = torch.sigmoid(a)
    return dc * (a * sigmoid * (1 - sigmoid) + sigmoid) * b, dc * a * sigmoid


def cross_entropy_gradient(x, target):
    return torch.softmax(x.double(), 1) - torch.nn.functional.one_hot(target, x.shape[1])


def cases():
    n, rows, columns = 1 << 27, 16384, 4096
    x, y = normal(n), normal(n)
    yield Case("add", n // 1024, [x, y, torch.empty_like(x), n], dict(BLOCK=1024, num_warps=4), 12 * n,
               lambda a: {2: a[0].double() + a[1]}, 1e-6)
    yield Case("increment", n // 1024, [x, n], dict(BLOCK=1024, num_warps=4), 8 * n, lambda a: {0: a[0].double() + 1}, 1e-6)
    x, y = normal(rows, columns), None
    for name, grid, extents in (("softmax", rows, [columns]), ("softmax_rows", 132 * 4, [rows, columns])):
        yield Case(name, grid, [x, torch.empty_like(x), columns, *extents], dict(BLOCK=4096, num_warps=8), 8 * x.numel(),
                   lambda a: {1: torch.softmax(a[0].double(), 1)}, 1e-5)
    x, w, b = normal(rows, 8192, dtype=torch.float16), normal(8192, dtype=torch.float16), normal(8192, dtype=torch.float16)
    yield Case("layer_norm", rows, [x, w, b, torch.empty_like(x), 8192, 8192, 1e-5], dict(BLOCK=2048, num_warps=8), 4 * x.numel(),
               lambda a: {3: torch.nn.functional.layer_norm(a[0].double(), (8192,), a[1].double(), a[2].double(), 1e-5)}, 2e-3)
    dc, a, b = (normal(rows, columns, dtype=torch.bfloat16) for _ in range(3))
    yield Case("swiglu_backward", rows, [dc, a, b, columns, columns], dict(BLOCK=4096, num_warps=8), 10 * a.numel(),
               lambda v: dict(zip((1, 2), swiglu_gradients(*v[:3]))), 2e-2)
    q, angle = normal(rows, 32, 128, dtype=torch.bfloat16), normal(rows, 64)
    yield Case("rotary", rows, [q, angle.cos().bfloat16(), angle.sin().bfloat16(), 32 * 128, 32], dict(HEADS=32, HALF=64, num_warps=4),
               4 * q.numel(), lambda v: {0: rotated(*v[:3])}, 2e-2)
    x, target = normal(4096, 128000, dtype=torch.bfloat16)[:2048], torch.randint(0, 128000, (2048,), device="cuda")
    yield Case("cross_entropy", 2048, [x, target, torch.empty(2048, device="cuda"), 128000, 128000], dict(BLOCK=16384, num_warps=16),
               6 * x.numel(), lambda v: {0: cross_entropy_gradient(*v[:2])}, 2e-2)


def milliseconds(launches):
    """Of each launch, the median over rounds in which all take turns."""
    times = [[] for _ in launches]
    for _ in range(ROUNDS):
        for launch, mine in zip(launches, times):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            launch()
            end.record()
            torch.cuda.synchronize()
            mine.append(start.elapsed_time(end))
    return [statistics.median(mine[ROUNDS // 8:]) for mine in times]


def main():
    libraries = []
    for path in sys.argv[1:]:
        library = ctypes.CDLL(path)
        library.kiln_cuda_stream.restype = Stream
        library.kiln_cuda_stream.argtypes = [ctypes.c_void_p]
        library.kiln_last_error.restype = ctypes.c_char_p
        libraries.append(library)
    names = [pathlib.Path(path).stem for path in sys.argv[1:]] + ["triton"]
    product = {name: 0.0 for name in names}
    count = 0
    for case in cases():
        launches = [case.kiln(library) for library in libraries] + [case.triton()]
        for name, launch in zip(names, launches):
            case.check(name, launch)
        times = milliseconds(launches)
        count += 1
        for name, time in zip(names, times):
            product[name] += math.log(times[0] / time)
        rates = ", ".join(f"{name} {case.moved / time * 1e-6:.0f}" for name, time in zip(names, times))
        ratios = ", ".join(f"{name} {times[0] / time:.3f}" for name, time in zip(names[1:], times[1:]))
        print(f"{case.name}: {rates} GB/s; {names[0]}'s time / others': {ratios}", flush=True)
    print("geometric mean: " + ", ".join(f"{name} {math.exp(product[name] / count):.3f}" for name in names[1:]))


if __name__ == "__main__":
    main()
