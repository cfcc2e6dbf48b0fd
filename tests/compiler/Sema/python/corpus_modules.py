#!/usr/bin/env python3
"""corpus_modules.py MODULE-VALUES FOLDER [--all] [--limit N]: the modules of real packages, by Kiln and by this Python.

Runs every .py file under FOLDER that mentions triton.jit (with --all every file), statement by statement, in this Python with a few harmless modules; all
others, files and the machine are stand-ins whose every use gives another one, so nothing happens outside. Compares the
names whose value both know.
"""
import argparse
import ast
import builtins
import importlib
import pathlib
import sys

from module_values import compare, text_of

HARMLESS = {"math", "enum", "functools", "itertools", "collections", "dataclasses", "typing", "operator", "abc", "string", "copy",
            "numbers", "__future__", "contextlib", "types"}


INSTALLED = {"torch", "numpy", "packaging", "triton", "typing_extensions", "einops", "pytest"}


class NotKnown(Exception):
    pass


class Unknown:
    """Something of a module that is not there. What depends on its value is not known."""

    def __init__(self, name="?"):
        object.__setattr__(self, "_name", name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{self._name}.{name}")

    def __setattr__(self, name, value):
        pass

    def __call__(self, *args, **kwargs):
        # As a decorator it gives the function back.
        return args[0] if len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], Unknown) else Unknown()

    def __getitem__(self, key):
        return Unknown()

    def __setitem__(self, key, value):
        pass

    def __mro_entries__(self, bases):
        return ()

    def _fail(self, *args):
        raise NotKnown(self._name)

    def _same(self, *args):
        return Unknown(self._name)

    __bool__ = __len__ = __iter__ = __index__ = __int__ = __float__ = __contains__ = __hash__ = __enter__ = __exit__ = __str__ = __repr__ = __format__ = _fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _same
    __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _same


def import_stand_in(name, globals=None, locals=None, fromlist=(), level=0):
    head = name.split(".")[0]
    if level == 0 and head in HARMLESS:
        return importlib.__import__(name, globals, locals, fromlist, 0)
    # What Kiln takes to be installed wherever kernels run.
    if level == 0 and head not in sys.stdlib_module_names and head not in INSTALLED:
        raise ModuleNotFoundError(name)
    return Unknown(name)


def bound_names(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)} | {
        n.name for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


def values_of_module(path):
    try:
        tree = ast.parse(path.read_text())
    except (SyntaxError, ValueError, UnicodeDecodeError):
        return {}
    own = {name: getattr(builtins, name) for name in dir(builtins)}
    own.update({"__import__": import_stand_in, "open": Unknown("open"), "print": lambda *a, **k: None, "exec": Unknown("exec"),
                "eval": Unknown("eval"), "input": Unknown("input"), "exit": Unknown("exit"), "quit": Unknown("quit")})
    names = {"__name__": "__kiln__", "__builtins__": own, "__file__": str(path)}
    doubtful = set()
    sys.setrecursionlimit(400)
    for statement in tree.body:
        try:
            exec(compile(ast.Module([statement], []), str(path), "exec"), names)
        except BaseException:
            doubtful |= bound_names(statement) | {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    found = {}
    for name, value in names.items():
        if not name.startswith("__") and name not in doubtful and not isinstance(value, Unknown):
            try:
                text = text_of(value)
            except BaseException:
                continue
            if text is not None and len(text) < 10000:
                found[name] = text
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="files without kernels, too")
    parser.add_argument("--limit", type=int)
    args = parser.parse_args()
    files = [f for f in sorted(args.folder.rglob("*.py")) if args.all or "triton.jit" in f.read_text(errors="replace")][:args.limit]
    expected = {str(f): values for f in files if (values := values_of_module(f))}
    return 0 if not expected else compare(args.tool, expected, known_share=0, show=40)


if __name__ == "__main__":
    sys.exit(main())
