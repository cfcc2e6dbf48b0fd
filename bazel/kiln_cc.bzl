"""kiln_cc_library/binary/test: the native rules, plus `mlir = True` for sources that include MLIR.

These link libMLIR. Sources compile against a precompiled header: of a dialect of Kiln's, MLIR's, or LLVM's; tests against one
with gtest's, where they include neither of those with the standard library's. `for_tests = True`: a library or program that
compiles as tests do.
"""

load("//bazel:pch.bzl", "pch_copts")

# Of Kiln's sources, as compilers see it: another workspace has them below external/.
ROOT = Label("//:BUILD").workspace_root or "."

# For programs that load code at run time, which calls the emulator, and prints.
LOADS_CODE = [
    "-Wl,--undefined-glob=kiln_emu_*",
    "-Wl,--undefined-glob=kiln_device_*",
    "-Wl,--export-dynamic-symbol=kiln_emu_*",
    "-Wl,--export-dynamic-symbol=kiln_device_*",
]

# Of test programs: what takes long in a test is Kiln, and optimising the test itself takes as long as all else of it.
TEST_COPTS = ["-O0", "-U_FORTIFY_SOURCE"]

# Tests' precompiled headers go on where those of optimised sources end, instead of parsing MLIR's again for half a minute.
# Clang refuses that for its options, which matter to none of what a header declares; that it is as old as the header, which
# is the other thing it looks at, Bazel knows.
TEST_PCH_COPTS = ["-Xclang", "-fno-validate-pch"]

# Below these folders sources include LLVM's headers.
_LLVM_FOLDERS = ["codegen", "compiler", "tests/codegen", "tests/compiler"]

# And below these those of its IR.
_LLVM_IR_FOLDERS = ["compiler/Target", "tests/compiler/Target"]

# Of those that include MLIR's, these include the header of a dialect, too.
_DIALECTS = {
    "compiler/Analysis": "TileGPU",
    "compiler/Conversion": "TileGPU",
    "compiler/Dialect/Tile/Transforms": "Tile",
    "compiler/Dialect/TileGPU/Transforms": "TileGPU",
    "compiler/Emulator": "TileGPU",
    "compiler/Expansion": "Tile",
    "compiler/Sema": "Tile",
}

def _is_in(package, folder):
    return (package + "/").startswith(folder + "/")

def _precompiled_header(mlir, is_test):
    """The cc_pch for sources of this package, or None."""
    package = native.package_name()
    suffix = "_gtest" if is_test else ""
    if mlir and is_test:
        return "//compiler/Dialect/TileGPU:precompiled_gtest"
    if mlir:
        for folder, dialect in _DIALECTS.items():
            if _is_in(package, folder):
                return "//compiler/Dialect/%s:precompiled" % dialect
        return "//bazel:mlir"
    if any([_is_in(package, folder) for folder in _LLVM_IR_FOLDERS]):
        return "//bazel:llvm_ir" + suffix
    if any([_is_in(package, folder) for folder in _LLVM_FOLDERS]):
        return "//bazel:llvm" + suffix
    return "//bazel:standard" + suffix if is_test or _is_in(package, "runtime/emulator") else None

def _use_precompiled_header(kwargs, mlir, is_test):
    is_cpp = any([source.endswith(".cpp") for source in kwargs.get("srcs", [])])

    header = _precompiled_header(mlir, is_test)
    if header and is_cpp:
        options = TEST_PCH_COPTS if is_test else []
        kwargs["copts"] = pch_copts(Label(header + ".pch"), options) + kwargs.get("copts", [])
        kwargs["deps"] = kwargs.get("deps", []) + [header]

def _args(kwargs, is_test = False):
    mlir = kwargs.pop("mlir", False)
    if kwargs.pop("for_tests", is_test):
        is_test = True
        kwargs["copts"] = TEST_COPTS + kwargs.get("copts", [])
    _use_precompiled_header(kwargs, mlir, is_test)
    if mlir:
        kwargs["deps"] = kwargs.get("deps", []) + ["@llvm//:MLIR"]
    return kwargs

def kiln_cc_library(name, **kwargs):
    native.cc_library(name = name, **_args(kwargs))

def kiln_cc_binary(name, **kwargs):
    native.cc_binary(name = name, **_args(kwargs))

def kiln_cc_test(name, **kwargs):
    kwargs = _args(kwargs, is_test = True)
    kwargs["deps"] = kwargs.get("deps", []) + ["@googletest//:gtest_main"]
    kwargs.setdefault("size", "small")
    native.cc_test(name = name, **kwargs)
