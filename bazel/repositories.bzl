"""kiln_repositories(): what Kiln's build takes from the system, for WORKSPACE.

Each is looked at when something needs it: with a prebuilt Kiln (codegen/toolchain.bzl) neither LLVM nor any of the
others has to be there.
"""

load("//bazel:system_repos.bzl", "cuda_repository", "llvm_repository", "system_library")

def kiln_repositories(declared = None):
    """Declares them.

    Args:
      declared: names that are left out; without it those that WORKSPACE has declared before.
    """
    names = native.existing_rules() if declared == None else declared
    if "llvm" not in names:
        llvm_repository(name = "llvm", major = "22")
    if "cuda" not in names:
        cuda_repository(name = "cuda")
    if "boost_context" not in names:
        system_library(
            name = "boost_context",
            headers = ["boost"],
            hint = "apt-get install libboost-context-dev",
            targets = {"context": "-l:libboost_context.a"},
        )
    if "zstd" not in names:
        system_library(
            name = "zstd",
            headers = ["zstd.h"],
            hint = "apt-get install libzstd-dev",
            targets = {"zstd": "-lzstd"},
        )

def test_repositories():
    """What only the tests and benchmarks of Kiln itself use."""
    system_library(
        name = "googletest",
        headers = ["gtest", "gmock"],
        hint = "apt-get install libgtest-dev libgmock-dev",
        targets = {
            "gtest": "-lgmock -lgtest -pthread",
            "gtest_main": "-lgmock_main -lgmock -lgtest -pthread",
        },
    )
    system_library(
        name = "benchmark",
        headers = ["benchmark"],
        hint = "apt-get install libbenchmark-dev",
        targets = {"benchmark_main": "-lbenchmark_main -lbenchmark -pthread"},
    )
    system_library(
        name = "openblas",
        headers = ["x86_64-linux-gnu/cblas.h"],
        hint = "apt-get install libopenblas-dev",
        optional = True,
        targets = {"openblas": "-lopenblas"},
    )
