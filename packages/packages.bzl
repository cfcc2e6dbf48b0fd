"""package_tree(name, files, sources): what all packages hold, as a folder.
package_archive(name, tree, kind): a package of it, in a folder, as its name says the version and the commit.

The commit is there with `bazel build --stamp` only, so that builds without it are kept from commit to commit.
"""

load("//bazel:version.bzl", "KILN_VERSION")

# They are large, and made in seconds: no cache has to keep each state of them.
_NOT_CACHED = {"no-cache": "1"}

def _places(ctx):
    """Pairs of a place and a file."""
    pairs = []
    for label, place in ctx.attr.files.items():
        files = label.files.to_list()
        if place.endswith("/"):
            pairs += [(place + file.basename, file) for file in files]
        elif len(files) == 1:
            pairs.append((place, files[0]))
        else:
            fail("expected one file for %s, got %s" % (place, files), "files")
    return pairs + [("share/kiln/" + file.short_path, file) for file in ctx.files.sources]

def _package_tree_impl(ctx):
    tree = ctx.actions.declare_directory(ctx.label.name)
    layout = ctx.actions.declare_file(ctx.label.name + ".json")
    pairs = _places(ctx)
    ctx.actions.write(layout, struct(
        version = KILN_VERSION,
        commit = ctx.info_file.path if ctx.attr.stamp else "",
        objcopy = ctx.file._objcopy.path,
        files = [[place, file.path] for place, file in pairs],
    ).to_json())
    ctx.actions.run_shell(
        outputs = [tree],
        inputs = [layout, ctx.file._stage, ctx.file._objcopy] + [file for _, file in pairs] +
                 ([ctx.info_file] if ctx.attr.stamp else []),
        command = 'python3 "$@"',
        arguments = [ctx.file._stage.path, layout.path, tree.path],
        mnemonic = "StagePackages",
        progress_message = "Laying out what packages hold",
        execution_requirements = _NOT_CACHED,
    )
    return [DefaultInfo(files = depset([tree]))]

_package_tree = rule(
    implementation = _package_tree_impl,
    attrs = {
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Files and their places; a place that ends with a slash is a folder.",
        ),
        "sources": attr.label_list(allow_files = True, doc = "Files that keep their paths, below share/kiln."),
        "stamp": attr.bool(),
        "_objcopy": attr.label(default = "@llvm//:llvm-objcopy", allow_single_file = True),
        "_stage": attr.label(default = "//packages:stage.py", allow_single_file = True),
    },
)

def package_tree(name, files, manual_pages, **kwargs):
    _package_tree(
        name = name,
        files = dict(files, **{page: "share/man/" + page for page in manual_pages}),
        stamp = select({"//packages:stamped": True, "//conditions:default": False}),
        **kwargs
    )

def _package_archive_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run_shell(
        outputs = [folder],
        inputs = [ctx.file.tree, ctx.file._package, ctx.file._readelf] + ctx.files.python,
        command = 'python3 "$@"',
        arguments = [ctx.file._package.path, ctx.attr.kind, ctx.file.tree.path, folder.path, ctx.file._readelf.path] +
                    [file.path for file in ctx.files.python],
        mnemonic = "Package",
        progress_message = "Packing %s" % ctx.label,
        execution_requirements = _NOT_CACHED,
    )
    return [DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles([folder]))]

package_archive = rule(
    implementation = _package_archive_impl,
    attrs = {
        "kind": attr.string(values = ["tarball", "deb", "wheel"], mandatory = True),
        "tree": attr.label(allow_single_file = True, mandatory = True),
        "python": attr.label_list(allow_files = [".py"]),
        "_package": attr.label(default = "//packages:package.py", allow_single_file = True),
        "_readelf": attr.label(default = "@llvm//:llvm-readelf", allow_single_file = True),
    },
)
