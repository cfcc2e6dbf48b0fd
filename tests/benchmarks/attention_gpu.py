#!/usr/bin/env python3
"""Attention, forward, on one GPU: every config of attention.json, Triton's JIT with the same source and config, and cuDNN, in turns.

    attention_gpu.py LIBRARY.so [--length N] [--only TEXT]

LIBRARY.so is the library of attention.json linked with the runtime (docs/performance.md has the commands). Checks every result against
PyTorch in double precision first, odd lengths as well, then times all in turns and prints TFLOP/s. Needs PyTorch and Triton.
"""
import argparse
import ctypes
import importlib.util
import json
import math
import pathlib
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from products_gpu import load, milliseconds  # noqa: E402

HERE = pathlib.Path(__file__).parent


def tensors(batch, heads, length, dim):
    q, k, v = (torch.randn(batch, heads, length, dim, device="cuda", dtype=torch.float16) for _ in range(3))
    return q, k, v, torch.full_like(q, float("nan")), torch.empty(batch, heads, length, device="cuda")


def numbers(q, k, v, out):
    strides = [s for t in (q, k, v, out) for s in t.stride()[:3]]
    return strides, [q.shape[1], q.shape[1] // k.shape[1], q.shape[2], k.shape[2]], 1 / math.sqrt(q.shape[3])


def kiln(library, name, grid, q, k, v, out, lse):
    strides, extents, scale = numbers(q, k, v, out)
    stream = library.kiln_cuda_stream(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    types = [ctypes.c_int64, ctypes.c_int64, ctypes.c_int32] * 4
    passed = [stream, *(ctypes.c_uint32(g) for g in grid), *(ctypes.c_void_p(t.data_ptr()) for t in (q, k, v, out, lse)),
              *(t(s) for t, s in zip(types, strides)), *map(ctypes.c_int32, extents), ctypes.c_float(scale)]
    function = getattr(library, name)

    def launch():
        if function(*passed):
            raise RuntimeError(library.kiln_last_error().decode())

    return launch


def triton_launch(kernel, config, causal, grid, q, k, v, out, lse):
    strides, extents, scale = numbers(q, k, v, out)
    return lambda: kernel[grid](q, k, v, out, lse, *strides, *extents, scale, 1.0, 1, None, None, None, None, None, 0, HEAD_DIM=q.shape[3],
                                 CAUSAL=causal, WINDOWED=False, CAPPED=False, **config)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--length", type=int, default=8192)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    library = load(options.library)
    configs = {kernel["name"]: kernel["configs"][0] for kernel in json.loads((HERE / "attention.json").read_text())["kernels"]
               if options.only in kernel["name"]}
    spec = importlib.util.spec_from_file_location("attention", HERE / "../../kernels/attention/attention.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    attention = torch.nn.functional.scaled_dot_product_attention
    for kind in dict.fromkeys("_".join(name.split("_")[:3]) for name in configs):
        causal, dim = kind.split("_")[1] == "causal", int(kind.split("_")[2])
        mine = {name: config for name, config in configs.items() if name.startswith(kind + "_")}
        for length in (64, 200, 513):
            q, k, v, out, lse = tensors(2, 3, length, dim)
            expected = attention(q.double(), k.double(), v.double(), is_causal=causal)
            for name, config in mine.items():
                out.fill_(float("nan"))
                kiln(library, name, (-(-length // config["BLOCK_M"]), 6, 1), q, k, v, out, lse)()
                torch.cuda.synchronize()
                error = (out.double() - expected).abs().max().item()
                assert error < 4e-3, f"{name}, {length}: off by {error:.1e}"
        q, k, v, out, lse = tensors(1, 16 * 128 // dim, options.length, dim)
        launches = {"cuDNN": lambda: attention(q, k, v, is_causal=causal)}
        for name, config in mine.items():
            grid = (-(-options.length // config["BLOCK_M"]), q.shape[1], 1)
            launches[name] = kiln(library, name, grid, q, k, v, out, lse)
            launches["triton " + name] = triton_launch(module.attention_kernel, config, causal, grid, q, k, v, out, lse)
        work = 4 * q.shape[1] * options.length**2 * dim * (0.5 if causal else 1)
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            times = milliseconds(launches)
        rates = {name: work / time * 1e-9 for name, time in times.items()}
        print(f"{kind}: cuDNN {rates['cuDNN']:.0f}", flush=True)
        for name in mine:
            print(f"  {name}: {rates[name]:.0f}, of cuDNN {rates[name] / rates['cuDNN']:.3f}, of Triton {rates[name] / rates['triton ' + name]:.3f}",
                  flush=True)


if __name__ == "__main__":
    main()
