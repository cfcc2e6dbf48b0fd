# Random modules: what Kiln says their names are worth must be what Python says.
# RUN: python3 %s --tool "$(command -v module-values)" --folder %t --seed 1 --count 2000
"""random_modules.py --tool MODULE-VALUES --folder FOLDER [--seed S] [--count N]

Writes N random modules to FOLDER, runs each with this Python and all of them with module-values, and compares every name whose
value is made of None, bools, numbers, strings, tuples, lists, sets, dicts and enumerators. A module that raises an exception
in Python is replaced by the next one. Identity shows through later changes.
"""
import argparse
import pathlib
import random
import subprocess
import sys

from module_values import compare, values_of


class Writer:
    """One module. Names carry their type: i0 is an int, l1 a list of ints, d2 a dict of ints by text, f3 a function."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.depth = 0
        self.inside = []  # "loop", "function" around the place that is written
        self.names = {kind: [f"{kind}{n}" for n in range(3)] for kind in "ildsq"}
        self.functions = []
        self.count = 0

    def new(self, kind):
        self.count += 1
        return f"{kind}{self.count + 10}"

    def add(self, text):
        for line in text.split("\n"):
            self.lines.append("    " * self.depth + line)

    def pick(self, *options):
        return self.random.choice(options)

    def name(self, kind):
        return self.random.choice(self.names[kind])

    # Expressions.

    def int(self, depth=2):
        r = self.random
        if depth == 0 or r.random() < 0.3:
            return self.pick(str(r.randint(-9, 9)), self.name("i"), self.name("i"))
        a, b = self.int(depth - 1), self.int(depth - 1)
        return self.pick(
            f"({a} {self.pick('+', '-', '*')} {b})", f"({a} // ({b} or 3))", f"({a} % (abs({b}) + 1))", f"len({self.list(depth - 1)})",
            f"sum({self.list(depth - 1)})", f"({a} if {self.condition(depth - 1)} else {b})", f"max({a}, {b})", f"abs({a})",
            f"{self.name('d')}.get({self.text(0)}, {a})", f"({a} & {b})", f"({a} ^ {b})", f"-{a}", f"~{a}", f"({a} or {b})",
            f"({a} and {b})", f"int({self.condition(depth - 1)})", f"next(iter({self.list(depth - 1)}), {a})", self.call(depth - 1),
            f"min({a}, {b})", f"(lambda x, y={a}: x + y)({b})",
            f"divmod({a}, 4)[{self.pick(0, 1, -1)}]", f"({self.name('l')} + [{a}])[{self.pick(0, -1)}]", f"round({a} / 2)")

    def call(self, depth):
        if not self.functions:
            return self.int(0)
        name, count = self.random.choice(self.functions)
        return f"{name}({', '.join(self.int(depth) for _ in range(self.random.randint(1, count)))})"

    def condition(self, depth=1):
        a, b = self.int(depth), self.int(depth)
        return self.pick(f"{a} {self.pick('<', '<=', '==', '!=', '>', '>=')} {b}", f"{a} in {self.list(depth)}", f"not {a}",
                         f"{self.text(0)} in {self.name('d')}", f"{a} < {b} <= {self.int(0)}", f"{self.name('l')} is {self.name('l')}",
                         f"bool({self.list(depth)})", f"isinstance({self.pick(a, self.text(0), self.name('l'))}, {self.pick('int', 'str', '(int, list)')})",
                         f"any(x > {a} for x in {self.list(0)})", f"all(x != {a} for x in {self.list(0)})", f"{self.list(0)} < {self.list(0)}")

    def list(self, depth=1):
        r = self.random
        if depth <= 0 or r.random() < 0.3:
            return self.name("l")
        a, b = self.int(depth - 1), self.list(depth - 1)
        return self.pick(f"[{a}, {self.int(0)}]", f"[{a}, *{b}]", f"[x * {self.int(0)} for x in {b}]", f"[x for x in {b} if x % 2]",
                         f"sorted({b})", f"sorted({b}, key=lambda x: -x)", f"list(reversed({b}))", f"{b}[1:]", f"{b}[::-1]", f"{b}[:{r.randint(-2, 3)}]",
                         f"({b} + {self.name('l')})", f"({b} * {r.randint(0, 2)})", f"list(range({r.randint(0, 5)}))",
                         f"list(map(lambda x: x + {a}, {b}))", f"[x + y for x, y in zip({b}, {self.name('l')})]",
                         f"[i * x for i, x in enumerate({b}, {r.randint(0, 2)})]", f"list({self.name('d')}.values())",
                         f"list(filter(lambda x: x > {a}, {b}))", f"sorted({{{a}, {self.int(0)}}})", f"{b}.copy()",
                         f"[(y := x + 1) for x in {b}]" if not self.inside else f"list({b})", f"[*{b}, {a}]",
                         f"[x for row in [{b}, {self.name('l')}] for x in row]")

    def real(self, depth=2):
        r = self.random
        if depth == 0 or r.random() < 0.2:
            return self.pick(repr(round(r.uniform(-50, 50), 2)), self.name("q"), "1e-05", "3e2", "1e22")
        a, b = self.real(depth - 1), self.real(depth - 1)
        return self.pick(f"({a} {self.pick('+', '-', '*')} {b})", f"({self.int(1)} / 8)", f"round({a}, 2)", f"float({self.int(0)})",
                         f"({a} // 3.0)", f"({a} % 7.5)", f"max({a}, {b})", f"abs({a})", f"-{a}", f"float(str({self.name('q')}))",
                         f"({a} if {a} < {b} else {b})", f"sum([{a}, {b}])")

    def text(self, depth=1):
        r = self.random
        key = repr(r.choice("abc"))
        if depth <= 0:
            return self.pick(key, key, self.name("s"))
        return self.pick(key, f"str({self.name('q')})", f'f"{{{self.name("q")}:.3f}}"', f'f"{{{self.int(1)}}}"', f"({self.text(0)} + {self.text(0)})", f"str({self.int(0)})", f"{self.text(0)}.upper()",
                         f"'-'.join([{self.text(0)}, {self.text(0)}])", f'f"{{{self.int(0)}:04d}}|{{{self.text(0)}!r}}"',
                         f"'%s=%d' % ({self.text(0)}, {self.int(0)})", f"{self.text(0)} * 2", f"repr({self.list(0)})")

    # Statements.

    def body(self, count=None):
        self.depth += 1
        for _ in range(count or self.random.randint(1, 3)):
            self.statement()
        self.depth -= 1

    def statement(self):
        simple = [self.assign, self.assign, self.change_list, self.change_list, self.change_dict, self.update, self.alias, self.unpack,
                  self.delete]
        nested = [self.conditional, self.loop, self.while_loop, self.attempt, self.with_block, self.match]
        definitions = [self.function, self.closure, self.cls, self.decorator, self.generator, self.enum, self.globals, self.defaults, self.counter,
                       self.dataclass]
        if "loop" in self.inside and self.random.random() < 0.1:
            return self.add(f"if {self.condition()}:\n    {self.pick('break', 'continue')}")
        choice = simple * 3
        if self.depth < 3:
            choice += nested
        if self.depth == 0:
            choice += definitions
        self.random.choice(choice)()

    def assign(self):
        kind = self.random.choice("iildsq")
        value = {"q": self.real, "i": self.int, "l": lambda: self.list(2), "s": self.text, "d": self.dict}[kind]()
        self.add(self.pick(f"{self.name(kind)} = {value}", f"{self.name(kind)} = {self.name(kind)} = {value}"))

    def dict(self):
        a = self.int(1)
        return self.pick(f"{{'a': {a}, 'b': {self.int(0)}}}", f"dict(c={a})", f"{{**{self.name('d')}, 'a': {a}}}",
                         f"{{k: v + 1 for k, v in {self.name('d')}.items()}}", f"dict(zip('abc', {self.list(0)}))", f"{self.name('d')} | {{'b': {a}}}",
                         f"{self.name('d')}.copy()")

    def alias(self):
        kind = self.random.choice("ld")
        self.add(f"{self.name(kind)} = {self.name(kind)}")

    def change_list(self):
        l, a = self.name("l"), self.int(1)
        self.add(self.pick(f"{l}.append({a})", f"{l}.extend({self.list(1)}[:4])", f"{l}.insert({self.random.randint(-2, 2)}, {a})", f"{l}.sort()",
                           f"{l}.sort(key=lambda x: x % 3, reverse=True)", f"{l}.reverse()", f"{l}[:] = {self.list(1)}[:5]",
                           f"if {l}:\n    {l}[0] = {a}", f"if {l}:\n    {l}.pop()", f"{l} += [{a}]", f"if {a} in {l}:\n    {l}.remove({a})",
                           f"if {l}:\n    {l}[-1] += {a}", f"del {l}[3:]", f"{l}[1:2] = [{a}, {self.int(0)}]", f"{l}.clear()" if self.random.random() < 0.2 else f"{l} *= 1"))

    def change_dict(self):
        d, k, a = self.name("d"), self.text(0), self.int(1)
        self.add(self.pick(f"{d}[{k}] = {a}", f"{d}.update({{{k}: {a}}})", f"{d}.update(b={a})", f"{d}.setdefault({k}, {a})", f"{d}.pop({k}, None)",
                           f"{d}[{k}] = {d}.get({k}, 0) + {a}", f"{d} |= {{{k}: {a}}}", f"if {k} in {d}:\n    del {d}[{k}]"))

    def update(self):
        self.add(f"{self.name('i')} {self.pick('+=', '-=', '*=', '//= 3 + 0 *', '%= 7 + 0 *', '|=', '&=', '^=')} {self.int(1)}"
                 if self.random.random() < 0.7 else f"{self.name('s')} += {self.text(0)}")

    def unpack(self):
        a, b = self.names["i"][:2]
        self.add(self.pick(f"{a}, {b} = {b}, {a}", f"{a}, *{self.name('l')} = [{self.int(1)}, *{self.list(1)}]", f"({a}, ({b}, _)) = {self.int(1)}, ({self.int(0)}, 1)",
                           f"*{self.name('l')}, {b} = {self.list(1)} + [{self.int(0)}]", f"[{a}, {b}] = {self.int(0)}, {self.int(0)}"))

    def delete(self):
        name = self.new("t")
        self.add(f"{name} = {self.int(1)}\ndel {name}")

    def conditional(self):
        self.add(f"if {self.condition()}:")
        self.body()
        if self.random.random() < 0.4:
            self.add(f"elif {self.condition()}:")
            self.body()
        if self.random.random() < 0.6:
            self.add("else:")
            self.body()

    def loop(self):
        i = self.name("i")
        target, iterable = self.pick((i, f"range({self.random.randint(0, 4)})"), (i, f"{self.list(1)}[:5]"), (f"_, {i}", f"enumerate({self.list(1)}[:4])"),
                                     (f"{self.name('s')}, {i}", f"list({self.name('d')}.items())"), (self.name("s"), "'ab'"),
                                     (i, f"({i}, {self.int(0)})"), (f"{i}, _", f"zip({self.list(0)}[:3], 'abc')"))
        self.add(f"for {target} in {iterable}:")
        self.inside.append("loop")
        self.body()
        self.inside.pop()
        if self.random.random() < 0.3:
            self.add("else:")
            self.body(1)

    def while_loop(self):
        n = self.new("n")
        self.add(f"{n} = {self.random.randint(0, 4)}\nwhile {n} > 0:\n    {n} -= 1")
        self.inside.append("loop")
        self.body(2)
        self.inside.pop()

    def attempt(self):
        self.add("try:")
        self.body(1)
        self.depth += 1
        self.add(self.pick(f"{self.name('i')} = {self.int(0)} // ({self.int(0)} % 2)", f"{self.name('i')} = {self.name('l')}[{self.random.randint(0, 6)}]",
                           f"{self.name('i')} = {self.name('d')}[{self.text(0)}]", f"{self.name('i')} = int({self.text(0)})", "raise ValueError('x')",
                           f"{self.name('i')} = undefined_name", f"{self.name('l')}.index({self.int(0)})", f"assert {self.condition()}, 'no'",
                           f"{self.name('i')} = {self.name('i')} + {self.text(0)}", f"{self.name('i')} = {self.name('i')}.missing"))
        self.depth -= 1
        for handler in self.random.sample(["ZeroDivisionError", "(IndexError, KeyError)", "ValueError as error", "LookupError", "NameError"],
                                          self.random.randint(0, 2)) + ["Exception as error"]:
            self.add(f"except {handler}:")
            self.body(1)
            if " as " in handler:
                self.add(f"    {self.name('s')} = type(error).__name__")
        if self.random.random() < 0.3:
            self.add("else:")
            self.body(1)
        if self.random.random() < 0.4:
            self.add("finally:")
            self.body(1)

    def with_block(self):
        if self.depth:
            self.assign()
        else:
            name = self.new("M")
            self.add(f"class {name}:\n    def __init__(self, log):\n        self.log = log\n    def __enter__(self):\n        self.log.append(1)\n"
                     f"        return self.log\n    def __exit__(self, kind, value, trace):\n        self.log.append(2 if kind is None else 3)\n"
                     f"        return {self.pick('True', 'kind is ValueError')}\nwith {name}({self.name('l')}) as {self.name('l')}:")
            self.body(1)
            if self.random.random() < 0.5:
                self.add("    raise ValueError('w')")

    def match(self):
        i, l = self.name("i"), self.name("l")
        self.add(f"match {self.pick(self.int(1), self.list(1), self.name('d'), self.text(0))}:\n    case {self.random.randint(0, 3)} | 5:\n        {i} = 100\n"
                 f"    case int(x) if x > 0:\n        {i} = x\n    case [{i}, *{l}]:\n        pass\n    case {{'a': {i}, **rest}}:\n        {self.name('d')} = rest\n"
                 f"    case str() as {self.name('s')}:\n        pass\n    case _:\n        {i} = -1")

    # Definitions, at module level only.

    def function_body(self, parameters):
        self.inside.append("function")
        saved = {kind: list(names) for kind, names in self.names.items()}
        local = self.new("i")
        self.names["i"] = parameters + [local]
        self.names["l"] = [self.new("l")]
        self.names["d"] = [self.new("d")]
        self.names["s"] = [self.new("s")]
        self.names["q"] = [self.new("q")]
        self.add(f"    {local} = 0\n    {self.names['l'][0]} = [{parameters[0]}]\n    {self.names['d'][0]} = {{}}\n    {self.names['s'][0]} = 'b'\n    {self.names['q'][0]} = 2.5")
        functions, self.functions = self.functions, []
        self.body(self.random.randint(1, 4))
        if self.random.random() < 0.4:
            self.add(f"    if {self.condition()}:\n        return {self.int(1)}")
        self.add(f"    return {self.int(2)}")
        self.functions = functions
        self.names = saved
        self.inside.pop()

    def function(self):
        name, parameters = self.new("f"), [self.new("i") for _ in range(self.random.randint(1, 3))]
        listed = [parameters[0]] + [f"{p}={self.int(0)}" for p in parameters[1:]]
        self.add(f"def {name}({', '.join(listed)}):")
        self.function_body(parameters)
        self.functions.append((name, len(parameters)))

    def closure(self):
        make, l = self.new("make"), self.name("l")
        count = self.new("f")
        self.add(f"def {make}(step):\n    total = {self.int(0)}\n    seen = []\n    def add(x):\n        nonlocal total\n        total += x * step\n        seen.append(total)\n"
                 f"        return total\n    return add, seen\n{count}, {l} = {make}({self.int(0)})\n{self.name('i')} = {count}({self.int(0)})\n{count}(2)")
        if self.random.random() < 0.5:
            fs = self.new("fs")
            self.add(f"{fs} = []\nfor k in range(3):\n    {fs}.append(lambda x, {self.pick('k=k', 'z=0')}: x * k)\nk = {self.int(0)}\n{self.name('l')} = [g(2) for g in {fs}]")

    def cls(self):
        name, o, p = self.new("C"), self.new("o"), self.new("p")
        self.add(f"class {name}:\n    total = {self.int(0)}\n    items = [{self.int(0)}]\n    def __init__(self, x):\n        self.x = x\n        {name}.total += x\n"
                 f"        self.items.append(x)\n    @property\n    def double(self):\n        return self.x * 2\n    @classmethod\n    def make(cls, x):\n"
                 f"        return cls(x + cls.total)\n    @staticmethod\n    def twice(x):\n        return 2 * x\n    def __add__(self, other):\n"
                 f"        return {name}(self.x + (other.x if isinstance(other, {name}) else other))\n    def __eq__(self, other):\n        return self.x == other.x\n"
                 f"    def __len__(self):\n        return 3\n    def __getitem__(self, i):\n        return self.x + i\n    def __call__(self, y):\n        return self.x - y\n"
                 f"class {name}B({name}):\n    total = 5\n    def __init__(self, x):\n        super().__init__(x + 1)\n        self.y = x\n    def __repr__(self):\n        return f'B{{self.x}}'\n"
                 f"{o} = {name}({self.int(1)})\n{p} = {name}B({self.int(0)})\n{o}.x += {self.int(0)}\n{p}.z = {self.int(0)}\n"
                 f"{self.name('l')} = [{o}.x, {p}.x, {p}.y, {p}.z, {o}.double, {name}.total, {name}B.total, len({name}.items), {name}.twice(3), {name}B.make(2).x, ({o} + {p}).x, ({o} + 4).x, {o}[2], {p}(1), len({o})]\n"
                 f"{self.name('s')} = f'{{{p}}}' + type({p}).__name__\n{self.name('i')} = int({o} == {p}) + isinstance({p}, {name}) + hasattr({o}, 'y') + getattr({o}, 'y', 7)\n"
                 f"setattr({o}, 'w', {self.int(0)})\n{self.name('i')} = {o}.w\n{name}.extra = {self.name('l')}\n{p}.extra.append(1)")

    def decorator(self):
        registry, deco, name = self.new("l"), self.new("deco"), self.new("f")
        self.add(f"{registry} = []\ndef {deco}(n):\n    def apply(f):\n        {registry}.append((f.__name__, n))\n        def wrapped(*args, **kwargs):\n"
                 f"            {registry}.append(len(args))\n            return f(*args, **kwargs) + n\n        return {self.pick('wrapped', 'f')}\n    return apply\n"
                 f"@{deco}({self.int(0)})\n@{deco}(1)\ndef {name}(x, *rest, y=2, **named):\n    return x + y + len(rest) + sum(named.values())\n"
                 f"{self.name('i')} = {name}({self.int(0)}, 1, 2, y=3, z={self.int(0)})\n{self.name('i')} = {name}(*{self.name('l')}[:2], **{{'y': 1}}) if len({self.name('l')}) > 4 else {name}(1)")
        self.functions.append((name, 3))

    def generator(self):
        name, g = self.new("gen"), self.new("g")
        self.add(f"def {name}(n):\n    for i in range(n):\n        if i % 2:\n            yield i * {self.int(0)}\n    yield from [n, -n]\n"
                 f"{g} = {name}({self.random.randint(0, 5)})\n{self.name('i')} = next({g})\n{self.name('l')} = list({g})\n{self.name('l')} = list({g}) + [x + 1 for x in {name}(3)]")

    def enum(self):
        name = self.new("E")
        base = self.pick("enum.Enum", "enum.IntEnum")
        self.add(f"import enum\nclass {name}({base}):\n    RED = {self.random.randint(1, 4)}\n    GREEN = {self.random.randint(5, 9)}\n    BLUE = enum.auto()\n    @classmethod\n"
                 f"    def names(cls):\n        return [m.name for m in cls]\n    def next(self):\n        return self.value + 1\n"
                 f"{self.name('l')} = [m.value for m in {name}]\n{self.name('s')} = ','.join({name}.names())\n{self.name('i')} = {name}.RED.next() + {name}['GREEN'].value + len({name})\n"
                 f"{self.name('i')} = int({name}({name}.GREEN.value) is {name}.GREEN) + int({name}.RED == {name}.BLUE) + int({name}.RED in list({name}))\n{self.new('m')} = {name}.BLUE")

    def globals(self):
        name, i = self.new("f"), self.name("i")
        self.add(f"def {name}(n=1):\n    global {i}, G{name}\n    {i} += n\n    G{name} = {i} * 2\n    {self.name('l')}.append(n)\n    return {i}\n{self.name('s')} = str({name}()) + str({name}({self.int(0)}))")
        self.functions.append((name, 1))

    def defaults(self):
        name = self.new("f")
        self.add(f"def {name}(x, seen=[], k={self.int(1)}):\n    seen.append(x)\n    return len(seen) + k\n{self.name('i')} = {name}(1)\n{self.name('i')} = {name}({self.int(0)}) + {name}(2, [])")
        self.functions.append((name, 1))

    def counter(self):
        f, l = self.new("f"), self.name("l")
        self.add(f"def {f}(x):\n    {f}.calls += 1\n    return {self.name('i')} + x\n{f}.calls = 0\n{self.name('i')} = {f}(1)\n{self.name('i')} = {self.int(0)}\n{self.name('i')} = {f}(2) + {f}.calls\n"
                 f"if (walrus := len({l})) > 2:\n    {self.name('i')} = walrus\nN{f} = {f}(1) if {self.condition(0)} else {f}.calls")
        self.functions.append((f, 1))

    def dataclass(self):
        name, o = self.new("D"), self.new("o")
        self.add(f"from dataclasses import dataclass, field\n@dataclass\nclass {name}:\n    a: int\n    b: int = {self.int(0)}\n    c: list = field(default_factory=list)\n    def area(self):\n        return self.a * self.b\n"
                 f"{o} = {name}({self.int(0)}, b=3)\n{o}.c.append({self.int(0)})\n{self.name('l')} = [{o}.a, {o}.b, len({o}.c), {o}.area(), int({o} == {name}({o}.a, 3, {o}.c)), len({name}(1).c)]\n{self.name('s')} = repr({o})")

    def module(self):
        self.add("i0, i1, i2 = 1, 2, 3\nl0 = [1, 2]\nl1 = l0\nq0, q1, q2 = 0.5, 300.0, -1e-07\nl2 = [3]\nd0 = {'a': 1}\nd1 = {}\nd2 = d0\ns0, s1, s2 = 'a', 'b', 'xy'")
        for _ in range(self.random.randint(8, 16)):
            self.statement()
        return "\n".join(self.lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    expected, seed = {}, args.seed * 1_000_000
    while len(expected) < args.count:
        seed += 1
        text = Writer(seed).module()
        values = values_of(text)
        if values is None:
            continue
        path = args.folder / f"m{seed}.py"
        path.write_text(text)
        expected[str(path)] = values
    return compare(args.tool, expected, known_share=0.97)


if __name__ == "__main__":
    sys.exit(main())
