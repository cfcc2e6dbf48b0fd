"""What Kiln says of a kernel that it does not compile, as Triton's exceptions: one for each function on the way to the mistake, each the cause of
its caller's, with that function's source and the place there that Triton names."""

import ast
import inspect
import re
from typing import NamedTuple

from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
from triton.runtime.jit import JITCallable

_STATIC_ASSERT = "sema-static-assert"
# Mistakes that Triton finds itself, and not one of the functions that a kernel calls.
_OF_NO_CALL = (_STATIC_ASSERT, "sema-operand", "sema-operands")
# Where Triton names the function's `def`, and Kiln a statement in it.
_OF_DEFINITION = ("sema-return-types",)


class Refusal(CompilationError):
    """Kiln does not compile the kernel: its text is the message."""

    def __init__(self, text, src=None, node=None, error_message=None):
        Exception.__init__(self, text)
        self.src, self.node, self.message = src, node, text
        self.error_message = error_message or text

    def __str__(self):
        return self.message

    def __reduce__(self):
        return type(self), (self.message, self.src, self.node, self.error_message)


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

    @property
    def sentence(self):
        """The message as exceptions have it: with a capital, unless it begins with a name or a value."""
        begins_with_words = re.match(r"[a-z]+ [a-z]+\b", self.message)
        return self.message[0].upper() + self.message[1:] if begins_with_words else self.message


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


def _triton_function(function, node):
    """The function of Triton's own that a call names, or None."""
    names, callee = [], node.func
    while isinstance(callee, ast.Attribute):
        names.append(callee.attr)
        callee = callee.value
    found = function.fn.__globals__.get(callee.id) if isinstance(callee, ast.Name) else None
    for name in reversed(names):
        found = getattr(found, name, None) if inspect.ismodule(found) else None
    found = inspect.unwrap(found.fn if isinstance(found, JITCallable) else found)
    return found if inspect.isfunction(found) and found.__module__.split(".")[0] == "triton" else None


def _mistake_in_call(said, refusal, function):
    """As of the called function's own, which has no frame: Triton's Python is not run. A note says where it is."""
    mistake = ValueError(said.sentence)
    called = _triton_function(function, refusal.node)
    if called and hasattr(mistake, "add_note"):
        code = called.__code__
        mistake.add_note(f"{code.co_filename}:{code.co_firstlineno}: {code.co_name} is defined here")
    return mistake


def _refusal(text, frame, said, has_call, kind):
    node, src = _node_at(frame, has_call), frame.function.src
    line = src.split("\n")[node.lineno - 1].strip()
    return kind(f"{text}\n{frame.function.__name__}, at {node.lineno}:{node.col_offset}: {line}", src, node, said.sentence)


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
        if index == 0 and said.kind in _OF_DEFINITION:
            frame = frame._replace(line=1, column=0)
        refusal = _refusal(original if is_outermost else said.sentence, frame, said, has_call, kind)
        if cause is None and is_of_call and isinstance(refusal.node, ast.Call):
            cause = _mistake_in_call(said, refusal, frame.function)
        refusal.__cause__ = cause
    return refusal
