"""fuzz_targets(names): programs that look for inputs which break a reader; README.md beside this file says how to run them."""

load("//bazel:kiln_cc.bzl", "kiln_cc_binary")

def fuzz_targets(deps_of):
    for name, deps in deps_of.items():
        kiln_cc_binary(
            name = name,
            testonly = True,
            srcs = [name + ".cpp"],
            copts = ["-fsanitize=fuzzer"],
            linkopts = ["-fsanitize=fuzzer"],
            deps = deps + ["@llvm//:LLVM"],
        )
