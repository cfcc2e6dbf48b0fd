"""pipeline.py SOURCE PAGE: whether the page's table has the passes that the pipeline's source runs, in their order.

The page names a pass as kiln-opt does (`kiln-pad-shapes`), the source by its function (createPadShapesPass).
"""

import re
import sys

from source_tree import answer, split_c

# MLIR's own, of which the page speaks in words.
SIMPLIFICATION = {"canonicalizer", "cse", "loopinvariantcodemotion"}
# The function in which the order of the text is the order of the passes.
ORDERED = re.compile(r"\bvoid addLayoutPasses\(.*?^}", re.M | re.S)


def passes_of(code):
    return [name for name in (found.lower() for found in re.findall(r"\bcreate(\w+)Pass\(", code))
            if name not in SIMPLIFICATION]


def main(source, page):
    with open(source, encoding="utf-8") as file:
        code, _ = split_c(file.read())
    with open(page, encoding="utf-8") as file:
        cells = [line.split("|")[1] for line in file if line.startswith("|")]
    names = {name.replace("-", ""): f"kiln-{name}" for cell in cells for name in re.findall(r"`kiln-([\w-]+)`", cell)}
    ordered = passes_of(ORDERED.search(code).group())
    mistakes = [f"{page}: there is no '{name}'" for name in passes_of(code) if name not in names]
    mistakes += [f"{source} does not run {names[name]}" for name in names
                 if name not in passes_of(code) and f"lower{name}(" not in code.lower() and f"{name}(" not in code.lower()]
    if [name for name in names if name in ordered] != ordered:
        mistakes.append(f"{page}: expected the order {', '.join(names.get(name, name) for name in ordered)}")
    return mistakes


if __name__ == "__main__":
    answer(main(*sys.argv[1:]))
