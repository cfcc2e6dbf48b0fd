"""A @triton.jit function with all that it refers to, as modules that Kiln can read.

Names mean what they mean to Python: the closure's, then the defining module's. Functions share one module unless a name would have
to mean two things; then a further module is opened, and what it needs of others is imported."""

import ast
import builtins
import inspect
import os
import re
import sys
import textwrap
import types

from triton.runtime.jit import ConstexprFunction, JITCallable, JITFunction

from kiln.jit.literals import Unwritable, literal
from kiln.jit.modules import Module, Origin

# Modules whose classes and functions Kiln knows by their names.
_KNOWN_MODULES = ("typing", "builtins", "enum", "numpy", "torch")


def _names_in(tree):
    """The names that are read, in order, and those that are bound; an inner scope's count as the outer one's."""
    read, bound = [], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            read.append(node.id) if isinstance(node.ctx, ast.Load) else bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
    return list(dict.fromkeys(read)), bound


def _names_outside_of_bodies(tree):
    """Names in defaults and annotations: not local, also where the body binds them."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            arguments = node.args
            parts = [*arguments.defaults, *(d for d in arguments.kw_defaults if d)]
            parts += [a.annotation for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if a.annotation]
            found += [name.id for part in parts for name in ast.walk(part) if isinstance(name, ast.Name)]
    return found


def _closure_of(function):
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not bound yet
            pass
    return values


def _python_function(thing):
    return thing.fn if isinstance(thing, JITCallable) else thing


def _source_of(function):
    """The text of a function from its `def` on, and where that stands."""
    python = _python_function(function)
    lines, first = inspect.getsourcelines(python)
    raw = "".join(lines)
    text = textwrap.dedent(raw)
    start = re.search(r"^(async\s+)?def\b", text, re.M)
    if not start:
        raise Unwritable(f"'{python.__name__}', which is a lambda")
    skipped = text[: start.start()].count("\n")
    column = len(lines[skipped]) - len(lines[skipped].lstrip())
    # A JITFunction's text may have been replaced.
    text = function.src if isinstance(function, JITCallable) else text[start.start() :]
    return text.rstrip("\n"), Origin(inspect.getsourcefile(python), first + skipped, column)


def _decorators(function):
    text = ""
    if isinstance(function, JITFunction):
        options = [f"{option}=True" for option in ("noinline", "debug") if getattr(function, option, False)]
        text = "@triton.jit" + (f"({', '.join(options)})" if options else "") + "\n"
    elif isinstance(function, ConstexprFunction):
        text = "@triton.constexpr_function\n"
    elif getattr(function, "__triton_builtin__", False):
        text = "@triton.language.core.builtin\n"
    must = getattr(function, "_must_use_result", False)
    if must:
        text = "@triton.must_use_result" + (f"({must!r})" if isinstance(must, str) else "") + "\n" + text
    return text


def _is_of_triton(value):
    return (getattr(value, "__module__", None) or "").split(".")[0] == "triton"


class KernelSource:
    def __init__(self, prefix="kernel"):
        self.prefix = prefix
        self.modules = []
        self._placed = {}  # id(object) -> (module, name)
        self._alive = []  # so that no id is used twice

    def files(self):
        return {module.file: module.text() for module in self.modules}

    def function(self, function):
        """Writes a function; the module, and its name there."""
        if id(function) in self._placed:
            return self._placed[id(function)]
        text, origin = _source_of(function)
        tree = ast.parse(text)
        name = tree.body[0].name
        python = _python_function(function)
        scope = {**python.__globals__, **_closure_of(python)}
        read, bound = _names_in(tree)
        outside = set(_names_outside_of_bodies(tree))
        used = [n for n in dict.fromkeys([*read, *outside]) if n != name and (n not in bound or n in outside)]
        decorators = _decorators(function)
        lines_before = decorators.count("\n")
        first = Origin(origin.path, origin.line - lines_before, origin.column, function, lines_before)
        return self._define(function, name, decorators + text, {n: scope[n] for n in used if n in scope}, first)

    def _class(self, cls):
        if id(cls) in self._placed:
            return self._placed[id(cls)]
        try:
            lines, first = inspect.getsourcelines(cls)
        except (OSError, TypeError) as error:
            if not hasattr(cls, "_fields"):
                raise Unwritable(f"class {cls.__name__}: {error}") from None
            fields = "".join(f"\n    {field}: object" for field in cls._fields)
            return self._define(cls, cls.__name__, f"from typing import NamedTuple\n\nclass {cls.__name__}(NamedTuple):{fields}", {})
        text = textwrap.dedent("".join(lines)).rstrip("\n")
        tree = ast.parse(text)
        scope = dict(vars(sys.modules.get(cls.__module__, builtins)))
        for member in vars(cls).values():
            member = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(member, (JITCallable, types.FunctionType)):
                scope = {**_closure_of(_python_function(member)), **scope}
        read, _ = _names_in(tree)
        name = tree.body[0].name
        found = {n: scope[n] for n in read if n in scope and n != name}
        found.update({b.__name__: b for b in cls.__bases__ if b.__name__ in read and b is not object and b.__name__ not in found})
        return self._define(cls, name, text, found, Origin(inspect.getsourcefile(cls), first, len(lines[0]) - len(lines[0].lstrip())))

    def _identity(self, value):
        if isinstance(value, types.ModuleType):
            return ("module", value.__name__)
        if isinstance(value, (JITCallable, type, types.FunctionType, types.BuiltinFunctionType)):
            return ("object", id(value))
        try:
            return ("literal", literal(value))
        except Unwritable:
            return ("object", id(value))

    def _module_for(self, wanted):
        """The first module in which all these names may have these meanings."""
        for module in self.modules:
            if all(module.bound.get(name, identity) == identity for name, identity in wanted.items()):
                return module
        self.modules.append(Module(f"{self.prefix}{len(self.modules)}"))
        return self.modules[-1]

    def _define(self, thing, name, text, references, origin=None):
        self._alive.append(thing)
        wanted = {n: self._identity(v) for n, v in references.items()}
        wanted[name] = ("object", id(thing))
        module = self._module_for(wanted)
        module.bound[name] = ("object", id(thing))
        self._placed[id(thing)] = (module, name)
        for reference, value in references.items():
            self.bind(module, reference, value)
        module.define(text, origin)
        return module, name

    def _is_bound(self, module, name, value, identity):
        if module.bound.get(name) != identity:
            return False
        if identity[0] != "object":
            return True
        place = self._placed.get(id(value))
        return place is not None and (place[0] is module or name in module.imported)

    def bind(self, module, name, value):
        """Gives a name of a module its meaning."""
        identity = self._identity(value)
        if self._is_bound(module, name, value, identity):
            return
        module.bound[name] = identity
        if isinstance(value, types.ModuleType):
            module.imports.append(f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}"))
        elif type(value).__name__ == "_Feature":  # from __future__
            pass
        elif identity[0] == "literal":
            module.define(f"{name} = {identity[1]}")
        elif not self._bind_known(module, name, value):
            self._bind_written(module, name, value)

    def _bind_known(self, module, name, value):
        """What Kiln knows by its name; False: it has to be written."""
        origin, spelled = getattr(value, "__module__", None), getattr(value, "__name__", None)
        if type(value).__module__ == "torch" and type(value).__name__ == "dtype":
            module.imports.append("import torch")
            module.define(f"{name} = {value}")
            return True
        if isinstance(value, JITCallable):
            origin, spelled = value.fn.__module__, value.fn.__name__
            is_known = origin.startswith("triton.")
        elif "typing" in (origin, type(value).__module__):
            origin, spelled, is_known = "typing", getattr(value, "_name", None) or spelled or name, True
        elif isinstance(value, type) or _is_of_triton(value):
            is_known = origin in _KNOWN_MODULES or (
                _is_of_triton(value) and spelled and not getattr(value, "__triton_aggregate__", False)
            )
        else:
            is_known = isinstance(value, types.BuiltinFunctionType)
        if is_known:
            module.imports.append(f"from {origin} import {spelled}" + ("" if spelled == name else f" as {name}"))
        return is_known

    def _bind_written(self, module, name, value):
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            place, spelled = self._class(type(value))
            self._import(module, place, spelled, spelled)
            module.define(f"{name} = {spelled}({', '.join(literal(v) for v in value)})")
            return
        if isinstance(value, (tuple, list)):
            parts = [f"{name}__{index}" for index in range(len(value))]
            for part, item in zip(parts, value):
                self.bind(module, part, item)
            inside = ", ".join(parts) + ("," if len(parts) == 1 else "")
            module.define(f"{name} = ({inside})" if isinstance(value, tuple) else f"{name} = [{inside}]")
            return
        if isinstance(getattr(value, "fn", None), JITCallable) and not isinstance(value, JITCallable):  # an autotuner
            value = value.fn
        if isinstance(value, (JITCallable, types.FunctionType)):
            place, spelled = self.function(value)
        elif isinstance(value, type):
            place, spelled = self._class(value)
        else:
            raise Unwritable(f"'{name}', a value of type {type(value).__name__}")
        if place is module and spelled != name:
            module.define(f"{name} = {spelled}")
        self._import(module, place, spelled, name)

    def _import(self, module, place, spelled, name):
        if place is module:
            return
        module.imported.add(name)
        module.imports.append(f"from {place.name} import {spelled}" + ("" if spelled == name else f" as {name}"))

    def original_places(self, text):
        """Kiln's text with the program's own files and lines in place of those of the written modules."""

        def original(match):
            module = next((m for m in self.modules if m.file == match[1]), None)
            place = module and module.origin_of(int(match[2]), int(match[3] or 0))
            if not place:
                return match[0]
            path = os.path.relpath(place[0])
            path = place[0] if path.startswith("..") else path
            return f"{path}:{place[1]}" + (f":{place[2]}" if match[3] else "")

        return re.sub(rf"\b({re.escape(self.prefix)}\d+\.py):(\d+)(?::(\d+))?", original, text)
