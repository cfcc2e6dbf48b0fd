"""names.py [ROOT]: names in pages and comments that the tree no longer has.

Looked at are the Markdown pages outside fenced blocks (tests/docs runs those), and the comments of the compiler, the
generator and the runtime. A name is

    a file or folder        compiler/Sema, Parser.cpp; {A,B} and * as a shell reads them
    an identifier           inCamelCase, Class::member, kiln_function, function() — in pages, between backticks
    an operation            tile.load, tilegpu.convert_layout: between backticks
    a pass                  kiln-defer-reductions: between backticks
    an option               --emit: in pages, between backticks

foreign_names.txt lists names of other programs, which the tree talks about and does not have; what of it nobody talks
about any more is a mistake, too.
"""

import fnmatch
import re
import sys

from source_tree import Tree, answer, listed, own_root

COMMENTED = ["compiler", "codegen", "runtime"]
SUFFIXES = (".h", ".c", ".cpp", ".def", ".td")
# Tells what was, not what is.
HISTORY = "CHANGELOG.md"

INCLUDE = re.compile(r'(?m)^ *#include [<"]([^>"\n]+)')
WORD = re.compile(r"[A-Za-z_]\w*")
CAMEL = r"[a-z][a-z0-9]+[A-Z]\w*|[A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]+)+\w*"
OWN = re.compile(rf"""
    (?P<file>   (?<![\w.<>…/-]) (?:[\w.*{{}},-]+/)* (?:[A-Z*][\w*]*\.(?:cpp|h|c|def|td|\{{[\w,]+\}})|\w+\.(?:test|mlir|bzl))(?!\w) )
  | (?P<folder> (?<![\w.<>…/-]) (?:compiler|codegen|runtime|tests|bazel|packages)/[\w./*{{}},-]* )
  | (?P<name>   (?<![\w.:/-]) (?:(?:[A-Za-z_]\w*::)+~?[A-Za-z_]\w* | (?:{CAMEL}|kiln_\w+) (?![\w.]*\w/) | [A-Za-z_]\w*(?=\(\))) )
""", re.X)
OPERATION = re.compile(r"(?<![\w.])(?:tile|tilegpu)\.([a-z]\w*)")
PASS = re.compile(r"(?<![\w./-])kiln-[a-z]+(?:-[a-z]+)+(?![\w./-])")
OPTION = re.compile(r"(?<![\w-])--([a-z][\w-]*)")
# NAME.h, libNAME.a: what the reader is to put in.
PLACEHOLDER = re.compile(r"(?<![a-z\d])(?:lib)?_?(?:L|NAME|LIBRARY|FILE|PHASE|VERSION|KILN)(?![A-Za-z\d])")
# f(/*flag=*/true): the parameter's name, which the callee's declaration has.
ARGUMENT = re.compile(r"/\*\w+=\*/")


def expand(pattern):
    """A path's {A,B} as a shell expands it."""
    choice = re.search(r"\{([^{}]*)\}", pattern)
    if not choice:
        return [pattern]
    return [path for part in choice.group(1).split(",")
            for path in expand(pattern[:choice.start()] + part.strip() + pattern[choice.end():])]


def folders_of(path):
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


class Names:
    """What the tree has."""

    def __init__(self, tree):
        self.tree = tree
        self.words, self.options, self.passes = set(), set(), set()
        included = set()
        for path in tree.files:
            if path.endswith((".md", "foreign_names.txt")):
                continue
            code, _ = tree.split(path)
            self.words.update(WORD.findall(code))
            included.update(INCLUDE.findall(code))
            self.passes.update(PASS.findall(code))
            self.options.update(OPTION.findall(code))
            self.options.update(re.findall(r'"([a-z][\w-]*)"', code))
        paths = included | {path for file in tree.files for path in (file, *folders_of(file), file.rpartition(".")[0])}
        self.ends = {path[start:] for path in paths for start in [0, *(m.end() for m in re.finditer("/", path))]}

    def has_path(self, pattern):
        """Also from a folder below; a path without an ending may stand for all files of the name."""
        return all(one in self.ends or "*" in one and fnmatch.filter(self.ends, one)
                   for one in expand(pattern.rstrip("/.,")))

    def missing_in(self, text, is_page):
        """The names in a line of prose that are not there."""
        spans = re.findall(r"`([^`]+)`", text)
        for part in spans if is_page else [text]:
            for found in OWN.finditer(part):
                name = found.group()
                if PLACEHOLDER.search(name):
                    continue
                if found.group("name"):
                    if not all(word in self.words for word in WORD.findall(name)):
                        yield name
                elif not self.has_path(name):
                    yield name
        for part in spans:
            yield from (f"tile.{name}" for name in OPERATION.findall(part) if name not in self.words)
            yield from (name for name in PASS.findall(part) if name not in self.passes)
            if is_page:
                yield from (f"--{name}" for name in OPTION.findall(part) if name.rstrip("-") not in self.options)


def prose(tree):
    """(path, line number, text, whether of a page) of all that is looked at."""
    for path in tree.files:
        if path.endswith(".md") and path != HISTORY:
            is_fenced = False
            for number, line in enumerate(tree.read(path).split("\n"), 1):
                is_fenced ^= line.lstrip().startswith("```")
                if not is_fenced:
                    yield path, number, line, True
    for path in tree.below(COMMENTED, SUFFIXES):
        for number, line in enumerate(tree.split(path)[1].split("\n"), 1):
            yield path, number, ARGUMENT.sub("", line), False


def main(root):
    names, foreign = Names(Tree(root)), listed("foreign_names.txt")
    mistakes, used = [], set()
    for path, number, line, is_page in prose(names.tree):
        for name in names.missing_in(line, is_page):
            if name in foreign:
                used.add(name)
            else:
                mistakes.append(f"{path}:{number}: there is no '{name}'")
    mistakes += [f"tests/tree/foreign_names.txt: nobody speaks of '{name}'" for name in sorted(foreign.keys() - used)]
    return mistakes


if __name__ == "__main__":
    answer(main(sys.argv[1] if len(sys.argv) > 1 else own_root()))
