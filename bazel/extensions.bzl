"""The repositories of kiln_repositories() and test_repositories(), as MODULE.bazel takes them."""

load("//bazel:repositories.bzl", "kiln_repositories", "test_repositories")

system = module_extension(implementation = lambda _: kiln_repositories(declared = []))

tests = module_extension(implementation = lambda _: test_repositories())
