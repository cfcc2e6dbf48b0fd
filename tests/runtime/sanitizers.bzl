"""The runtime's tests, plain and under sanitizers.

A sanitizer wants the runtime's own sources compiled with it, so a sanitized test takes them all again (they
are small), and runs with all others. The configurations of .bazelrc, which sanitize everything, leave it out.
"""

load("//bazel:kiln_cc.bzl", "kiln_cc_library", "kiln_cc_test")

_SUPPORT = [
    "TestLibrary.cpp",
    "TestLibrary.h",
    "FakeDriver.h",
]

def runtime_tests(tests, data):
    kiln_cc_library(
        name = "test_library",
        testonly = True,
        srcs = ["TestLibrary.cpp"],
        hdrs = [
            "FakeDriver.h",
            "TestLibrary.h",
        ],
        for_tests = True,
        linkstatic = True,  # it calls what the runtime hides
        deps = [
            "//runtime:internals",
            "@googletest//:gtest",
        ],
    )
    for test in tests:
        kiln_cc_test(
            name = test,
            srcs = [test + ".cpp"],
            data = data,
            linkstatic = True,
            deps = [":test_library"],
        )

def sanitized_runtime_test(name, srcs, flags, data):
    kiln_cc_library(
        name = name + "_runtime",
        testonly = True,
        srcs = ["//runtime:sources"],
        copts = flags + ["-std=c11", "-gline-tables-only"],
        linkopts = ["-ldl", "-pthread"],
        linkstatic = True,
        tags = ["own_sanitizer"],
        textual_hdrs = ["//runtime:symbol_tables"],
    )
    kiln_cc_test(
        name = name,
        srcs = srcs + _SUPPORT,
        copts = flags + ["-gline-tables-only"],
        data = data,
        linkopts = flags,
        linkstatic = True,
        tags = ["own_sanitizer"],
        deps = [":" + name + "_runtime"],
    )
