"""How many instructions an element of each elementary function takes on sm_90a, in Kiln's code and in Triton's.

    math_instructions.py --spec math.json      writes the spec, beside accuracy.py; then: kiln build math.json -o out
    math_instructions.py out                   prints a table for docs/performance.md

A thread has eight elements. Instructions of the whole kernel are counted, branches that are rarely taken included, less those of a kernel
that takes the absolute value (of two operands: copies the sign). Needs Triton (no GPU) and nvdisasm.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
BLOCK, WARPS, ELEMENTS = 1024, 4, 8
UNARY = {
    "tl": "abs exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf sigmoid floor ceil",
    "libdevice": "tanh expm1 exp10 log1p log10 tan asin acos atan sinh cosh asinh acosh atanh erfc erfcx erfinv erfcinv normcdf normcdfinv cbrt "
                 "rcbrt sinpi cospi lgamma tgamma j0 j1 y0 y1 cyl_bessel_i0 cyl_bessel_i1 rcp_rn rsqrt_rn trunc round isinf logb ilogb",
}
BINARY = {"operator": "divide modulo", "tl": "div_rn", "libdevice": "copysign pow atan2 hypot rhypot fmod remainder nextafter fdim"}
NOTHING = {"unary": "abs", "binary": "copysign"}


def functions():
    """(kernel, library, function), of one operand and of two."""
    for kernel, table in (("unary", UNARY), ("binary", BINARY)):
        for library, names in table.items():
            for name in names.split():
                yield kernel, library, name


def arrays(kernel):
    return ["x_ptr", "out_ptr"] if kernel == "unary" else ["x_ptr", "y_ptr", "out_ptr"]


def write_spec(path):
    kernels = [{"name": f"f_{name}", "source": "accuracy.py", "kernel": f"{kernel}_kernel",
                "signature": {**{array: "*fp32:16" for array in arrays(kernel)}, "n": "i64"},
                "configs": [{"LIBRARY": library, "FUNCTION": name, "BLOCK": BLOCK}]} for kernel, library, name in functions()]
    spec = {"kiln": 1, "library": "math", "targets": ["cuda:sm_90a"], "kernels": kernels}
    path.write_text(json.dumps(spec, indent=1) + "\n")


def kiln_cubins(folder):
    """The function's name and the cubin in each object of the library."""
    with tempfile.TemporaryDirectory() as objects:
        subprocess.run(["ar", "x", (folder / "libmath.a").resolve()], cwd=objects, check=True)
        for path in pathlib.Path(objects).glob("*.cubin.o"):
            data = path.read_bytes()
            yield path.name.split(".")[0].removeprefix("f_"), data[data.index(b"\x7fELF", 4):]


def triton_cubins():
    import accuracy
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    for kernel, library, name in functions():
        function = getattr(accuracy, f"{kernel}_kernel")
        constants = {"LIBRARY": library, "FUNCTION": name, "BLOCK": BLOCK}
        signature = {**{array: "*fp32" for array in arrays(kernel)}, "n": "i64", **{constant: "constexpr" for constant in constants}}
        divisible = {(function.arg_names.index(array),): [["tt.divisibility", 16]] for array in arrays(kernel)}
        source = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=divisible)
        yield name, triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": WARPS}).asm["cubin"]


def count(cubin):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        text = subprocess.run(["nvdisasm", "-c", file.name], capture_output=True, text=True, check=True).stdout
    return sum("NOP" not in line for line in re.findall(r"^\s+/\*[0-9a-f]{4,5}\*/.*;", text, re.M))


def main():
    if sys.argv[1] == "--spec":
        return write_spec(pathlib.Path(sys.argv[2]))
    sys.path.insert(0, str(HERE))
    kiln = {name: count(cubin) for name, cubin in kiln_cubins(pathlib.Path(sys.argv[1]))}
    triton = {name: count(cubin) for name, cubin in triton_cubins()}
    print("| function | Kiln | Triton |\n| --- | --- | --- |")
    for kernel, _, name in functions():
        cells = [f"{(counts[name] - counts[NOTHING[kernel]]) / ELEMENTS:.1f}" for counts in (kiln, triton)]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
