"""The repositories of kiln_repositories(), as MODULE.bazel takes them."""

load("//bazel:repositories.bzl", "kiln_repositories")

system = module_extension(implementation = lambda _: kiln_repositories(declared = []))
