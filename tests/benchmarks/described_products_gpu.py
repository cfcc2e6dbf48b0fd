#!/usr/bin/env python3
"""Products of described tensors on one GPU: every variant of kernels/matmul/described_matmul, what dispatch takes, and cuBLAS, in turns.

    described_products_gpu.py LIBRARY.so [--sizes N,N,...]

LIBRARY.so is that library linked with the runtime (docs/performance.md has the commands). Checks every variant against PyTorch in double
precision first, odd sizes as well, then prints TFLOP/s. Needs PyTorch.
"""
import argparse
import ctypes

import torch

from products_gpu import load, milliseconds

# Of each function: the type, and whether B is stored transposed.
FUNCTIONS = {"described_matmul_f16_nn": (torch.float16, False), "described_matmul_f16_nt": (torch.float16, True),
             "described_matmul_bf16_nt": (torch.bfloat16, True), "described_persistent_matmul_f16_nt": (torch.float16, True)}


class Tensor(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("rank", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 5), ("strides", ctypes.c_int64 * 5)]


def tensor(t):
    return Tensor(t.data_ptr(), t.dim(), 0, (ctypes.c_int64 * 5)(*t.shape), (ctypes.c_int64 * 5)(*t.stride()))


def rows_of(columns):
    """Rows begin at multiples of 16 bytes."""
    return -(-columns // 8) * 8


def operands(name, m, n, k):
    dtype, transposed = FUNCTIONS[name]
    def matrix(rows, columns):
        return torch.randn(rows, rows_of(columns), device="cuda").to(dtype)[:, :columns]
    c = matrix(m, n)
    c.fill_(float("nan"))
    return matrix(m, k), matrix(n, k) if transposed else matrix(k, n), c


def launch_of(library, name, variant, a, b, c):
    (m, k), n = a.shape, c.shape[1]
    arguments = [tensor(a), tensor(b), tensor(c), *map(ctypes.c_int32, (m, n, k))]
    if "persistent" in name:
        arguments.append(ctypes.c_int32(torch.cuda.get_device_properties(0).multi_processor_count))
    stream = library.kiln_cuda_stream(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    function = getattr(library, name if variant is None else name + "_variant")
    first = [stream] if variant is None else [ctypes.c_uint32(variant), stream]

    def launch():
        if function(*first, *arguments):
            raise RuntimeError(library.kiln_last_error().decode())

    return launch


def variants_for_this_gpu(library, name):
    """Those that have a binary for it: the others refuse."""
    a, b, c = operands(name, 64, 64, 64)
    found = []
    for variant in range(getattr(library, name + "_variants")(None)):
        try:
            launch_of(library, name, variant, a, b, c)()
            found.append(variant)
        except RuntimeError:
            pass
    return found


def check(library, name, variant):
    for m, n, k in ((1, 1, 1), (64, 64, 64), (77, 300, 45), (272, 272, 16), (1000, 520, 1031)):
        a, b, c = operands(name, m, n, k)
        launch_of(library, name, variant, a, b, c)()
        expected = a.double() @ (b.double().T if FUNCTIONS[name][1] else b.double())
        error = (c.double() - expected).abs().max().item() / expected.abs().max().item()
        assert error < (2e-3 if c.dtype == torch.float16 else 1e-2), f"{name}, variant {variant}, {m} x {n} x {k}: off by {error:.1e}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--sizes", default="1024,2048,4096,8192")
    options = parser.parse_args()
    library = load(options.library)
    for name in FUNCTIONS:
        variants = variants_for_this_gpu(library, name)
        assert variants, f"{name} has nothing for this GPU"
        for variant in variants:
            check(library, name, variant)
        for size in map(int, options.sizes.split(",")):
            a, b, c = operands(name, size, size, size)
            launches = {"cuBLAS": lambda: torch.matmul(a, b.T if FUNCTIONS[name][1] else b, out=c)}
            launches |= {f"variant {variant}": launch_of(library, name, variant, a, b, c) for variant in variants}
            launches["dispatch"] = launch_of(library, name, None, a, b, c)
            times = milliseconds(launches)
            rates = ", ".join(f"{which} {2e-9 * size**3 / ms:.0f} ({times['cuBLAS'] / ms:.2f})" for which, ms in times.items())
            print(f"{name} {size}: {rates}", flush=True)


if __name__ == "__main__":
    main()
