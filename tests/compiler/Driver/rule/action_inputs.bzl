"""action_inputs(name, library): a file with a line for each action of Kiln's.

Its name, its outputs and the sources that it reads.
"""

def _aspect_impl(target, ctx):
    lines = []
    for action in target.actions:
        if action.mnemonic.startswith("Kiln"):
            outputs = [file.basename for file in action.outputs.to_list()]
            inputs = [
                file.basename
                for file in action.inputs.to_list()
                if not file.is_source and ".pieces/" in file.path or file.extension in ["py", "json"]
            ]
            lines.append("%s %s: %s" % (action.mnemonic, " ".join(outputs), " ".join(inputs)))
    listing = ctx.actions.declare_file(target.label.name + ".actions.txt")
    ctx.actions.write(listing, "\n".join(sorted(lines)) + "\n")
    return [OutputGroupInfo(actions = depset([listing]))]

_aspect = aspect(implementation = _aspect_impl)

def _action_inputs_impl(ctx):
    listing = ctx.actions.declare_file(ctx.label.name + ".txt")
    found = ctx.attr.library[OutputGroupInfo].actions.to_list()
    ctx.actions.run_shell(
        inputs = found,
        outputs = [listing],
        command = "cp %s %s" % (found[0].path, listing.path),
    )
    return [DefaultInfo(files = depset([listing]))]

action_inputs = rule(
    implementation = _action_inputs_impl,
    attrs = {"library": attr.label(aspects = [_aspect])},
)
