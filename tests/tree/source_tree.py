"""A tree's files as its tests read them: what exists, what is code, what is said about it."""

import functools
import os
import re
import sys

# Comments, and what only looks like them: string and character literals.
C_TOKEN = re.compile(r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
  | R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"
  | "(?:\\.|[^"\\\n])*"
  | (?<![\w.]) \d [\w.']*
  | '(?:\\.|[^'\\\n])+'
""", re.S | re.X)
C_LIKE = (".h", ".c", ".cpp", ".def", ".td", ".mlir")
HASH_COMMENT = re.compile(r"(?m)(?<!\S)#(?!!).*$")
HASH_LIKE = (".py", ".bzl", ".sh", ".cmake", ".bazelrc", "BUILD", "WORKSPACE")


def blank(text):
    """As many lines, all empty."""
    return "\n" * text.count("\n")


class Tree:
    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.files = list(self._files())
        self.folders = {os.path.dirname(path) for path in self.files}

    def _files(self):
        """Every file's path below the root, but for what is hidden, built or made."""
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "bazel-", "__pycache__"))
                                and not os.path.islink(os.path.join(folder, name)))
            below = os.path.relpath(folder, self.root)
            for name in sorted(names):
                if not name.startswith("bazel-") and not name.endswith((".pyc", "~")):
                    yield os.path.normpath(os.path.join(below, name))

    def below(self, folders, suffixes):
        prefixes = tuple(f"{folder}/" for folder in folders)
        return [path for path in self.files if path.startswith(prefixes) and path.endswith(suffixes)]

    @functools.lru_cache(maxsize=None)
    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    @functools.lru_cache(maxsize=None)
    def split(self, path):
        """(code, comments) of a file, each with the line numbers of the whole."""
        text = self.read(path)
        if path.endswith(C_LIKE):
            return split_c(text)
        if path.endswith(HASH_LIKE):
            comments = "\n".join("".join(HASH_COMMENT.findall(line)) for line in text.split("\n"))
            return HASH_COMMENT.sub("", text), comments
        return text, blank(text)


def split_c(text):
    code, comments, end = [], [], 0
    for token in C_TOKEN.finditer(text):
        between = text[end:token.start()]
        code.append(between)
        comments.append(blank(between))
        here, elsewhere = (comments, code) if token.group("comment") else (code, comments)
        here.append(token.group())
        elsewhere.append(blank(token.group()) or " ")
        end = token.end()
    return "".join(code) + text[end:], "".join(comments) + blank(text[end:])


def own_root():
    """The checkout in which this file lies; Bazel's links to it are followed."""
    return os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")


def listed(name):
    """The lines of a list of known exceptions: {entry: the rest of its line}."""
    with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), name), encoding="utf-8") as file:
        lines = (line.strip() for line in file)
        return {key: rest.strip() for key, _, rest in (line.partition(" ") for line in lines
                                                       if line and not line.startswith("#"))}


def answer(mistakes):
    print("\n".join(mistakes))
    sys.exit(1 if mistakes else 0)
