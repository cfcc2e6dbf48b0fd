"""kiln_cc_library/binary/test: the native rules, plus `mlir = True` for sources that include MLIR.

These link libMLIR. Sources compile against a precompiled header: of a dialect of Kiln's, MLIR's, or LLVM's; tests against one
with gtest's, where they include neither of those with the standard library's.
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

# Below these folders sources include LLVM's headers.
_LLVM_FOLDERS = ["codegen", "compiler", "tests/codegen", "tests/compiler"]

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
    if mlir:
        for folder, dialect in _DIALECTS.items():
            if _is_in(package, folder):
                return "//compiler/Dialect/%s:precompiled" % dialect
        return "//bazel:mlir" + suffix
    if any([_is_in(package, folder) for folder in _LLVM_FOLDERS]):
        return "//bazel:llvm" + suffix
    return "//bazel:standard_gtest" if is_test else None

def _use_precompiled_header(kwargs, mlir, is_test):
    is_cpp = any([source.endswith(".cpp") for source in kwargs.get("srcs", [])])

    # A header precompiled without a sanitizer is of no use with it.
    is_sanitized = any([option.startswith("-fsanitize") for option in kwargs.get("copts", [])])
    header = _precompiled_header(mlir, is_test)
    if header and is_cpp and not is_sanitized:
        kwargs["copts"] = pch_copts(Label(header + ".pch")) + kwargs.get("copts", [])
        kwargs["deps"] = kwargs.get("deps", []) + [header]

def _args(kwargs, is_test = False):
    mlir = kwargs.pop("mlir", False)
    _use_precompiled_header(kwargs, mlir, is_test)
    if mlir:
        kwargs["deps"] = kwargs.get("deps", []) + ["@llvm//:MLIR"]
    return kwargs

def kiln_cc_library(name, **kwargs):
    native.cc_library(name = name, **_args(kwargs))

def kiln_cc_binary(name, **kwargs):
    native.cc_binary(name = name, **_args(kwargs))

def kiln_cc_test(name, **kwargs):
    kwargs["copts"] = TEST_COPTS + kwargs.get("copts", [])
    kwargs = _args(kwargs, is_test = True)
    kwargs["deps"] = kwargs.get("deps", []) + ["@googletest//:gtest_main"]
    kwargs.setdefault("size", "small")
    native.cc_test(name = name, **kwargs)
