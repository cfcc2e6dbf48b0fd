"""Random Triton kernels, a function of a seed, whose results are exact: integers, floats that hold small integers, and bits of floats
where operations round once.

`generate(seed, options)` gives the source of a kernel `kernel` with the parameters PARAMETERS. It reads elements 0 to
INPUT_ELEMENTS - 1 of the arrays of INPUTS (small numbers) and of ANY (any bits). Each element of the arrays of OUTPUTS belongs to one
place of the program (and iteration, and program instance), which writes it once, by commuting atomics, or any number of times, reading it in between in other orders:
program order decides.
"""
import math
import sys

from random_sources import BITS, FLOATS, INPUT_ELEMENTS, OUTPUT_ELEMENTS, OUTPUTS, PARAMETERS, PROGRAMS, TYPES
from random_values import Values

PRELUDE = '''import triton
import triton.language as tl


@triton.jit
def compose(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def larger_magnitude(a, b):
    return tl.where((a & 127) >= (b & 127), a, b)


@triton.jit
def keep_first(a, i, b, j):
    takes = (a > b) | ((a == b) & (i < j))
    return tl.where(takes, a, b), tl.where(takes, i, j)


@triton.jit
def exclusive_or(a, b):
    return a ^ b


@triton.jit
def bits_of(x):
    """A float's bits, of NaNs one."""
    if x.dtype == tl.float64:
        return tl.where(x != x, 0x7ff8000000000000, x.to(tl.int64, bitcast=True))
    if x.dtype == tl.float32:
        return tl.where(x != x, 0x7fc00000, x.to(tl.int32, bitcast=True)).to(tl.int64)
    return tl.where(x != x, 0x7e00, x.to(tl.int16, bitcast=True).to(tl.int32)).to(tl.int64)


@triton.jit
def both(a, b):
    return a + b, a ^ b


@triton.jit
def mix(a, b, SHIFT: tl.constexpr):
    if SHIFT > 2:
        return (a << SHIFT) ^ b
    return a + b * SHIFT


'''


class Generator(Values):
    def place(self, array, count):
        base = self.used[array]
        iterations = math.prod(trips for _, trips in self.trips)
        if base + count * iterations > OUTPUT_ELEMENTS:
            return None
        self.used[array] = base + count * iterations
        number = "0"
        for name, trips in self.trips:
            number = f"({number} * {trips} + {name})" if number != "0" else name
        return f"{base} + {number} * {count}", base

    def store(self):
        shape = self.shape() if self.chance(85) else ()
        array = self.pick(list(OUTPUTS))
        element = OUTPUTS[array]
        found = self.place(array, math.prod(shape))
        if found is None:
            return
        place, _ = found
        if element in FLOATS:
            text = self.small_float(shape, element, 3, 1023)
        else:
            text = self.value(shape, element, 3)
        if not shape:
            self.say(f"tl.store({array} + {place}, {text})")
            return
        if self.chance(12) and self.descriptors and self.fits_descriptor(shape, element) and len(shape) <= 3:
            strides = [math.prod(shape[a + 1:]) for a in range(len(shape))]
            if all(s * BITS[element] % 128 == 0 for s in strides[:-1]):
                bounds = [max(1, e - self.below(4)) for e in shape]
                # The base is a multiple of 16 bytes only if all earlier ones were.
                pad = (-self.used[array]) % 16
                self.used[array] += pad
                again = self.place(array, -(-math.prod(shape) // 16) * 16)
                if again:
                    self.say(f"tl.make_tensor_descriptor({array} + ({again[0]}), shape={bounds}, strides={strides}, block_shape={list(shape)}).store({[0] * len(shape)}, {text})")
                return
        strides = [-s if self.chance(12) else s for s in self.strides(shape)]
        pointer = f"tl.broadcast_to({array} + {place} + {self.affine(shape, strides, '0')}, {list(shape)})"
        mask = f", mask={self.value(shape, 'i1', 2)}" if self.chance(50) else ""
        if self.chance(20):
            mask = f", mask={self.bound_mask(shape)}"
        if self.chance(22) and array in ("o32", "o64", "of"):
            operation = self.pick(("add", "max", "min") if array == "of" else ("add", "max", "min", "xchg", "and", "or", "xor"))
            line = f"tl.atomic_{operation}({pointer}, {text}{mask})"
            if self.chance(40) and not mask and array != "of":
                self.scope.append((self.define(line), shape, element))
            else:
                self.say(line)
            return
        self.say(f"tl.store({pointer}, {text}{mask})")

    def in_any_order(self, shape, array, place):
        """Pointers to all elements of a place."""
        strides = [-s if self.chance(12) else s for s in self.strides(shape)]
        return f"{array} + {place} + {self.affine(shape, strides, '0')} + tl.zeros({list(shape)}, tl.int32)"

    def store_and_read_again(self):
        """Through memory, in another order, and so on, in place."""
        shape = self.shape() if self.chance(85) else (1 << self.below(6),)
        array = self.pick(("o8", "o16", "o32", "o64"))
        kind, found = OUTPUTS[array], self.place(array, math.prod(shape))
        if found is None:
            return
        pointers = self.in_any_order(shape, array, found[0])
        self.say(f"tl.store({pointers}, {self.value(shape, kind, 2)})")
        for _ in range(self.below(4)):
            if self.chance(20):
                self.say("tl.debug_barrier()")
            if self.chance(50):
                pointers = self.in_any_order(shape, array, found[0])
            name = self.define(f"tl.load({pointers}{self.pick(('', '', ', volatile=True'))})")
            self.scope.append((name, shape, kind))
            if self.chance(50):
                pointers = self.in_any_order(shape, array, found[0])
            mask = f", mask={self.value(shape, 'i1', 1)}" if self.chance(30) else ""
            if self.chance(20) and array in ("o32", "o64"):
                semantic = self.pick(("", ", sem='relaxed'"))
                self.say(f"tl.atomic_{self.pick(('add', 'max', 'xor'))}({pointers}, {self.value(shape, kind, 1)}{mask}{semantic})")
            else:
                self.say(f"tl.store({pointers}, {self.value(shape, kind, 2)}{mask})")
        name = self.define(f"tl.load({self.in_any_order(shape, array, found[0])})")
        self.scope.append((name, shape, kind))

    def count_in_memory(self):
        """A scalar that all threads load and one stores steers a loop or a branch, with what threads do together inside."""
        found = self.place("o32", 2)
        if found is None:
            return
        counter, total = f"o32 + {found[0]}", f"o32 + {found[0]} + 1"
        self.say(f"tl.store({counter}, {self.below(4)})")
        self.say(f"tl.store({total}, {self.value((), 'i32', 1)})")
        self.say(f"while tl.load({counter}) > 0:" if self.chance(70) else f"if tl.load({counter}) > 1:")
        self.indent += 1
        outer = list(self.scope)
        locked = self.chance(30)
        if locked:
            self.say(f"while tl.atomic_cas({total}, 77, 77) == 77:")
            self.say(f"    tl.atomic_xchg({total}, 78)")
        self.say(f"tl.store({counter}, tl.load({counter}) - 1)")
        self.say(f"tl.store({total}, tl.load({total}) + ({self.reduced_fully((), 'i32', 2)}))")
        self.scope = outer
        self.indent -= 1
        self.scope.append((self.define(f"tl.load({total})"), (), "i32"))

    def early_return(self):
        """In the kernel's own block."""
        self.say(f"if {self.value((), 'i1', 3)}:")
        self.indent += 1
        outer = list(self.scope)
        self.statements(1, 0)
        self.say("return")
        self.scope = outer
        self.indent -= 1

    def colliding_atomics(self):
        shape = self.shape()
        found = self.place("o32", 16)
        if found is None:
            return
        index = self.value(shape, "i32", 2)
        mask = f", mask={self.value(shape, 'i1', 1)}" if self.chance(50) else ""
        self.say(f"tl.atomic_{self.pick(('add', 'max', 'min', 'or', 'and', 'xor'))}(o32 + {found[0]} + ({index} & 15), {self.value(shape, 'i32', 2)}{mask})")

    def body(self, carried, nesting):
        before = len(self.scope)
        self.statements(1 + self.below(2), nesting - 1)
        results = []
        for name, shape, kind in carried:
            results.append(self.value(shape, kind, 2))
        for (name, shape, kind), text in zip(carried, results):
            if self.chance(90):
                self.say(f"{name} = {text}")
        del self.scope[before:]

    def carried(self):
        result = []
        for _ in range(1 + self.below(2)):
            shape = self.shape() if self.chance(80) else ()
            kind = self.pick(("i32", "i32", "i8", "i16", "i64", "u8", "i1"))
            name = f"c{self.next}"
            self.next += 1
            self.say(f"{name} = {self.value(shape, kind, 1)}")
            result.append((name, shape, kind))
        return result

    def loop(self, nesting):
        carried = self.carried()
        counter = f"i{self.next}"
        self.next += 1
        style = self.below(5)
        trips = 3
        if style == 0:
            self.say(f"for {counter} in range(trips):")
        elif style == 1:
            trips = self.below(4)
            self.say(f"for {counter} in {self.pick(('range', 'tl.range', 'tl.static_range'))}({trips}):")
        elif style == 2:
            self.say(f"for {counter} in range(0, 3 * n, n):")
        elif style == 3:
            self.say(f"{counter} = trips - 3")
            self.say(f"while {counter} < trips:")
        else:  # which ends early, by what the threads find together
            self.say(f"{counter} = trips - 3")
            name, shape, kind = self.pick(carried)
            found = f"tl.max({name}.to(tl.int32))" if shape else f"({name}).to(tl.int32)"
            self.say(f"while ({counter} < trips) & ({found} {self.pick(('<', '>', '!='))} {self.below(60)}):")
        self.indent += 1
        place = f"({counter} // n)" if style == 2 else counter
        outer = list(self.scope)
        number = self.define(f"{counter} + program * 0")  # the interpreter has a Python number
        self.scope += carried + [(number, (), "i32")]
        self.trips.append((place, max(trips, 1)))
        self.body(carried, nesting)
        if style >= 3:
            self.say(f"{counter} += 1")
        self.trips.pop()
        self.indent -= 1
        self.scope = outer + carried

    def branch(self, nesting):
        carried = self.carried()
        self.say(f"if {self.value((), 'i1', 2)}:")
        for last in (False, True):
            self.indent += 1
            before = list(self.scope)
            self.body(carried, nesting)
            self.scope = before
            self.indent -= 1
            if not last:
                if self.chance(40):
                    break
                self.say("else:")
        self.scope += carried

    def product_loop(self):
        """The loop of a matrix product, which may run ahead in stages: tiles through pointers that move on, or from rows that an index
        chooses, as they are or transposed."""
        m, n, k = (self.extent(self.pick((16, 32, 64, 64))) for _ in range(3))
        if m * k * 3 + k * n * 3 + 256 > INPUT_ELEMENTS:
            return
        array, element = self.pick((("x8", "i8"), ("h", "fp16"), ("h", "fp16"), ("bf", "bf16"), ("f", "fp32"), ("e4", "fp8e4nv"), ("e5", "fp8e5")))
        has_bytes = element[:3] == "fp8"
        out = "tl.int32" if element == "i8" else "tl.float32"
        a, b, total, number = (f"p{self.next + i}" for i in range(4))
        self.next += 4
        i, j, l = (f"tl.arange(0, {extent})" for extent in (m, n, k))
        row = k * 3 if self.chance(50) else 1  # of A; else it is stored by columns
        column = 1 if row > 1 else m
        self.say(f"{a} = {array} + {16 * self.below(4)} + {i}[:, None] * {row} + {l}[None, :] * {column}")
        by_rows, transposed = self.chance(50), self.chance(30)
        line, place = (n, 1) if by_rows else (1, 3 * k)
        spread = ("[None, :]", "[:, None]") if transposed else ("[:, None]", "[None, :]")
        gathered = by_rows and self.chance(20)
        rows = f"{l}{spread[0]} * {line} + " if not gathered else ""
        self.say(f"{b} = {array} + {64 if by_rows else 0} + {rows}{j}{spread[1]} * {place}")
        self.say(f"{total} = tl.zeros([{m}, {n}], {out})")
        loop = self.pick(("range(trips)", "range(3)", "range(0, 3 * n, n)", "range(trips - 2)", "range(trips - 3)", "STAGES", "STAGES", "STAGES"))
        self.say(f"for {number} in {loop.replace('STAGES', f'tl.range(trips, num_stages={1 + self.below(5)})')}:")
        self.indent += 1
        masked = not has_bytes and self.chance(40)
        mask_a = f", mask={l}[None, :] < {self.pick(('n', 'wide', '32'))} - {number}, other=0" if masked else ""
        mask_b = f", mask={l}{spread[0]} < {self.pick(('n', 'wide', '16'))} - {number}, other=0" if masked and self.chance(50) else ""
        if gathered:
            index = self.define(f"(tl.load(x32 + {l} + {number}) & 63)")
            mask_b = f" + {index}{spread[0]} * {line}{mask_b}"
        left, right = self.define(f"tl.load({a}{mask_a})"), self.define(f"tl.load({b}{mask_b})")
        if transposed:
            right = f"tl.trans({right})"
        if not has_bytes and self.chance(30):
            left = self.define(f"({left} + {left}).to({TYPES[element]})")
        if not has_bytes and self.chance(15):
            right = self.define(f"({right} + {right}).to({TYPES[element]})")
        if self.chance(20) and element == "fp32":
            self.say(f"{total} = tl.dot({left}, {right}, {total}, input_precision='ieee')")
        elif self.chance(30):
            self.say(f"{total} += tl.dot({left}, {right})")
        else:
            # The interpreter asserts that an accumulator has the type that is asked for, not the result's.
            asked = ", out_dtype=tl.int32" if element == "i8" else ""
            self.say(f"{total} = tl.dot({left}, {right}, {total}{asked})")
        if self.chance(25):
            self.say(f"{total} -= tl.min({total}, 1)[:, None]")
        self.say(f"{a} += {k * column}")
        self.say(f"{b} += {k * line}")
        self.indent -= 1
        self.scope.append((self.define(f"({total}).to(tl.int32)"), (m, n), "i32"))
        self.shapes.append((m, n))

    def moving_pointers(self):
        """A tile of pointers that a loop or a branch changes."""
        shape = self.shape()
        array = self.pick(("x8", "x16", "x32", "x64"))
        pointer, total, number = (f"p{self.next + i}" for i in range(3))
        self.next += 3
        self.say(f"{pointer} = tl.broadcast_to({array} + {self.affine(shape, self.strides(shape), str(self.below(64)))}, {list(shape)})")
        self.say(f"{total} = {self.value(shape, 'i32', 1)}")
        self.say(f"for {number} in range(trips):")
        self.indent += 1
        outer = list(self.scope)
        self.say(f"{total} += tl.load({pointer}, mask={self.value(shape, 'i1', 1)}, other={self.below(9)}).to(tl.int32)")
        if self.chance(40):
            self.say(f"if {number} != 1:")
            self.say(f"    {pointer} += {1 + self.below(40)}")
        elif self.chance(40):
            self.say(f"{pointer} = tl.where({self.value(shape, 'i1', 1)}, {pointer} + {self.below(30)}, {pointer})")
        else:
            self.say(f"{pointer} += ({self.value(shape, 'i32', 1)} & 63)")
        self.indent -= 1
        self.scope = outer
        self.scope.append((total, shape, "i32"))

    def statements(self, count, nesting):
        for _ in range(count):
            choice = self.below(17)
            if choice == 14:
                self.count_in_memory()
                continue
            if choice in (12, 16):
                self.product_loop()
                continue
            if choice == 13:
                self.moving_pointers()
                continue
            if nesting > 0 and choice < 3:
                self.loop(nesting)
            elif nesting > 0 and choice == 3:
                self.branch(nesting)
            elif choice in (4, 15):
                self.store_and_read_again()
            elif choice == 5:
                self.colliding_atomics()
            else:
                self.store()

    def source_text(self):
        self.say("program = tl.program_id(0)")
        self.statements(2 + self.below(4), 2)
        if self.chance(25):
            self.early_return()
            self.statements(1 + self.below(2), 2)
        head = f"@triton.jit\ndef kernel({', '.join(PARAMETERS)}):\n"
        return PRELUDE + head + "\n".join(self.lines) + "\n"


def generate(seed, **options):
    return Generator(seed, **options).source_text()


if __name__ == "__main__":
    print(generate(int(sys.argv[1]), any_extents="any" in sys.argv[2:], block_pointers="blocks" in sys.argv[2:]))
