"""A library called `rule` with a prefix, and a function around it, for PrefixTest."""

load("//codegen:kiln.bzl", "kiln_kernel_library", "kiln_runtime")

def prefixed_library(prefix):
    kiln_runtime(
        name = "runtime",
        prefix = prefix,
    )
    kiln_kernel_library(
        name = "rule",
        srcs = [
            "//tests/compiler/Driver/rule:fill.py",
            "//tests/compiler/Driver/rule:twice.py",
            "//tests/compiler/Driver/rule:values.py",
        ],
        prefix = prefix,
        runtime = ":runtime",
        spec = "//tests/compiler/Driver/rule:rule.json",
        targets = ["cpu"],
    )
    native.cc_library(
        name = "user",
        srcs = ["//tests/compiler/Driver/rule:PrefixUser.c"],
        copts = ["-std=c11"],
        linkstatic = True,
        visibility = ["//tests/compiler/Driver/rule:__pkg__"],
        deps = [":rule"],
    )
