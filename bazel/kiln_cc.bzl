"""kiln_cc_library/binary/test: the native rules, plus `mlir = True` for sources that include MLIR.

MLIR sources compile against the precompiled header //bazel:mlir and link libMLIR.
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

def _args(kwargs):
    if kwargs.pop("mlir", False):
        kwargs["copts"] = pch_copts(Label("//bazel:mlir.pch")) + kwargs.get("copts", [])
        kwargs["deps"] = kwargs.get("deps", []) + ["//bazel:mlir", "@llvm//:MLIR"]
    return kwargs

def kiln_cc_library(name, **kwargs):
    native.cc_library(name = name, **_args(kwargs))

def kiln_cc_binary(name, **kwargs):
    native.cc_binary(name = name, **_args(kwargs))

def kiln_cc_test(name, **kwargs):
    kwargs["deps"] = kwargs.get("deps", []) + ["@googletest//:gtest_main"]
    kwargs.setdefault("size", "small")
    native.cc_test(name = name, **_args(kwargs))
