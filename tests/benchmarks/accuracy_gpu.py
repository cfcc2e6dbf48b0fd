#!/usr/bin/env python3
"""The error of elementary functions on one GPU, Kiln's and that of Triton's JIT.

    accuracy_gpu.py --spec accuracy.json [--target TARGET]         writes the spec of the library that is measured, beside accuracy.py
    accuracy_gpu.py LIBRARY.so [--only NAME] [--numbers N]         measures; docs/accuracy.md has the commands

Operands are N of all fp32 bit patterns, evenly spaced (of two operands the second one's are those multiplied by an odd number). The
reference is Triton's function of the same name in fp64. Prints a table for docs/accuracy.md: errors in units of the last place of the
fp32 number nearest to the reference, over normal operands with normal results. Measuring needs PyTorch and Triton.
"""
import argparse
import ctypes
import importlib.util
import json
import pathlib

HERE = pathlib.Path(__file__).parent
MIN_NORMAL = 2.0**-126
MAX_NORMAL = (2 - 2.0**-23) * 2.0**127
BLOCK = 1024
UNARY = {
    "tl": "exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf sigmoid",
    "libdevice": "tanh expm1 exp10 log1p log10 tan asin acos atan sinh cosh asinh acosh atanh erfc erfcx erfinv erfcinv normcdf normcdfinv cbrt "
                 "rcbrt sinpi cospi lgamma tgamma j0 j1 y0 y1 cyl_bessel_i0 cyl_bessel_i1 rsqrt_rn rcp_rn fast_expf fast_exp10f fast_logf "
                 "fast_log2f fast_log10f fast_sinf fast_cosf fast_tanf fast_tanhf",
}
BINARY = {
    "operator": "divide modulo",
    "tl": "fdiv div_rn",
    "libdevice": "pow fast_powf atan2 hypot rhypot fmod remainder fast_dividef",
}
# What an approximation approximates, and what has no function of its name in fp64.
EXACT = {"fast_expf": "exp", "fast_exp10f": "exp10", "fast_logf": "log", "fast_log2f": "log2", "fast_log10f": "log10", "fast_sinf": "sin",
         "fast_cosf": "cos", "fast_tanf": "tan", "fast_tanhf": "tanh", "fast_powf": "pow", "fast_dividef": "divide", "fdiv": "divide",
         "div_rn": "divide", "sqrt_rn": "sqrt", "rsqrt_rn": "rsqrt", "modulo": "fmod"}


def functions():
    """(kernel, library, function), of one operand and of two."""
    for kernel, table in (("unary", UNARY), ("binary", BINARY)):
        for library, names in table.items():
            for name in names.split():
                yield kernel, library, name


LIBRARIES = {name: library for _, library, name in functions()}


def write_spec(path, target):
    kernels = []
    for kernel, library, name in functions():
        arrays = ["x_ptr", "out_ptr"] if kernel == "unary" else ["x_ptr", "y_ptr", "out_ptr"]
        kernels.append({"name": f"{kernel}_{name}", "source": "accuracy.py", "kernel": f"{kernel}_kernel",
                        "signature": {**{array: "*fp32:16" for array in arrays}, "n": "i64"},
                        "configs": [{"LIBRARY": library, "FUNCTION": name, "BLOCK": BLOCK}]})
    lines = ",\n    ".join(json.dumps(kernel) for kernel in kernels)
    path.write_text(f'{{\n  "kiln": 1,\n  "library": "accuracy",\n  "targets": ["{target}"],\n  "kernels": [\n    {lines}\n  ]\n}}\n')


class Stream(ctypes.Structure):
    _fields_ = [("driver", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("handle", ctypes.c_void_p)]


def load(path):
    library = ctypes.CDLL(path)
    library.kiln_cuda_stream.restype = Stream
    library.kiln_cuda_stream.argtypes = [ctypes.c_void_p]
    library.kiln_last_error.restype = ctypes.c_char_p
    return library


def kiln(torch, library, name, operands, out):
    stream = library.kiln_cuda_stream(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    grid = [ctypes.c_uint32(g) for g in (-(-out.numel() // BLOCK), 1, 1)]
    if getattr(library, name)(stream, *grid, *(ctypes.c_void_p(t.data_ptr()) for t in (*operands, out)), ctypes.c_int64(out.numel())):
        raise RuntimeError(library.kiln_last_error().decode())


def triton(kernel, function, operands, out):
    kernel[(-(-out.numel() // BLOCK),)](*operands, out, out.numel(), LIBRARY=LIBRARIES[function], FUNCTION=function, BLOCK=BLOCK)


def patterns(torch, count, factor):
    """`count` of the 2^32 bit patterns of fp32, spaced evenly, in an order that `factor` decides."""
    step = 2**32 // count
    index = torch.arange(count, device="cuda", dtype=torch.int64)
    bits = (index * (step | 1) * factor + factor // 2) & 0xFFFFFFFF
    return torch.where(bits >= 2**31, bits - 2**32, bits).to(torch.int32).view(torch.float32)


class Errors:
    """Of one implementation: the largest error and its operands, the share of results that are the nearest number, how many are special
    (infinite, NaN) where they should not be or the other way round, and whether results below the normal numbers are zero."""

    def __init__(self, torch, operands, result, exact):
        normal = torch.ones_like(result, dtype=torch.bool)
        for x in operands:
            normal &= (x.abs() >= MIN_NORMAL) | (x == 0)
        finite = normal & exact.isfinite() & (exact.abs() <= MAX_NORMAL) & (exact.abs() >= MIN_NORMAL)
        exponent = torch.frexp(exact.where(finite, 1.0))[1].double() - 1
        error = ((result.double() - exact).abs() / torch.exp2(exponent - 23)).where(finite & result.isfinite(), 0.0)
        self.ulp = error.max().item()
        self.worst = [x.view(-1)[error.argmax()].item() for x in operands]
        self.nearest = (error <= 0.5)[finite].double().mean().item() if finite.any() else 1.0
        overflows = exact.abs() > MAX_NORMAL * (1 + 2.0**-25)
        special = torch.where(exact.isnan(), result.isnan(), torch.where(overflows, result.isinf(), result.isfinite()))
        self.special = int((normal & ~special).sum())
        tiny = (exact.abs() < MIN_NORMAL) & (exact != 0) & normal
        self.flushes = bool(tiny.any()) and bool((result[tiny] == 0).double().mean() > 0.99)

    def cells(self):
        """Error, share, and a note."""
        notes = ([f"{self.special} special"] if self.special else []) + (["flushes"] if self.flushes else [])
        return f"{self.ulp:.2f}" if self.ulp < 1e6 else f"{self.ulp:.0e}", f"{self.nearest:.3f}", ", ".join(notes)


def measure(torch, options):
    library = load(options.library)
    spec = importlib.util.spec_from_file_location("accuracy", HERE / "accuracy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x, y = patterns(torch, options.numbers, 1), patterns(torch, options.numbers, 0x9E3779B1)
    print("| function | Kiln | Triton | nearest, Kiln | Triton | notes, Kiln | Triton | Kiln's worst operand |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for kind, _, function in functions():
        if options.only not in function:
            continue
        operands, kernel = ([x], module.unary_kernel) if kind == "unary" else ([x, y], module.binary_kernel)
        out, theirs, exact = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x, dtype=torch.float64)
        kiln(torch, library, f"{kind}_{function}", operands, out)
        triton(kernel, EXACT.get(function, function), [t.double() for t in operands], exact)
        mine = Errors(torch, operands, out, exact)
        try:
            triton(kernel, function, operands, theirs)
            ulp, nearest, notes = Errors(torch, operands, theirs, exact).cells()
        except Exception:  # Triton lacks some of the functions.
            ulp, nearest, notes = "none", "", ""
        own = mine.cells()
        print(f"| {function} | {own[0]} | {ulp} | {own[1]} | {nearest} | {own[2]} | {notes} | {', '.join(f'{w:.6g}' for w in mine.worst)} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", nargs="?")
    parser.add_argument("--spec", type=pathlib.Path)
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--only", default="")
    parser.add_argument("--numbers", type=int, default=2**26)
    options = parser.parse_args()
    if options.spec:
        write_spec(options.spec, options.target)
    if options.library:
        import torch

        measure(torch, options)


if __name__ == "__main__":
    main()
