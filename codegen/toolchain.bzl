"""kiln_toolchain: the Kiln that kiln_kernel_library calls, and what its libraries link.

Toolchains are registered in WORKSPACE, and the first that suits the platforms is taken:

    register_toolchains("@kiln_prebuilt//:kiln")  # a folder with a built Kiln, see kiln_prebuilt
    register_toolchains("@kiln//codegen:toolchain")  # built from its sources
"""

TOOLCHAIN_TYPE = Label("//codegen:toolchain_type")

def _cc_info(library):
    return library[CcInfo] if library else None

def _implementation(ctx):
    return [platform_common.ToolchainInfo(
        kiln = ctx.attr.kiln[DefaultInfo].files_to_run,
        ptxas = ctx.files.ptxas,
        runtime = _cc_info(ctx.attr.runtime),
        emulator = _cc_info(ctx.attr.emulator),
        zstd = _cc_info(ctx.attr.zstd),
    )]

def _toolchain_rule(configuration):
    return rule(
        implementation = _implementation,
        attrs = {
            "kiln": attr.label(mandatory = True, executable = True, allow_files = True, cfg = configuration),
            "ptxas": attr.label(allow_files = True, cfg = configuration),
            "runtime": attr.label(mandatory = True, providers = [CcInfo]),
            "emulator": attr.label(providers = [CcInfo]),
            "zstd": attr.label(providers = [CcInfo]),
        },
    )

_for_execution = _toolchain_rule("exec")
_for_target = _toolchain_rule("target")

def kiln_toolchain(name, built_for = "exec", exec_compatible_with = [], target_compatible_with = [], **kwargs):
    """A toolchain to be registered.

    Args:
      name: what register_toolchains names.
      built_for: "exec", where actions run, as tools are; "target" takes the program of the build itself, where that is
        built anyhow and runs here.
      exec_compatible_with, target_compatible_with: constraints, as toolchain has them.
      **kwargs: `kiln`, the program; `ptxas`, NVIDIA's assembler, for cuda targets (it may be an empty group); and the C
        libraries `runtime`, `emulator` (for emu: targets) and `zstd` (for compressed binaries).
    """
    make = {"exec": _for_execution, "target": _for_target}[built_for]
    make(name = name + "_tools", **kwargs)
    native.toolchain(
        name = name,
        exec_compatible_with = exec_compatible_with,
        target_compatible_with = target_compatible_with,
        toolchain = ":%s_tools" % name,
        toolchain_type = TOOLCHAIN_TYPE,
    )

def _part(name, sources, **kwargs):
    """A part of the runtime that the folder may lack."""
    srcs = native.glob(sources, allow_empty = True)
    if not srcs:
        return None
    native.cc_library(name = name, srcs = srcs, linkstatic = True, **kwargs)
    return ":" + name

def kiln_prebuilt(name, kiln = "bin/kiln", runtime = "runtime", ptxas = "@cuda//:ptxas", **kwargs):
    """A toolchain of a folder with a built Kiln and the sources of its runtime, for the folder's BUILD file.

    new_local_repository(
        name = "kiln_prebuilt",
        build_file_content = '''
    load("@kiln//codegen:toolchain.bzl", "kiln_prebuilt")

    kiln_prebuilt(name = "kiln")
    ''',
        path = "/opt/kiln",
    )

    Args:
      name: what register_toolchains names.
      kiln, runtime: where program and runtime are in the folder. There are no BUILD files below `runtime`.
      ptxas: as for kiln_toolchain.
      **kwargs: built_for and constraints, as for kiln_toolchain.
    """

    # Sources include their headers from the folder above, programs kiln.h by itself.
    above = runtime.rpartition("/")[0] or "."
    native.cc_library(
        name = name + "_runtime",
        srcs = native.glob([runtime + "/*.c"], allow_empty = False),
        hdrs = native.glob([runtime + "/**/*.h", runtime + "/**/*.hpp", runtime + "/**/*.def"], allow_empty = False),
        copts = ["-std=gnu11"],
        includes = [above, runtime],
        linkopts = ["-ldl", "-pthread"],
        linkstatic = True,
    )
    kiln_toolchain(
        name = name,
        kiln = kiln,
        ptxas = ptxas,
        runtime = ":%s_runtime" % name,
        emulator = _part(
            name + "_emulator",
            [runtime + "/emulator/*.cpp"],
            copts = ["-std=c++17", "-O2"],
            linkopts = ["-l:libboost_context.a"],
            deps = [":%s_runtime" % name],
        ),
        zstd = _part(
            name + "_zstd",
            [runtime + "/zstd/*.c"],
            copts = ["-std=gnu11"],
            linkopts = ["-lzstd"],
            deps = [":%s_runtime" % name],
        ),
        **kwargs
    )
