"""Kernels compiled by Kiln beside the same kernels under Triton's JIT and beside PyTorch (cuBLAS), on one GPU.

    gpu_kernels.py LIBRARY.so KERNELS_FOLDER

LIBRARY.so is gpu_kernels.json's library linked with the runtime (docs/performance.md has the commands); KERNELS_FOLDER is
kernels/. Needs PyTorch and Triton, which the library itself does not. Checks every result before it times anything.
"""
import ctypes
import importlib.util
import pathlib
import sys

import torch
import triton


class Stream(ctypes.Structure):
    _fields_ = [("driver", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("handle", ctypes.c_void_p)]


library = ctypes.CDLL(sys.argv[1])
library.kiln_cuda_stream.restype = Stream
library.kiln_cuda_stream.argtypes = [ctypes.c_void_p]
library.kiln_last_error.restype = ctypes.c_char_p
kernels = pathlib.Path(sys.argv[2])


def load(family):
    spec = importlib.util.spec_from_file_location(family, kernels / family / f"{family}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def argument(value):
    if isinstance(value, torch.Tensor):
        return ctypes.c_void_p(value.data_ptr())
    return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int32(value)


def kiln(name, *arguments, variant=None, grid=None):
    """A function that launches an entry point, or one of its variants, on the current stream."""
    function = getattr(library, name if variant is None else f"{name}_variant")
    stream = library.kiln_cuda_stream(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    converted = [stream] + [ctypes.c_uint32(d) for d in grid or []] + [argument(a) for a in arguments]
    if variant is not None:
        converted.insert(0, ctypes.c_uint32(variant))

    def launch():
        status = function(*converted)
        if status:
            raise RuntimeError(library.kiln_last_error().decode())

    return launch


def milliseconds(function):
    return triton.testing.do_bench(function, warmup=50, rep=200, return_mode="median")


def check(what, got, expected, tolerance):
    error = (got.float() - expected.float()).abs().max().item() / max(1e-9, expected.float().abs().max().item())
    print(f"check {what}: relative error {error:.1e}")
    assert error < tolerance, what


def matmul(n):
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.float16) for _ in range(2))
    c = torch.empty_like(a)
    expected = a @ b
    arguments = (a, b, c, n, n, n, n, n, n)
    best = None
    for variant in range(library.bench_matmul_f16_variants(None)):
        c.zero_()
        launch = kiln("bench_matmul_f16", *arguments, variant=variant)
        launch()
        check(f"matmul {n} variant {variant}", c, expected, 1e-2)
        time = milliseconds(launch)
        print(f"  variant {variant}: {2 * n**3 / time * 1e-9:.0f} TFLOP/s")
        best = min(best or time, time)
    chosen = milliseconds(kiln("bench_matmul_f16", *arguments))
    kernel = load("matmul").matmul_kernel
    configs = [triton.Config({"BLOCK_SIZE_M": m, "BLOCK_SIZE_N": k, "BLOCK_SIZE_K": l, "GROUP_SIZE_M": 8}, num_warps=w, num_stages=s)
               for m, k, l, w, s in [(128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (128, 128, 32, 4, 4), (128, 128, 32, 8, 3),
                                     (64, 128, 64, 4, 4), (64, 64, 32, 4, 4)]]
    tuned = triton.autotune(configs=configs, key=["M"])(kernel.fn)
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE_M"]) * triton.cdiv(n, meta["BLOCK_SIZE_N"]),)
    jit = milliseconds(lambda: tuned[grid](a, b, c, n, n, n, n, 1, n, 1, n, 1, ACTIVATION=""))
    blas = milliseconds(lambda: torch.matmul(a, b, out=c))
    rate = lambda t: 2 * n**3 / t * 1e-9
    print(f"matmul f16 {n}: kiln best {rate(best):.0f}, kiln dispatch {rate(chosen):.0f}, triton {rate(jit):.0f}, "
          f"cublas {rate(blas):.0f} TFLOP/s; kiln best / triton {jit / best:.2f}, kiln best / cublas {blas / best:.2f}")


def vector_add(n):
    x, y = (torch.randn(n, device="cuda") for _ in range(2))
    out = torch.empty_like(x)
    launch = kiln("bench_vector_add_f32", x, y, out, n)
    launch()
    check("vector_add", out, x + y, 1e-6)
    kernel = load("vector_add").vector_add_kernel
    jit = milliseconds(lambda: kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK_SIZE=1024))
    ours, torchs = milliseconds(launch), milliseconds(lambda: torch.add(x, y, out=out))
    rate = lambda t: 12 * n / t * 1e-6
    print(f"vector_add f32 {n}: kiln {rate(ours):.0f}, triton {rate(jit):.0f}, torch {rate(torchs):.0f} GB/s; kiln / triton {jit / ours:.2f}")


def softmax(rows, columns):
    x = torch.randn(rows, columns, device="cuda")
    out = torch.empty_like(x)
    launch = kiln("bench_softmax_f32", x, out, rows, columns, columns, columns)
    launch()
    check("softmax", out, torch.softmax(x, 1), 1e-5)
    kernel = load("softmax").softmax_kernel
    jit = milliseconds(lambda: kernel[(rows,)](x, out, rows, columns, columns, columns, BLOCK_SIZE=1024, num_warps=4))
    ours, torchs = milliseconds(launch), milliseconds(lambda: torch.softmax(x, 1))
    rate = lambda t: 8 * rows * columns / t * 1e-6
    print(f"softmax f32 {rows} x {columns}: kiln {rate(ours):.0f}, triton {rate(jit):.0f}, torch {rate(torchs):.0f} GB/s; kiln / triton {jit / ours:.2f}")


def layer_norm(rows, columns):
    x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    weight, bias = (torch.randn(columns, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out, mean, rstd = torch.empty_like(x), torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")
    arguments = (x, weight, bias, out, mean, rstd, columns, columns, columns, 1e-5)
    launch = kiln("bench_layer_norm_bf16", *arguments, grid=(rows, 1, 1))
    launch()
    reference = lambda: torch.nn.functional.layer_norm(x, (columns,), weight, bias, 1e-5)
    check("layer_norm", out, reference(), 1e-2)
    kernel = load("layer_norm").layer_norm_kernel
    jit = milliseconds(lambda: kernel[(rows,)](*arguments, BLOCK_SIZE=1024, num_warps=4))
    ours, torchs = milliseconds(launch), milliseconds(reference)
    rate = lambda t: 4 * rows * columns / t * 1e-6
    print(f"layer_norm bf16 {rows} x {columns}: kiln {rate(ours):.0f}, triton {rate(jit):.0f}, torch {rate(torchs):.0f} GB/s; kiln / triton {jit / ours:.2f}")


def host_cost():
    """Microseconds of the calling thread for a launch of almost nothing."""
    import time
    x = torch.zeros(1024, device="cuda")
    kernel = load("vector_add").vector_add_kernel
    ours = kiln("bench_vector_add_f32", x, x, x, 1024)
    jit = lambda: kernel[(1,)](x, x, x, 1024, BLOCK_SIZE=1024)
    for name, launch in (("kiln (through ctypes)", ours), ("triton", jit)):
        for _ in range(200):
            launch()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(2000):
            launch()
        elapsed = time.perf_counter() - start
        torch.cuda.synchronize()
        print(f"host cost of a launch, {name}: {elapsed / 2000 * 1e6:.1f} us")


print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__)
vector_add(1 << 27)
softmax(1 << 15, 1024)
layer_norm(1 << 14, 4096)
host_cost()
for size in (2048, 4096, 8192):
    matmul(size)
