"""The grid of a launch as expressions of a spec: from the source of the program's grid function, or from equal numbers.

An expression is a candidate: what it gives is compared with every grid that was seen. Arguments are found by the value that the
program's variable had. Of several, one that was passed as the very same object was that variable, but for the small integers that
Python has once each; next comes the one of its name. An expression with an argument that has nothing but its value is a guess."""

import ast
import inspect
import itertools
import textwrap

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_FUNCTIONS = {"cdiv": "cdiv", "min": "min", "max": "max", "next_power_of_2": "next_power_of_2"}
_MOST = 16  # candidates of a dimension
_ONCE = range(-5, 257)  # integers of which Python has one object each


class Expression(str):
    """An expression of a spec."""

    def __new__(cls, text, is_guess=False):
        made = super().__new__(cls, text)
        made.is_guess = is_guess
        return made


def _joined(text, parts):
    """The expression `text`, which is made of these."""
    return Expression(text, any(part.is_guess for part in parts))


def _is_same_object(a, b):
    return a is b and a not in _ONCE


def _next_power_of_2(n):
    return 1 << max(0, n - 1).bit_length()


_MEANINGS = {"cdiv": lambda a, b: -(-a // b), "min": min, "max": max, "next_power_of_2": _next_power_of_2, "__builtins__": {}}


def evaluate(expression, numbers):
    """None where it has no value."""
    try:
        return eval(expression, _MEANINGS, numbers)  # what _Reader has written
    except (ArithmeticError, NameError, TypeError, ValueError):
        return None


def _function_in(source):
    """The lambda or the function in the text of the statement that it stands in."""
    source = textwrap.dedent(source).strip()
    attempts = [source]
    if "lambda" in source:
        rest = source[source.index("lambda") :]
        attempts += [rest[:end] for end in range(len(rest), 6, -1)]
    for text in attempts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Lambda, ast.FunctionDef)):
                return node
    return None


def _result_of(node):
    if isinstance(node, ast.Lambda):
        return node.body
    statements = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return statements[0].value if len(statements) == 1 and isinstance(statements[0], ast.Return) else None


class _Reader:
    """Reads an expression of Python as those of a spec."""

    def __init__(self, meta, scope, numbers, constants):
        self.meta, self.scope, self.numbers, self.constants = meta, scope, numbers, constants

    def read(self, node):
        """All readings; none: it cannot be read."""
        if isinstance(node, ast.Constant):
            return [Expression(node.value)] if type(node.value) is int else []
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == self.meta:
            name = getattr(node.slice, "value", None)
            return [Expression(name)] if name in self.numbers else []
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            operator = _OPERATORS[type(node.op)]
            return [_joined(f"({a} {operator} {b})", (a, b)) for a, b in self._all([node.left, node.right])] or self._by_value(node)
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in _FUNCTIONS and not node.keywords:
                function = _FUNCTIONS[called]
                return [_joined(f"{function}({', '.join(parts)})", parts) for parts in self._all(node.args)] or self._by_value(node)
            if called == "int" and len(node.args) == 1:
                return self.read(node.args[0])
        return self._by_value(node)

    def _all(self, nodes):
        return list(itertools.islice(itertools.product(*map(self.read, nodes)), _MOST))

    def _by_value(self, node):
        """The arguments that are what the program's own variable is, the most likely first. A constant of the kernel has to have its
        name: others are small numbers, which many things are."""
        if any(isinstance(part, ast.Name) and part.id == self.meta for part in ast.walk(node)):
            return []
        try:
            value = eval(compile(ast.Expression(node), "<grid>", "eval"), self.scope)
            value = value if isinstance(value, int) else value.__index__()
        except Exception:  # whatever the program's own objects raise
            return []
        name = getattr(node, "id", None)
        numbers = {n: number for n, number in self.numbers.items() if n == name or n not in self.constants}
        return _equal_arguments(value, numbers, name)


def _equal_arguments(value, numbers, name=None):
    found = []
    for argument, number in numbers.items():
        if number == value:
            rank = 0 if _is_same_object(number, value) else 1 if argument == name else 2
            found.append((rank, argument))
    return [Expression(argument, rank == 2) for rank, argument in sorted(found, key=lambda pair: pair[0])]


def of_function(function, numbers, constants=()):
    """For each dimension the expressions that the grid function may mean, by the numbers of arguments and of the kernel's constants;
    (): its source says nothing."""
    try:
        node = _function_in(inspect.getsource(function))
    except (OSError, TypeError):
        return ()
    result = node and _result_of(node)
    if result is None or len(node.args.args) != 1:
        return ()
    closure = inspect.getclosurevars(function)
    scope = {**vars(__import__("builtins")), **closure.globals, **closure.nonlocals}
    reader = _Reader(node.args.args[0].arg, scope, numbers, constants)
    parts = result.elts if isinstance(result, (ast.Tuple, ast.List)) else [result]
    return tuple(tuple(reader.read(part)[:_MOST]) for part in parts)


def of_sizes(sizes, numbers):
    """The arguments that the sizes may be. A 1 may be a size that happened to be 1."""
    return tuple(tuple(_equal_arguments(size, numbers)) for size in sizes)


def _right(launches, axis):
    """The expressions that give this size of every grid seen, the most likely first. Numbers that never change could mean anything: an
    argument is only taken for a size that is equal by chance where it was seen with two values."""
    of_launches = [launch.grid_expressions[axis] for launch in launches]
    candidates = [c for c in of_launches[0] if all(c in others for others in of_launches)]
    right = [c for c in candidates if all(evaluate(c, launch.numbers) == launch.grid[axis] for launch in launches)]
    right = [c for c in right if not c.isidentifier() or len({launch.numbers[c] for launch in launches}) > 1]
    return sorted(right, key=lambda c: sum(others.index(c) for others in of_launches))


def _axes(launches):
    """How many sizes each grid has; 0: nothing is known of some, or they have different numbers of them."""
    dimensions = {len(launch.grid_expressions) for launch in launches}
    return dimensions.pop() if len(dimensions) == 1 else 0


def agreed(launches):
    """The expressions that give every grid seen, or None: the caller's grid."""
    right = [_right(launches, axis) for axis in range(_axes(launches))]
    return [_without_outer_parentheses(some[0]) for some in right] if right and all(right) else None


def doubts(launches):
    """What may be wrong with agreed(launches), a text for each size: in no launch was there more than a value that tells which argument
    is meant, and other arguments had the same, or the value was never another."""
    texts = []
    for axis in range(_axes(launches)):
        chosen, *others = _right(launches, axis)
        if not all(c.is_guess for launch in launches for c in launch.grid_expressions[axis] if c == chosen):
            continue
        shown = _without_outer_parentheses(chosen)
        if others:
            alternatives = "' or '".join(map(_without_outer_parentheses, others[:3]))
            texts.append(f"'{shown}' may as well be '{alternatives}', which was the same in every launch")
        elif len({launch.grid[axis] for launch in launches}) == 1:
            texts.append(f"'{shown}' is known from one value alone, {launches[0].grid[axis]}, and may be so by chance")
    return texts


def _without_outer_parentheses(expression):
    return ast.unparse(ast.parse(expression, mode="eval"))
