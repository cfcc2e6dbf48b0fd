"""system_headers(): a folder of headers that Bazel knows as one file.

As inputs of their own, LLVM's 4,200 headers cost each action that includes some of them 30 ms of a processor.
"""

def _system_headers_impl(ctx):
    return [CcInfo(compilation_context = cc_common.create_compilation_context(
        headers = depset([ctx.file.folder]),
        # What is below this path Bazel takes as the compiler's own (compiler.bazelrc), and does not look for among the inputs.
        system_includes = depset(["/proc/self/cwd/" + ctx.file.folder.path]),
        # So it does not see when one of them changes either, but for this.
        defines = depset(ctx.attr.defines + ["KILN_HEADERS_" + ctx.attr.contents]),
    ))]

system_headers = rule(
    implementation = _system_headers_impl,
    attrs = {
        "contents": attr.string(mandatory = True, doc = "a hash of them"),
        "defines": attr.string_list(),
        "folder": attr.label(mandatory = True, allow_single_file = True),
    },
    provides = [CcInfo],
)
