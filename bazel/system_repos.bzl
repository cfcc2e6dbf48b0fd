"""External repositories that stand for what the system has installed.

  llvm_repository(name = "llvm")      LLVM + MLIR + lld from llvm-config-22
  cuda_repository(name = "cuda")      CUDA toolkit headers, ptxas, libdevice
  system_library(name = ...)          headers and linker options of a distribution's package
"""

def _find(rctx, what, env, names, places):
    """The first that exists of: $env, `names` on the PATH, `places`."""
    value = rctx.os.environ.get(env, "")
    if value:
        path = rctx.path(value)
        if not path.exists:
            fail("{}: ${} names {}, which does not exist".format(what, env, value))
        return path
    for name in names:
        path = rctx.which(name)
        if path:
            return path
    for place in places:
        path = rctx.path(place)
        if path.exists:
            return path
    fail("{} not found: set {} or install it".format(what, env))

def _run(rctx, args):
    res = rctx.execute(args)
    if res.return_code:
        fail("{}: {}".format(args, res.stderr))
    return res.stdout.strip()

def _write_static_archives(rctx, lib):
    """static/lib*.a: linker scripts that name all archives of MLIR and LLVM, and those of other libraries."""
    names = [path.basename for path in rctx.path(lib).readdir()]
    for library in ["MLIR", "LLVM"]:
        archives = [name for name in names if name.startswith("lib" + library) and name.endswith(".a")]
        if not archives:
            fail("{} has no archives of {}".format(lib, library))
        rctx.file(
            "static/lib{}.a".format(library),
            "GROUP({})\n".format(" ".join(["{}/{}".format(lib, name) for name in sorted(archives)])),
        )
    for library in ["stdc++", "z", "zstd"]:
        archive = _run(rctx, ["cc", "-print-file-name=lib{}.a".format(library)])
        if not archive.startswith("/"):
            fail("cc knows of no lib{}.a".format(library))
        rctx.file("static/lib{}.a".format(library), "INPUT({})\n".format(archive))

def _headers(rctx, folder):
    """A hash of the names, sizes and times of LLVM's headers."""
    listing = 'find -L "$0"/llvm "$0"/llvm-c "$0"/mlir "$0"/mlir-c "$0"/lld -type f -printf "%P %s %T@\n" | LC_ALL=C sort | sha256sum'
    return _run(rctx, ["sh", "-c", listing, folder]).split(" ")[0]

def _llvm_repository_impl(rctx):
    config = _find(
        rctx,
        "llvm-config",
        "LLVM_CONFIG",
        ["llvm-config-" + rctx.attr.major],
        ["/usr/lib/llvm-{}/bin/llvm-config".format(rctx.attr.major)],
    )
    version = _run(rctx, [config, "--version"])
    if version.split(".")[0] != rctx.attr.major:
        fail("LLVM {} is needed, {} is {}".format(rctx.attr.major, config, version))
    prefix = _run(rctx, [config, "--prefix"])
    for sub in ["include/llvm", "include/llvm-c", "include/mlir", "include/mlir-c", "include/lld", "lib", "bin"]:
        rctx.symlink(prefix + "/" + sub, sub)
    for needed in ["bin/mlir-tblgen", "bin/FileCheck", "lib/libMLIR.so", "lib/liblldELF.a"]:
        if not rctx.path(needed).exists:
            fail("{} lacks {}".format(prefix, needed))
    _write_static_archives(rctx, prefix + "/lib")
    rctx.template("BUILD.bazel", rctx.attr._build, {
        "%{prefix}": prefix,
        "%{version}": version,
        "%{tblgen}": "@%s//bazel:tblgen.bzl" % rctx.attr._build.workspace_name,
        "%{system_headers}": "@%s//bazel:system_headers.bzl" % rctx.attr._build.workspace_name,
        "%{headers}": _headers(rctx, prefix + "/include"),
    })
    rctx.file("defs.bzl", 'LLVM_PREFIX = "{}"\nLLVM_VERSION = "{}"\n'.format(prefix, version))

llvm_repository = repository_rule(
    implementation = _llvm_repository_impl,
    attrs = {
        "major": attr.string(default = "22"),
        "_build": attr.label(default = "//bazel:llvm.BUILD.tpl"),
    },
    environ = ["LLVM_CONFIG"],
    local = True,
    configure = True,
)

def _cuda_repository_impl(rctx):
    home = rctx.os.environ.get("CUDA_HOME", "")
    if not home:
        home = rctx.attr.path
    if rctx.path(home).exists:
        for sub in ["include", "bin", "nvvm"]:
            rctx.symlink(home + "/" + sub, sub)
    rctx.file("defs.bzl", 'CUDA_HOME = "{}"\nHAVE_CUDA = {}\n'.format(home, rctx.path(home + "/bin/ptxas").exists))
    rctx.file("BUILD.bazel", """
package(default_visibility = ["//visibility:public"])
exports_files(glob(["bin/ptxas", "nvvm/libdevice/libdevice.10.bc"], allow_empty = True))
filegroup(name = "ptxas", srcs = glob(["bin/ptxas"], allow_empty = True))
filegroup(name = "libdevice", srcs = glob(["nvvm/libdevice/libdevice.10.bc"], allow_empty = True))
cc_library(name = "headers", hdrs = glob(["include/cuda.h", "include/cudaTypedefs.h"], allow_empty = True), includes = ["include"])
""")

cuda_repository = repository_rule(
    implementation = _cuda_repository_impl,
    attrs = {"path": attr.string(default = "/usr/local/cuda")},
    environ = ["CUDA_HOME"],
    local = True,
    configure = True,
)

def _system_library_impl(rctx):
    missing = [h for h in rctx.attr.headers if not rctx.path(rctx.attr.root + "/" + h).exists]
    if missing and not rctx.attr.optional:
        fail("{} not found under {}: {}".format(", ".join(missing), rctx.attr.root, rctx.attr.hint))
    for h in rctx.attr.headers:
        if h not in missing:
            rctx.symlink(rctx.attr.root + "/" + h, "include/" + h.split("/")[-1])
    rctx.file("BUILD.bazel", "".join(["""
cc_library(
    name = "{name}",
    hdrs = glob(["include/**"], allow_empty = True),
    includes = ["include"],
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
""".format(name = name, linkopts = [o for o in opts.split(" ") if o]) for name, opts in rctx.attr.targets.items()]))

system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "headers": attr.string_list(mandatory = True, doc = "folders or files below root that the library offers"),
        "hint": attr.string(mandatory = True, doc = "the command that installs it"),
        "optional": attr.bool(doc = "an absent library fails only the targets that use it"),
        "root": attr.string(default = "/usr/include"),
        "targets": attr.string_dict(mandatory = True, doc = "cc_library name -> linker options"),
    },
    local = True,
)
