"""kiln_kernel_library: Triton kernels, compiled ahead of time into a C library.

    load("@kiln//codegen:kiln.bzl", "kiln_kernel_library")

    kiln_kernel_library(
        name = "vector_add",
        srcs = ["vector_add.py"],
        spec = "vector_add.json",
        targets = ["cuda:sm_90a", "cpu:x86-64-v3"],  # in place of the spec's
    )

    cc_binary(name = "main", srcs = ["main.c"], deps = [":vector_add"])

The rule runs `kiln build` once and compiles the generated C against the runtime. It offers CcInfo
(the header is <name>.h) and, in its default outputs, the header, source, archive and manifest.
The actions read nothing but their inputs and need no network, no GPU and no Python.

With `pieces` there is an action for each kernel and target, and one that links them to the same bytes:

    kiln_kernel_library(
        name = "llm_kernels",
        srcs = ["activations.py"],  # what several kernels import
        pieces = {
            "matmul.py": "matmul_f16 matmul_bf16",  # a source, and the spec's kernels that are of it
            "softmax.py": "softmax_f32",
        },
        spec = "llm_kernels.json",
        targets = ["cuda:sm_90a", "cpu:x86-64-v3"],
    )

So they compile at a time, on several machines where there is remote execution, and only those whose sources
change do so again. With `early_header = True` what includes the header need not wait for any of them.

A program that links libraries with equal names, of different packages, gives each a prefix and a runtime of its own:

    kiln_runtime(name = "acme_runtime", prefix = "acme_")

    kiln_kernel_library(name = "vector_add", prefix = "acme_", runtime = ":acme_runtime", ...)
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load(":toolchain.bzl", "TOOLCHAIN_TYPE")

# Everything that an action needs is among its inputs.
_REQUIREMENTS = {"block-network": "1"}

def _library(tools, part, needed_by):
    """A C library of the toolchain."""
    library = getattr(tools, part)
    if not library:
        fail("the Kiln toolchain has no %s, which %s" % (part, needed_by))
    return library

def _program(ctx):
    return ctx.attr.kiln[DefaultInfo].files_to_run if ctx.attr.kiln else ctx.toolchains[TOOLCHAIN_TYPE].kiln

def _arguments(ctx, command, option, output):
    """What all commands of one library have in common; `option` says what they write."""
    args = ctx.actions.args()
    args.add(command, ctx.file.spec)
    args.add(option, output)
    args.add("--name", ctx.label.name)
    if ctx.attr.prefix:
        args.add("--prefix", ctx.attr.prefix)
    for root in ctx.attr.roots:
        args.add("-I", root)
    for target in ctx.attr.targets:
        args.add("--target", target)
    if ctx.attr.compress:
        args.add("--compress", ctx.attr.compress)
    if ctx.attr.packs:
        args.add("--packs")
    if ctx.attr.cxx:
        args.add("--cxx")
    args.add_all(ctx.attr.flags)
    return args

def _compile(ctx, command_args, outputs, inputs, mnemonic, what, with_ptxas):
    """Runs `kiln build`, by itself."""

    # An action shares the machine with others; one job each.
    command_args.add("-j", "1")
    tools = ctx.toolchains[TOOLCHAIN_TYPE].ptxas if with_ptxas else []
    for ptxas in tools:
        command_args.add("--ptxas", ptxas)
    ctx.actions.run(
        outputs = outputs,
        inputs = [ctx.file.spec] + inputs + tools,
        executable = _program(ctx),
        execution_requirements = _REQUIREMENTS,
        arguments = [command_args],
        mnemonic = mnemonic,
        progress_message = "Compiling %s of %s" % (what, ctx.label),
    )

def _build(ctx, outputs):
    """One action for the whole library."""
    args = _arguments(ctx, "build", "-o", outputs[0].dirname)
    _compile(ctx, args, outputs, ctx.files.srcs, "KilnBuild", "the kernels", True)

def _mangle(target):
    """A target in the name of a file."""
    return "".join([c if c.isalnum() else "_" for c in target.elems()])

def _sources(ctx):
    """Of all kernels."""
    return ctx.files.srcs + [file for label in ctx.attr.pieces for file in label.files.to_list()]

def _parts(text, targets):
    """What is compiled by itself: of "kernel", or of "kernel*4" four parts of its variants, for each target."""
    kernel, _, count = text.partition("*")
    suffixes = ["@%dof%s" % (number + 1, count) for number in range(int(count))] if count else [""]
    return [
        struct(kernel = kernel, target = target, suffix = suffix)
        for target in targets
        for suffix in suffixes
    ]

def _link_pieces(ctx, outputs):
    """An action for each kernel and target, or more, and one that links."""
    if not ctx.attr.targets:
        fail("expected the targets here, beside pieces: the spec is not read before there are actions", "targets")
    pieces = []
    for label, kernels in ctx.attr.pieces.items():
        own = label.files.to_list()
        for part in [part for kernel in kernels.split(" ") if kernel for part in _parts(kernel, ctx.attr.targets)]:
            name = "%s@%s" % (part.kernel, _mangle(part.target)) + part.suffix
            piece = ctx.actions.declare_file("%s.pieces/%s" % (ctx.label.name, name))
            pieces.append(piece)
            args = _arguments(ctx, "build", "--objects", piece)
            args.add("--only", "%s@%s%s" % (part.kernel, part.target, part.suffix))
            _compile(ctx, args, [piece], ctx.files.srcs + own, "KilnPiece", name, part.target.startswith("cuda:"))
    args = _arguments(ctx, "link", "-o", outputs[0].dirname)
    args.add_all(pieces)
    ctx.actions.run(
        outputs = outputs,
        inputs = [ctx.file.spec] + _sources(ctx) + pieces,
        executable = _program(ctx),
        execution_requirements = _REQUIREMENTS,
        arguments = [args],
        mnemonic = "KilnLink",
        progress_message = "Linking the kernels of %s" % ctx.label,
    )

def _plan_headers(ctx):
    """The header, and that for C++, from the spec and the sources, while the kernels compile."""
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    headers = [header] + ([ctx.actions.declare_file(ctx.label.name + ".hpp")] if ctx.attr.cxx else [])
    args = _arguments(ctx, "plan", "--header", header)
    ctx.actions.run(
        outputs = headers,
        inputs = [ctx.file.spec] + _sources(ctx),
        executable = _program(ctx),
        execution_requirements = _REQUIREMENTS,
        arguments = [args],
        mnemonic = "KilnHeader",
        progress_message = "Writing the header of %s" % ctx.label,
    )
    return headers

def _kiln_kernel_library_impl(ctx):
    cc_toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    name = ctx.label.name
    # A header of an action of its own is an output once; the one that comes with the library is equal.
    folder = name + ".library/" if ctx.attr.early_header else ""
    header = ctx.actions.declare_file(folder + name + ".h")
    source = ctx.actions.declare_file(folder + name + ".c")
    manifest = ctx.actions.declare_file(folder + name + ".json")
    archive = ctx.actions.declare_file(folder + "lib" + name + ".a")
    headers = [header] + ([ctx.actions.declare_file(folder + name + ".hpp")] if ctx.attr.cxx else [])
    packs = [ctx.actions.declare_file("%s%s.%s.kpack" % (folder, name, arch)) for arch in ctx.attr.packs]
    outputs = [header, source, manifest, archive] + headers[1:] + packs
    if ctx.attr.pieces:
        _link_pieces(ctx, outputs)
    else:
        _build(ctx, outputs)
    if ctx.attr.early_header:
        headers = _plan_headers(ctx)
        outputs = [headers[0], source, manifest, archive] + headers[1:] + packs

    tools = ctx.toolchains[TOOLCHAIN_TYPE]
    deps = [d[CcInfo] for d in ctx.attr.deps]
    deps.append(ctx.attr.runtime[CcInfo] if ctx.attr.runtime else tools.runtime)
    if ctx.attr.emulated or [t for t in ctx.attr.targets if t.startswith("emu:")]:
        deps.append(_library(tools, "emulator", "emu: targets need"))
    if ctx.attr.compress == "zstd":
        deps.append(_library(tools, "zstd", "compressed binaries need"))
    compilation_context, compiled = cc_common.compile(
        name = name,
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = cc_toolchain,
        srcs = [source],
        public_hdrs = headers,
        # Where nothing is sandboxed, the source finds the one beside it.
        private_hdrs = [header] if ctx.attr.early_header else [],
        # The generated source and its users say #include "<name>.h".
        includes = [headers[0].dirname],
        compilation_contexts = [d.compilation_context for d in deps],
    )
    linking_context, _ = cc_common.create_linking_context_from_compilation_outputs(
        name = name + "_dispatch",  # lib<name>.a is the archive of the kernels
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = cc_toolchain,
        compilation_outputs = compiled,
        linking_contexts = [d.linking_context for d in deps],
        disallow_dynamic_library = True,
    )
    kernels = cc_common.create_linking_context(
        linker_inputs = depset([cc_common.create_linker_input(
            owner = ctx.label,
            libraries = depset([cc_common.create_library_to_link(
                actions = ctx.actions,
                feature_configuration = features,
                cc_toolchain = cc_toolchain,
                # Position-independent, as everything in the archive is.
                pic_static_library = archive,
            )]),
        )]),
    )
    own = CcInfo(
        compilation_context = compilation_context,
        # The generated C comes first: it refers to the archive.
        linking_context = cc_common.merge_cc_infos(cc_infos = [
            CcInfo(linking_context = linking_context),
            CcInfo(linking_context = kernels),
        ]).linking_context,
    )
    return [
        DefaultInfo(files = depset(outputs), runfiles = ctx.runfiles(files = packs)),
        OutputGroupInfo(
            header = depset(headers),
            source = depset([source]),
            archive = depset([archive]),
            manifest = depset([manifest]),
            packs = depset(packs),
        ),
        cc_common.merge_cc_infos(direct_cc_infos = [own], cc_infos = deps),
    ]

kiln_kernel_library = rule(
    implementation = _kiln_kernel_library_impl,
    attrs = {
        "srcs": attr.label_list(
            allow_files = True,
            doc = "The Python sources, with every module that they import, and tuning files. Beside pieces: what is " +
                  "no kernel's own.",
        ),
        "pieces": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "For an action for each kernel and target: sources, and the names in the spec of the kernels that " +
                  "are compiled from them, with spaces between. A name with *4 behind it has four actions for each target, " +
                  "which share its variants. Needs targets.",
        ),
        "spec": attr.label(allow_single_file = [".json"], mandatory = True),
        "early_header": attr.bool(
            doc = "Write the header in an action of its own, so that what includes it need not wait for the kernels. " +
                  "Not where a kernel's configs are its source's: some may be left out.",
        ),
        "targets": attr.string_list(doc = "Targets in place of the spec's."),
        "emulated": attr.bool(doc = "The spec has emu: targets (those named here are seen without)."),
        "compress": attr.string(
            values = ["", "none", "zstd"],
            doc = "How the archive holds device binaries. A spec that says zstd needs it here, too: for what unpacks them.",
        ),
        "packs": attr.string_list(
            doc = "Device binaries in files of their own, <name>.ARCHITECTURE.kpack: of each GPU among the targets, " +
                  "the architecture (\"sm_90a\"). They are among the runfiles of what depends on the library as data, " +
                  "and in the output group packs.",
        ),
        "cxx": attr.bool(doc = "Write <name>.hpp, too: the functions for C++17."),
        "prefix": attr.string(doc = "Before every name that C links; `runtime` is a kiln_runtime with the same."),
        "roots": attr.string_list(doc = "Folders, from the workspace's root, for imports."),
        "flags": attr.string_list(doc = "Further flags of `kiln build`."),
        "deps": attr.label_list(providers = [CcInfo]),
        "runtime": attr.label(providers = [CcInfo], doc = "In place of the toolchain's: a kiln_runtime."),
        "kiln": attr.label(executable = True, cfg = "target", doc = "In place of the toolchain's program."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    # Bazel 4 would configure the toolchain's runtime as a tool.
    incompatible_use_toolchain_transition = True,
    toolchains = [
        "@bazel_tools//tools/cpp:toolchain_type",
        str(TOOLCHAIN_TYPE),
    ],
)

def kiln_runtime(name, prefix, **kwargs):
    """The runtime with `prefix` before its functions' names. The headers of libraries with that prefix know it."""
    native.cc_library(
        name = name,
        srcs = [Label("//runtime:sources")],
        copts = ["-std=gnu11"],
        linkopts = [
            "-ldl",
            "-pthread",
        ],
        linkstatic = True,
        local_defines = ["KILN_PREFIX=" + prefix],
        textual_hdrs = [Label("//runtime:symbol_tables")],
        deps = [Label("//runtime:kiln_header")],
        **kwargs
    )
