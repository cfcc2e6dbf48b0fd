"""Python modules that are written piece by piece, and where each line of them came from."""


class Origin:
    """Where a definition stands in the program's own files."""

    def __init__(self, path, line, column=0, function=None, lines_before=0):
        self.path, self.line, self.column = path, line, column
        self.function, self.lines_before = function, lines_before  # what is defined, and the lines of its decorators


class Module:
    def __init__(self, name):
        self.name = name
        # What each name means, by an identity that is equal for equal meanings.
        self.bound = {"triton": ("module", "triton"), "tl": ("module", "triton.language")}
        self.imported = set()
        self.imports = ["import triton", "import triton.language as tl"]
        self.definitions = []  # (text, origin of its first line or None)

    @property
    def file(self):
        return self.name + ".py"

    def define(self, text, origin=None):
        self.definitions.append((text, origin))

    def text(self):
        return "\n".join([*self.imports, "", *(text for text, _ in self.definitions)]) + "\n"

    def definition_at(self, line):
        """The origin of the definition that has this line, if it has one, and the line's number in it."""
        at = len(self.imports) + 2
        for text, origin in self.definitions:
            lines = text.count("\n") + 1
            if origin and at <= line < at + lines:
                return origin, line - at + 1
            at += lines
        return None, 0

    def origin_of(self, line, column):
        """(path, line, column) of the program's own file, or None."""
        origin, within = self.definition_at(line)
        return origin and (origin.path, origin.line + within - 1, origin.column + column)
