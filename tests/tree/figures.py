"""figures.py DEPENDENCIES [ROOT]: sizes, and what only tests reach.

    the 90th percentile of the files' lengths is below 450 lines
    no function has more than 60 lines, from its name to its closing brace; known_lengths.txt lists those that do, and
    a line of it that is no longer needed, or allows too much, is a mistake, too
    every source file is part of something shipped (DEPENDENCIES: bazel query's graph of that), and every header of the
    compiler and the generator is included by another file than its own .cpp and its test
"""

import re
import sys

from dependencies import Graph
from source_tree import C_TOKEN, Tree, answer, listed, own_root

FOLDERS = ["compiler", "codegen", "runtime"]
SOURCES = (".h", ".c", ".cpp", ".def", ".td")
MAX_P90, MAX_FUNCTION = 450, 60

# What stands before a brace that opens no function, and what does before one that does.
SCOPE = re.compile(r"\s*(?:template\s*<.*>\s*)?(?:typedef\s+|static\s+|const\s+)*"
                   r"(?:namespace|class|struct|enum|union|extern)\b[^()]*$", re.S)
HEAD_END = re.compile(r"(?:[)}]|\b(?:const|override|final|noexcept|mutable)|->[^(){};=]*)\s*$")
NAME = re.compile(r"([~\w:]+|operator\s*\S+?)\s*\(")


def hide(token):
    """A comment or literal as blanks, so that no brace of it counts."""
    return re.sub(r"[^\n]", " ", token.group()) if token.group("comment") else re.sub(r"[{}();=\"'#]", "_", token.group())


def functions(text):
    """(name, first line, lines) of each function that is defined outside of others."""
    text = C_TOKEN.sub(hide, text)
    text = re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda found: "\n" * found.group().count("\n"), text)
    start = depth = 0
    opened = None  # the function at hand: (name, where its name stands, depth)
    for found in re.finditer(r"[{};]|^(?:public|private|protected):", text, re.M):
        at = found.start()
        if found.group() == "{":
            head = text[start:at]
            name = NAME.search(head)
            if opened is None and name and HEAD_END.search(head) and not SCOPE.match(head):
                opened = name.group(1), start + name.start(), depth
            depth += 1
        elif found.group() == "}":
            depth -= 1
            if opened and opened[2] == depth:
                yield opened[0], text.count("\n", 0, opened[1]) + 1, text.count("\n", opened[1], at) + 1
                opened = None
        if opened is None and not (found.group() in "{}" and is_initialiser(text, start, at)):
            start = found.end()


def is_initialiser(text, start, at):
    """Whether a brace belongs to a member's initialiser, "A() : b{c}": the function's head goes on."""
    return bool(re.search(r"\)\s*:\s[^;]*$", text[start:at]))


def check_lengths(tree, known):
    lengths = sorted(tree.read(path).count("\n") for path in tree.below(FOLDERS, (".h", ".c", ".cpp")))
    p90 = lengths[len(lengths) * 9 // 10]
    if p90 >= MAX_P90:
        yield f"a tenth of the files has {p90} lines or more: expected less than {MAX_P90}"
    longest = {}
    for path in tree.below(FOLDERS, (".h", ".c", ".cpp")):
        for name, line, length in functions(tree.read(path)):
            if length > max(MAX_FUNCTION, int(known.get(name, 0))):
                yield f"{path}:{line}: {name} has {length} lines: expected at most {known.get(name, MAX_FUNCTION)}"
            longest[name] = max(length, longest.get(name, 0))
    for name, length in known.items():
        if longest.get(name, 0) < int(length):
            yield f"known_lengths.txt: {name} has {longest.get(name, 'no')} lines, not {length}"


def check_reach(tree, shipped):
    """Files that are only reached from a test."""
    sources = tree.below(FOLDERS, SOURCES)
    yield from (f"{path}: nothing shipped is made of it" for path in sources if path not in shipped)
    includers = {}
    for path in tree.below(FOLDERS, SOURCES):
        for included in re.findall(r'(?m)^ *#include "([^"\n]+)"|^include "([^"\n]+)"', tree.read(path)):
            includers.setdefault("".join(included), set()).add(path)
    for path in sources:
        starts = [0, *(slash.end() for slash in re.finditer("/", path))]
        others = {file for start in starts for file in includers.get(path[start:], ())}
        others -= {path[:-2] + ending for ending in (".cpp", ".c")}
        if path.endswith(".h") and not others:
            yield f"{path}: only its own source and tests include it"


def main(graph, root):
    tree = Tree(root)
    shipped = {label.replace(":", "/") for label in Graph(graph).labels}
    return [*check_lengths(tree, listed("known_lengths.txt")), *check_reach(tree, shipped)]


if __name__ == "__main__":
    answer(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else own_root()))
