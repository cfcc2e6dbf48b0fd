"""tests_of_page(name, tests): a file with the label and the rule of each test that a page names.

A label that is not there breaks the build; robustness.py compares the file with the page.
"""

_KindInfo = provider(fields = {"kind": "the rule's name"})

def _kind_impl(_, ctx):
    return [_KindInfo(kind = ctx.rule.kind)]

_kind = aspect(implementation = _kind_impl)

def _tests_of_page_impl(ctx):
    lines = ["//%s:%s %s" % (test.label.package, test.label.name, test[_KindInfo].kind) for test in ctx.attr.tests]
    listing = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.write(listing, "\n".join(lines) + "\n")
    return [DefaultInfo(files = depset([listing]))]

tests_of_page = rule(
    implementation = _tests_of_page_impl,
    attrs = {"tests": attr.label_list(aspects = [_kind])},
)
