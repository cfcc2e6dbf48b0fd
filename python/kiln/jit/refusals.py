"""What Kiln says of a kernel that it does not compile, as Triton's exceptions: one for each function on the way to the mistake, each the cause of
its caller's, with that function's source and the place there that Triton names."""

import ast
import re
from typing import NamedTuple

from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
from triton.runtime.jit import JITCallable

_STATIC_ASSERT = "sema-static-assert"
# Mistakes that Triton finds itself, and not one of the functions that a kernel calls.
_OF_NO_CALL = (_STATIC_ASSERT, "sema-operand", "sema-operands")


class Refusal(CompilationError):
    """Kiln does not compile the kernel: its text is the message."""

    def __init__(self, text, src=None, node=None):
        Exception.__init__(self, text)
        self.src, self.node = src, node
        self.error_message = self.message = text

    def __str__(self):
        return self.message

    def __reduce__(self):
        return type(self), (self.message,)


class FailedStaticAssert(Refusal, CompileTimeAssertionFailure):
    pass


class Frame(NamedTuple):
    """A place in a function, as Triton counts: lines from its `def` on, columns from 0."""

    function: object
    line: int
    column: int


class Said(NamedTuple):
    """The first error in Kiln's text."""

    message: str
    kind: str
    frames: list  # from the mistake to the kernel


def _frame(source, file, line, column):
    module = next((m for m in source.modules if m.file == file), None)
    origin, line = module.definition_at(int(line)) if module else (None, 0)
    function = origin and origin.function
    return Frame(function, line - origin.lines_before, int(column) - 1) if isinstance(function, JITCallable) else None


def first_error(source, text):
    """None: the text is not of a kernel's code."""
    said = None
    for match in re.finditer(r"^(\w+\.py):(\d+):(\d+): (error|note): (.*?)(?: \[([\w-]+)\])?$", text, re.M):
        file, line, column, severity, message, kind = match.groups()
        frame = _frame(source, file, line, column)
        if severity == "error":
            if said or not frame:
                break
            said = Said(message, kind, [frame])
        elif said and frame and message.startswith("in a call of "):
            said.frames.append(frame)
    return said


def _node_at(frame, is_call):
    """The piece of a function's syntax at a place; `is_call`: the innermost call around it."""

    def holds(node):
        begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        return begin <= (frame.line, frame.column) < end

    nodes = [node for node in ast.walk(ast.parse(frame.function.src)) if hasattr(node, "lineno") and holds(node)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if is_call and calls:
        return calls[-1]
    return ast.Pass(lineno=frame.line, col_offset=frame.column)


def _refusal(text, frame, is_call, kind=Refusal):
    node, src = _node_at(frame, is_call), frame.function.src
    line = src.split("\n")[node.lineno - 1].strip()
    return kind(f"{text}\n{frame.function.__name__}, at {node.lineno}:{node.col_offset}: {line}", src, node)


def refusal_of(source, text):
    """The exception for Kiln's text of the modules that `source` has written."""
    original, said = source.original_places(text), first_error(source, text)
    kind = FailedStaticAssert if f"[{_STATIC_ASSERT}" in text else Refusal
    if not said:
        return kind(original)
    is_of_call = said.kind not in _OF_NO_CALL
    refusal = None
    for index, frame in enumerate(said.frames):
        is_outermost = index == len(said.frames) - 1
        cause, has_call = refusal, is_of_call or index > 0
        refusal = _refusal(original if is_outermost else said.message, frame, has_call, kind)
        if cause is None and is_of_call and isinstance(refusal.node, ast.Call):
            cause = ValueError(said.message)
        refusal.__cause__ = cause
    return refusal
